"""Pages at the service's own host about one partner, for holders of a link."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.brand_sheets import look_path
from funnel.core.flash import Flash, Flashes
from funnel.core.languages import choose_language
from funnel.core.messages import PUBLIC_ERROR_PAGES, TRY_AGAIN, ErrorPage
from funnel.core.page_handler import ERROR_PAGE_BY_STATUS, G, Site
from funnel.core.page_request import PageLink, PageRequest, client_ip_of
from funnel.core.pages import PageTemplates
from resolvers.core.caller import Caller, Transport
from resolvers.core.context import Context
from resolvers.core.services import Services
from schema.core.errors import Unavailable
from store.core.settings import Settings

LANGUAGE_PATH = "/onboarding/language/"


@dataclass
class PublicRequest(PageRequest):
    """A request of a link holder. `brand` is the partner's name, logo and colours."""

    start: str = field(kw_only=True)
    """The path of the linked page."""
    language_path = LANGUAGE_PATH

    @property
    def origin(self) -> str:
        """Scheme and host of these pages, as browsers see them: the service's own, or those of a shop."""
        settings, host = self.services.settings, self.http_request.headers.get("host", "")
        scheme = urlsplit(settings.public_url).scheme if settings.is_own_host(host) else settings.funnel_scheme
        return f"{scheme}://{host}"

    @property
    def next_url(self) -> str:
        """The URL to return to after a change of language: this page, or the linked page after a POST."""
        return self.http_request.url.path if self.http_request.method in {"GET", "HEAD"} else self.start

    @property
    def brand_sheet(self) -> str:
        """The URL of the style sheet with the partner's colours. It does not reveal the link."""
        return look_path(self.brand) if self.brand else ""


@dataclass
class LinkRequest(PublicRequest):
    """A request of the holder of a valid link. `start` is the link's path."""

    context: Context = field(kw_only=True)
    flash_area: ClassVar[str]
    """Keeps the messages of different kinds of links apart."""

    @cached_property
    def _flashes(self) -> Flashes:
        partner_id = self.context.required_caller.partner_id
        assert partner_id is not None, "a link is about one partner"
        return Flashes(self.services.kv, partner_id)

    async def put_flash(self, place: str, flash: Flash) -> None:
        """Store a message for this browser's next view of a page."""
        await self._flashes.put(self._flash_key(place), flash)

    async def take_flash(self, place: str) -> Flash:
        """Return and delete the message; an empty one if there is none, or while it cannot be read: the page shows what
        matters without it.
        """
        try:
            return await self._flashes.take(self._flash_key(place))
        except Unavailable:
            return Flash()

    def _flash_key(self, place: str) -> str:
        return f"{self.session_id}:{self.flash_area}:{place}"

    def path(self, name: str) -> str:
        """The path of a subpage: `return`, `leaving`."""
        return f"{self.start}{name}/"

    def redirect_to_start(self) -> Response:
        """Redirect to the linked page."""
        return self.redirect(self.start)

    async def redirect_with_error(self, button: str, why: str) -> Response:
        """Redirect to the linked page, which shows why the button failed."""
        await self.put_flash(button, Flash(((button, why),)))
        return self.redirect_to_start()


class PublicSite(Site[G]):
    """Creates endpoints from handlers of link holders' requests."""

    def __init__(self, settings: Settings, pages: PageTemplates) -> None:
        super().__init__(settings, pages, secure=urlsplit(settings.public_url).scheme == "https")

    def context(self, request: Request, caller: Caller) -> Context:
        """The context for operations of a link holder."""
        services: Services = request.app.state.container.services
        return Context(services, caller, request.state.request_id, client_ip_of(request), Transport.ONBOARDING)

    def render_error(self, page_request: G, ending: ErrorPage, status: int) -> Response:
        """The error page, with a link to the linked page."""
        return page_request.render_message(
            PUBLIC_ERROR_PAGES[ending], [PageLink(page_request.next_url, TRY_AGAIN)], status
        )

    def anonymous_request(self, request: Request) -> PublicRequest:
        """A page request without a known partner."""
        return self.new_request(PublicRequest, request, self.language(request), None, start=request.url.path)

    def language_of(self, request: Request, own: str | None) -> str:
        """The language that the visitor has chosen, else the one of what the link shows, else that of the browser."""
        of_browser = request.headers.get("accept-language", "")
        return choose_language(self.cookies.read(request, "language"), own or of_browser)

    def render_early_error(self, request: Request, status: int) -> Response:
        """The error page for an invalid or expired link, and for errors before the link is read."""
        page_request = self.anonymous_request(request)
        response = page_request.render_message(
            PUBLIC_ERROR_PAGES[ERROR_PAGE_BY_STATUS.get(status, ErrorPage.INTERNAL_ERROR)], status=status
        )
        self.cookies.set_session(response, page_request.session_id)
        return response
