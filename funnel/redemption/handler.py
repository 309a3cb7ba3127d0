"""The page handler of the venue page: finds the shop and the logged-in user."""

from starlette.requests import Request
from starlette.responses import Response

from funnel.core import messages
from funnel.core.messages import ErrorPage
from funnel.core.page_handler import ERROR_PAGE_BY_STATUS, Handler, PageEndpoint, Site
from funnel.core.page_request import PageLink
from funnel.core.pages import PageTemplates
from funnel.redemption.request import ROOT, RedemptionRequest
from funnel.redemption.texts import FORBIDDEN, TO_START
from resolvers.account.staff import authenticate_staff, venue_site
from resolvers.core.caller import Caller
from resolvers.core.services import Services
from resolvers.partner.sites import Shop, shop_at
from schema.core.errors import AppError, Forbidden, NotFound, Unauthenticated
from store.core.settings import Settings

STAFF_COOKIE = "staff"
"""The cookie with the token of the logged-in user."""


class RedemptionSite(Site[RedemptionRequest]):
    """Creates endpoints from handlers of staff requests."""

    def __init__(self, settings: Settings, pages: PageTemplates) -> None:
        super().__init__(settings, pages, secure=settings.funnel_scheme == "https")

    async def build_request(self, request: Request) -> RedemptionRequest:
        """The request at a shop's venue page. Raises NotFound if the host belongs to no shop."""
        services: Services = request.app.state.container.services
        shop = await shop_at(services.db, request.headers.get("host", ""))
        if shop is None:
            raise NotFound(thing="shop")
        secret = self.cookies.read(request, STAFF_COOKIE)
        page_request = self.new_request(
            RedemptionRequest,
            request,
            self.language(request),
            shop.brand,
            shop=shop,
            caller=await _find_caller(services, secret, shop),
            had_cookie=bool(secret),
        )
        await page_request.load_name()
        return page_request

    def staff_page(self, handler: Handler[RedemptionRequest]) -> PageEndpoint:
        """An endpoint for GET that requires a log-in; otherwise it redirects to the log-in form."""
        return self.page(_require_login(handler))

    def staff_form(self, handler: Handler[RedemptionRequest]) -> PageEndpoint:
        """An endpoint for a form that requires a log-in; otherwise it redirects to the log-in form."""
        return self.form(_require_login(handler))

    async def handle_error(self, page_request: RedemptionRequest, error: AppError) -> Response:
        """The response for an error that no handler has caught."""
        if isinstance(error, Unauthenticated):
            return page_request.redirect_to_login()
        if isinstance(error, Forbidden):
            return page_request.render_message(FORBIDDEN, [PageLink(ROOT, TO_START)], error.status)
        return await super().handle_error(page_request, error)

    def render_error(self, page_request: RedemptionRequest, ending: ErrorPage, status: int) -> Response:
        return page_request.render_error(ending, status)

    def render_early_error(self, request: Request, status: int) -> Response:
        """An error page before the shop is known."""
        ending = ErrorPage.NO_SHOP if status == 404 else ERROR_PAGE_BY_STATUS.get(status, ErrorPage.INTERNAL_ERROR)
        return self.templates.render_message(request, self.language(request), messages.ERROR_PAGES[ending], status)


def _require_login(handler: Handler[RedemptionRequest]) -> Handler[RedemptionRequest]:
    async def handle_logged_in(request: RedemptionRequest) -> Response:
        return request.redirect_to_login() if request.caller is None else await handler(request)

    return handle_logged_in


async def _find_caller(services: Services, secret: str, shop: Shop) -> Caller | None:
    if not secret:
        return None
    try:
        return await authenticate_staff(services, secret, venue_site(shop.partner_id, shop.marketplace_id))
    except Unauthenticated:
        return None
