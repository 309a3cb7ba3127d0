"""The front desk: finds the shop, the session and the language of a request, checks its form, and turns errors into pages."""

import re
from collections.abc import Awaitable, Callable

import structlog
from starlette.requests import Request
from starlette.responses import Response

from funnel.cookies import Cookies
from funnel.forms import FormTokens, read_form
from funnel.languages import chosen
from funnel.messages import ENDINGS, Ending
from funnel.pages import Pages
from funnel.shops import shop_at
from funnel.static_files import FOR_GOOD, KINDS, brand_path, brand_sheet
from funnel.visit import Visit
from resolvers import payment
from resolvers.context import Services
from schema.checkout import AttemptStatus, Step
from schema.errors import AppError, CartNotFound, NotFound
from store.origin import origin_of
from store.settings import Settings

log = structlog.get_logger(__name__)

Handler = Callable[[Visit], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]

CART_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BY_STATUS = {
    403: Ending.FOREIGN_FORM,
    404: Ending.NOT_FOUND,
    413: Ending.TOO_LARGE,
    429: Ending.TOO_MANY,
    502: Ending.UNAVAILABLE,
    503: Ending.UNAVAILABLE,
    504: Ending.UNAVAILABLE,
}
"""The page for an error that no step has caught; any other is a form that no page of ours has sent."""


class Front:
    """Makes endpoints of the functions that answer a visit."""

    def __init__(self, settings: Settings) -> None:
        self.pages = Pages(reload=settings.development)
        self.tokens = FormTokens(settings.secret.get_secret_value())
        self.cookies = Cookies(secure=settings.funnel_scheme == "https")

    def page(self, handler: Handler) -> Endpoint:
        """An endpoint that shows something."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, handler, posted=False)

        return endpoint

    def step(self, handler: Handler) -> Endpoint:
        """An endpoint that shows a step; opened without a cart, it goes on with the one this browser opened last."""

        async def resumed(visit: Visit) -> Response:
            cart_id = self.cookies.read(visit.request, "cart")
            if "cart" not in visit.request.query_params and CART_ID.fullmatch(cart_id):
                return visit.redirect(visit.url(visit.request.url.path, cart=cart_id))
            return await handler(visit)

        return self.page(resumed)

    def form(self, handler: Handler) -> Endpoint:
        """An endpoint that takes a form of ours."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, handler, posted=True)

        return endpoint

    async def _answered(self, request: Request, handler: Handler, *, posted: bool) -> Response:
        language = chosen(self.cookies.read(request, "language"), request.headers.get("accept-language", ""))
        visit: Visit | None = None
        try:
            visit = await self._visit(request, language)
            if visit is None:
                return self._bare(request, language, Ending.NO_SHOP, 404)
            return self._signed(visit, await self._handled(visit, handler, posted=posted))
        except AppError as error:  # before the shop was known
            return _later(
                self._bare(request, language, BY_STATUS.get(error.status, Ending.BROKEN), error.status), error
            )
        except Exception:
            log.exception("a page of the checkout failed")
            if visit is None:
                return self._bare(request, language, Ending.BROKEN, 500)
            return visit.ending(Ending.BROKEN, 500)

    async def _visit(self, request: Request, language: str) -> Visit | None:
        services: Services = request.app.state.house.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            return None
        session_id = self.cookies.session_id(request)
        return Visit(request, services, shop, self.pages, self.tokens, self.cookies, session_id, language)

    async def _handled(self, visit: Visit, handler: Handler, *, posted: bool) -> Response:
        try:
            if posted:
                if (forms := visit.services.limits.forms) is not None:
                    await forms.check(origin_of(visit.context.address))
                visit.form = await read_form(visit.request)
                self.tokens.check(visit.request, visit.form, visit.session_id, visit.origin)
            return await handler(visit)
        except CartNotFound:
            return await gone(visit)
        except AppError as error:
            ending = BY_STATUS.get(error.status, Ending.FOREIGN_FORM)
            return _later(visit.ending(ending, error.status), error)

    def _signed(self, visit: Visit, response: Response) -> Response:
        """The answer with the cookies that keep the session going."""
        self.cookies.keep_session(response, visit.session_id)
        if visit.cart_id is not None and response.status_code < 400:
            self.cookies.keep_cart(response, str(visit.cart_id))
        return response

    def _bare(self, request: Request, language: str, ending: Ending, status: int) -> Response:
        """A message on a page of no shop."""
        told = ENDINGS[ending]
        return self.pages.answer(
            request, language, "message.html", status, ending=ending, told=told, shop=None, current=None, checkout=None
        )

    async def brand(self, request: Request) -> Response:
        """The colours of the shop at this host. Kept for good only under the name of what they are now."""
        services: Services = request.app.state.house.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            return Response(status_code=404)
        current = request.url.path == brand_path(shop.brand)
        headers = {"Cache-Control": FOR_GOOD if current else "no-store", "X-Content-Type-Options": "nosniff"}
        return Response(brand_sheet(shop.brand), headers=headers, media_type=KINDS[".css"])


def _later(response: Response, error: AppError) -> Response:
    """The page of an error, with when to come back where the error knows."""
    if (seconds := getattr(error, "retry_after", None)) is not None:
        response.headers["Retry-After"] = str(seconds)
    return response


async def gone(visit: Visit) -> Response:
    """The cart is not there (any more): its order is shown when this browser made one of it, else the way back."""
    if visit.cart_id is not None:
        try:
            outcome = await payment.payment_outcome(visit.context, visit.key)
        except NotFound:
            pass
        else:
            if outcome.status is AttemptStatus.COMPLETED:
                return visit.to(Step.SUMMARY)
            return visit.redirect(visit.return_path(outcome.attempt_id))
    return visit.ending(Ending.GONE, 404)
