"""The checkout's front desk: finds the shop of a request, and goes on with the cart that was opened last."""

from starlette.requests import Request
from starlette.responses import Response

from funnel.checkout.request import Visit
from funnel.checkout.shops import shop_at
from funnel.checkout.storefronts import Counter
from funnel.core.messages import ENDINGS, Ending
from funnel.core.page_handler import BY_STATUS, Desk, Endpoint, Handler
from funnel.core.pages import Pages
from funnel.core.static_files import FOR_GOOD, KINDS, brand_path, brand_sheet
from resolvers.core.context import Services
from resolvers.payment import payment
from schema.checkout.checkout import AttemptStatus, ShopKind, Step
from schema.core.errors import AppError, CartNotFound, GiftCardsNotSold, NotFound, PartnerInactive
from store.core.settings import Settings


class Front(Desk[Visit]):
    """Makes endpoints of the functions that answer a visit."""

    def __init__(self, settings: Settings, pages: Pages, counter: Counter) -> None:
        super().__init__(settings, pages, secure=settings.funnel_scheme == "https")
        self.counter = counter

    async def guest(self, request: Request) -> Visit:
        """The visit of a shop's customer. Raises NotFound where the host is no shop's."""
        services: Services = request.app.state.house.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            raise NotFound(thing="shop")
        session_id, language = self.cookies.session_id(request), self.language(request)
        return Visit(
            request,
            self.pages,
            self.tokens,
            self.cookies,
            session_id,
            language,
            shop.brand,
            shop=shop,
            counter=self.counter,
        )

    def step(self, handler: Handler[Visit]) -> Endpoint:
        """An endpoint that shows a step; opened without a cart, it goes on with the one this browser opened last."""

        async def resumed(visit: Visit) -> Response:
            if "cart" not in visit.request.query_params and visit.kept_cart is not None:
                return visit.redirect(visit.url(visit.request.url.path, cart=visit.kept_cart))
            return await handler(visit)

        return self.page(resumed)

    async def refused(self, visit: Visit, error: AppError) -> Response:
        """What an error that no step has caught is answered."""
        if isinstance(error, CartNotFound):
            return await gone(visit)
        if isinstance(error, GiftCardsNotSold):
            return visit.ending(Ending.CLOSED, 404)
        if isinstance(error, PartnerInactive):
            return visit.ending(Ending.SHOP_CLOSED, 404)
        return await super().refused(visit, error)

    def ended(self, visit: Visit, ending: Ending, status: int) -> Response:
        """The page for an error."""
        return visit.ending(ending, status)

    def signed(self, visit: Visit, response: Response) -> Response:
        """The answer with the cookies that keep the session going."""
        if visit.cart_id is not None and response.status_code < 400:
            self.cookies.keep_cart(response, self.counter.cookie, str(visit.cart_id))
        return super().signed(visit, response)

    def turned_away(self, request: Request, status: int) -> Response:
        """A message on a page of no shop."""
        ending = Ending.NO_SHOP if status == 404 else BY_STATUS.get(status, Ending.BROKEN)
        return self.pages.message(request, self.language(request), ENDINGS[ending], status)

    async def brand(self, request: Request) -> Response:
        """The colours of the shop at this host. Kept for good only under the name of what they are now."""
        services: Services = request.app.state.house.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            return Response(status_code=404)
        current = request.url.path == brand_path(shop.brand)
        headers = {"Cache-Control": FOR_GOOD if current else "no-store", "X-Content-Type-Options": "nosniff"}
        return Response(brand_sheet(shop.brand), headers=headers, media_type=KINDS[".css"])


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
    return visit.ending(Ending.GONE if visit.counter.kind is ShopKind.PRODUCTS else Ending.BAG_GONE, 404)
