"""The base class of page requests: session, language, brand and rendering."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from funnel.core.cookies import Cookies
from funnel.core.flash import Flash
from funnel.core.forms import CsrfTokens, Form
from funnel.core.messages import PageMessage, error_text
from funnel.core.pages import HEADERS, PageTemplates
from resolvers.core.services import Services
from schema.checkout.brand import Brand
from schema.core.text import Text
from store.core.client_network import client_network_of
from store.core.settings.provider import PROVIDER_TITLES


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error shown on a page: the id of the element, the text, its placeholders, and the product it is about."""

    field_id: str
    text: str
    details: dict[str, object]
    about: Text | None = None


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a message. `text` is a key of the translation catalogues."""

    url: str
    text: str


def client_ip_of(request: Request) -> str:
    """The client's IP address; empty if it is unknown."""
    return request.client.host if request.client else ""


@dataclass
class PageRequest(ABC):
    """A request, with everything that every page needs."""

    http_request: Request
    templates: PageTemplates
    csrf_tokens: CsrfTokens
    cookies: Cookies
    session_id: str
    language: str
    brand: Brand | None
    """The name and colours of the page; None if they are unknown."""
    form: Form = field(default_factory=dict, kw_only=True)

    @property
    def services(self) -> Services:
        services: Services = self.http_request.app.state.container.services
        return services

    @property
    def client_ip(self) -> str:
        return client_ip_of(self.http_request)

    @property
    @abstractmethod
    def origin(self) -> str:
        """Scheme and host of these pages, as browsers see them."""

    @property
    @abstractmethod
    def next_url(self) -> str:
        """The URL to return to after a change of language."""

    @property
    def find_order_path(self) -> str:
        """The page where customers ask for the link to their order; empty where there is none."""
        return ""

    @property
    def balance_path(self) -> str:
        """The page that tells what is left of a voucher or gift card; empty where there is none."""
        return ""

    @property
    def payment_service(self) -> str:
        """Who takes the money, as customers read it."""
        return PROVIDER_TITLES[self.services.settings.provider]

    @property
    def home_url(self) -> str:
        """Where the logo leads; empty for nowhere."""
        return self.brand.website if self.brand else ""

    @property
    def language_links(self) -> Mapping[str, str]:
        """The address of this page in each language; empty where a form changes the language."""
        return {}

    @property
    @abstractmethod
    def language_path(self) -> str:
        """The form action that changes the language."""

    @property
    @abstractmethod
    def brand_sheet(self) -> str:
        """The URL of the style sheet with the brand's colours; empty without a brand."""

    async def check_form_limit(self) -> None:
        """Apply the rate limit of forms per client network. Raises TooManyRequests."""
        if (forms := self.services.limits.forms) is not None:
            await forms.check(client_network_of(self.client_ip))

    def field_error(self, place: str, code: str) -> FieldError:
        return FieldError(place, *error_text(place, code))

    def redirect(self, url: str) -> Response:
        """Redirect with GET."""
        return RedirectResponse(url, 303, {"Cache-Control": "no-store", "Referrer-Policy": HEADERS["Referrer-Policy"]})

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page. The errors and typed values of a `flash` are shown with it."""
        flash: Flash = values.pop("flash", None) or Flash()
        errors = values.pop("errors", None)
        if errors is None:
            errors = [self.field_error(place, code) for place, code in flash.problems]
        known = {
            "brand": self.brand,
            "request": self,
            "csrf": self.csrf_tokens.make(self.session_id),
            "errors": errors,
            "wrong": {error.field_id: error for error in errors},
            "typed": flash.fields,
            "current": None,
            "checkout": None,
        }
        return self.templates.render(self.http_request, self.language, template, status, **known | values)

    def render_message(self, message: PageMessage, ways: Sequence[PageLink] = (), status: int = 200) -> Response:
        """A page with only a message. The first link is displayed as a button."""
        return self.render("message.html", status, told=message, ways=ways)
