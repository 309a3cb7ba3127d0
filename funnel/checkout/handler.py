"""The checkout's page handler: finds the shop of a request and resumes the cart opened last."""

from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from funnel.checkout.request import LAST_OPENED, CheckoutRequest
from funnel.checkout.storefronts import Storefront
from funnel.core.brand_sheets import brand_path, brand_sheet
from funnel.core.messages import ERROR_PAGES, ErrorPage
from funnel.core.page_handler import ERROR_PAGE_BY_STATUS, Handler, PageEndpoint, Site
from funnel.core.pages import PageTemplates
from funnel.core.static_files import CACHE_FOREVER, CONTENT_TYPES
from resolvers.core.services import Services
from resolvers.partner.sites import shop_at
from resolvers.payment.checkout import payment
from schema.checkout.checkout import CheckoutKind, CheckoutStep, PaymentAttemptStatus
from schema.core.errors import AppError, CartNotFound, GiftCardsNotSold, NotFound, PartnerInactive
from schema.validation.languages import LANGUAGES
from store.core.localization.translations import SOURCE_LANGUAGE
from store.core.settings import Settings

C = TypeVar("C", bound=CheckoutRequest)


class ShopSite(Site[C]):
    """Creates endpoints from handlers of requests at a shop's host."""

    def __init__(self, settings: Settings, pages: PageTemplates, storefront: Storefront) -> None:
        super().__init__(settings, pages, secure=settings.funnel_scheme == "https")
        self.storefront = storefront

    async def request_of(self, kind: type[C], request: Request) -> C:
        """The request of a shop's customer. Raises NotFound if the host belongs to no shop."""
        services: Services = request.app.state.container.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            raise NotFound(thing="shop")
        language = self.language(request)
        return self.new_request(kind, request, language, shop.brand, shop=shop, storefront=self.storefront)

    def language(self, request: Request, otherwise: str = SOURCE_LANGUAGE) -> str:
        """The language in the address, with which public pages lead here, else as everywhere."""
        return language_in_address(request) or super().language(request, otherwise)

    async def handle_error(self, request: C, error: AppError) -> Response:
        """The response for an error that no step has handled."""
        if isinstance(error, CartNotFound):
            return await render_missing_cart(request)
        if isinstance(error, GiftCardsNotSold):
            return request.render_error(ErrorPage.GIFT_CARDS_NOT_SOLD, 404)
        if isinstance(error, PartnerInactive):
            return request.render_error(ErrorPage.SHOP_CLOSED, 404)
        return await super().handle_error(request, error)

    def render_error(self, request: C, ending: ErrorPage, status: int) -> Response:
        return request.render_error(ending, status)

    def with_cookies(self, request: C, response: Response) -> Response:
        """Set the cookies of the cart and the session."""
        if request.cart_id is not None and response.status_code < 400:
            self.cookies.set_cart(response, self.storefront.cookie, str(request.cart_id))
            self.cookies.set_cart(response, LAST_OPENED, self.storefront.cookie)
        if language_in_address(request.http_request):
            self.cookies.set_language(response, request.language)
        return super().with_cookies(request, response)

    def render_early_error(self, request: Request, status: int) -> Response:
        """An error page before the shop is known."""
        ending = ErrorPage.NO_SHOP if status == 404 else ERROR_PAGE_BY_STATUS.get(status, ErrorPage.INTERNAL_ERROR)
        return self.templates.render_message(request, self.language(request), ERROR_PAGES[ending], status)


class CheckoutSite(ShopSite[CheckoutRequest]):
    """Creates endpoints from handlers of checkout requests."""

    async def build_request(self, request: Request) -> CheckoutRequest:
        """The request of a shop's customer. Raises NotFound if the host belongs to no shop."""
        return await self.request_of(CheckoutRequest, request)

    def step(self, handler: Handler[CheckoutRequest]) -> PageEndpoint:
        """An endpoint that shows a step.

        Without a cart in the query it redirects to the cart that this browser opened last.
        """

        async def resume_checkout(request: CheckoutRequest) -> Response:
            if "cart" not in request.http_request.query_params and request.last_cart_id is not None:
                return request.redirect(request.url(request.http_request.url.path, cart=request.last_cart_id))
            return await handler(request)

        return self.page(resume_checkout)

    async def brand(self, request: Request) -> Response:
        """The style sheet with the shop's colours. Cached permanently only under the URL of the current version."""
        services: Services = request.app.state.container.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            return Response(status_code=404)
        current = request.url.path == brand_path(shop.brand)
        headers = {"Cache-Control": CACHE_FOREVER if current else "no-store", "X-Content-Type-Options": "nosniff"}
        return Response(brand_sheet(shop.brand), headers=headers, media_type=CONTENT_TYPES[".css"])


def language_in_address(request: Request) -> str:
    """The language of `?lang=`; empty if there is none or it is not supported."""
    language = request.query_params.get("lang", "")
    return language if language in LANGUAGES else ""


async def render_missing_cart(request: CheckoutRequest) -> Response:
    """The response for a missing cart: its order if this browser placed one, else a page that says what became of it."""
    if request.cart_id is not None:
        try:
            outcome = await payment.payment_outcome(request.context, request.key)
        except NotFound:
            pass
        else:
            if outcome.status is PaymentAttemptStatus.COMPLETED:
                return request.redirect_to_step(CheckoutStep.SUMMARY)
            return request.redirect(request.return_path(outcome.attempt_id))
        if await payment.is_ordered(request.context, request.key):
            return request.render_error(ErrorPage.ORDERED, 410)
    return request.render_error(
        ErrorPage.CART_EXPIRED if request.storefront.kind is CheckoutKind.CART else ErrorPage.BASKET_EXPIRED, 404
    )
