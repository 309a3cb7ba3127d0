"""The front desk of the venue page: whose shop it is, and who is logged in."""

from starlette.requests import Request
from starlette.responses import Response

from funnel.checkout.shops import Shop, shop_at
from funnel.core import messages
from funnel.core.messages import Ending
from funnel.core.page_handler import BY_STATUS, Desk, Endpoint, Handler
from funnel.core.page_request import WayOut
from funnel.core.pages import Pages
from funnel.redemption.request import ROOT, Staff
from funnel.redemption.texts import MAY_NOT, TO_START
from resolvers.account.staff import staff_at
from resolvers.core.context import Caller, Services
from schema.core.errors import AppError, Forbidden, NotFound, Unauthenticated
from store.core.settings import Settings

KEPT = "staff"
"""The cookie that holds the token of whoever is logged in."""


class RedeemDesk(Desk[Staff]):
    """Makes endpoints of the functions that answer staff."""

    def __init__(self, settings: Settings, pages: Pages) -> None:
        super().__init__(settings, pages, secure=settings.funnel_scheme == "https")

    async def guest(self, request: Request) -> Staff:
        """Whoever is at a shop's venue page. Raises NotFound where the host is no shop's."""
        services: Services = request.app.state.house.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            raise NotFound(thing="shop")
        secret = self.cookies.read(request, KEPT)
        staff = Staff(
            request,
            self.pages,
            self.tokens,
            self.cookies,
            self.cookies.session_id(request),
            self.language(request),
            shop.brand,
            shop=shop,
            caller=await _known(services, secret, shop),
            was_known=bool(secret),
        )
        await staff.introduce()
        return staff

    def for_staff(self, handler: Handler[Staff]) -> Endpoint:
        """An endpoint that shows something to whoever is logged in; everybody else is led to the log-in."""
        return self.page(_logged_in(handler))

    def form_of_staff(self, handler: Handler[Staff]) -> Endpoint:
        """An endpoint that takes a form of whoever is logged in; everybody else is led to the log-in."""
        return self.form(_logged_in(handler))

    async def refused(self, guest: Staff, error: AppError) -> Response:
        """What an error that no handler has caught is answered."""
        if isinstance(error, Unauthenticated):
            return guest.to_log_in()
        if isinstance(error, Forbidden):
            return guest.message(MAY_NOT, [WayOut(ROOT, TO_START)], error.status)
        return await super().refused(guest, error)

    def ended(self, guest: Staff, ending: Ending, status: int) -> Response:
        """The page for an error."""
        return guest.ending(ending, status)

    def turned_away(self, request: Request, status: int) -> Response:
        """A message on a page of no shop."""
        ending = Ending.NO_SHOP if status == 404 else BY_STATUS.get(status, Ending.BROKEN)
        return self.pages.message(request, self.language(request), messages.ENDINGS[ending], status)


def _logged_in(handler: Handler[Staff]) -> Handler[Staff]:
    async def checked(staff: Staff) -> Response:
        return staff.to_log_in() if staff.caller is None else await handler(staff)

    return checked


async def _known(services: Services, secret: str, shop: Shop) -> Caller | None:
    if not secret:
        return None
    try:
        return await staff_at(services, secret, shop.partner_id, shop.marketplace_id)
    except Unauthenticated:
        return None
