"""Pages at the service's own address that are about one partner: for whoever holds a link to them."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.messages import PUBLIC_ENDINGS, TRY_AGAIN, Ending
from funnel.core.page_handler import BY_STATUS, Desk, G
from funnel.core.page_request import Guest, WayOut, address_of
from funnel.core.pages import Pages
from funnel.core.static_files import colours_path
from resolvers.core.context import Caller, Context, Services, Transport
from store.core.settings import Settings

LANGUAGE = "/onboarding/language/"


@dataclass
class Holder(Guest):
    """A request of whoever holds a link. `brand` is the partner's, for its name, logo and colours."""

    start: str = field(kw_only=True)
    """The path of the page that the link leads to."""
    language_path = LANGUAGE

    @property
    def origin(self) -> str:
        """Scheme and host of these pages, as browsers see them: only hosts of our own come this far."""
        return f"{urlsplit(self.services.settings.public_url).scheme}://{self.request.headers.get('host', '')}"

    @property
    def here(self) -> str:
        """The address to come back to after changing the language: this page, or the first where this was a form."""
        return self.request.url.path if self.request.method in {"GET", "HEAD"} else self.start

    @property
    def brand_sheet(self) -> str:
        """Where the style sheet with the partner's colours is; its address tells nothing of the link."""
        return colours_path(self.brand.accent) if self.brand else ""


class PublicDesk(Desk[G]):
    """Makes endpoints of the functions that answer whoever holds a link."""

    def __init__(self, settings: Settings, pages: Pages) -> None:
        super().__init__(settings, pages, secure=urlsplit(settings.public_url).scheme == "https")

    def context(self, request: Request, caller: Caller) -> Context:
        """What operations are called with for whoever holds a link."""
        services: Services = request.app.state.house.services
        return Context(services, caller, request.state.request_id, address_of(request), Transport.ONBOARDING)

    def ended(self, guest: G, ending: Ending, status: int) -> Response:
        """The page for an error, with the way back to the page that the link leads to."""
        return guest.message(PUBLIC_ENDINGS[ending], [WayOut(guest.here, TRY_AGAIN)], status)

    def nobody(self, request: Request) -> Holder:
        """A guest of whom nothing is known, on pages of nobody's."""
        session_id, language = self.cookies.session_id(request), self.language(request)
        here = request.url.path
        return Holder(request, self.pages, self.tokens, self.cookies, session_id, language, None, start=here)

    def turned_away(self, request: Request, status: int) -> Response:
        """The page for a link that is damaged or dead, and for what fails before one is read."""
        nobody = self.nobody(request)
        response = nobody.message(PUBLIC_ENDINGS[BY_STATUS.get(status, Ending.BROKEN)], status=status)
        self.cookies.keep_session(response, nobody.session_id)
        return response
