"""One request of somebody with a browser: which session, which language, on whose pages."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from funnel.core.cookies import Cookies
from funnel.core.flash import Flash
from funnel.core.forms import Form, FormTokens
from funnel.core.messages import Told, error_text
from funnel.core.pages import HEADERS, Pages
from resolvers.core.context import Services
from schema.checkout.checkout import Brand
from schema.core.resource import Text
from store.limits.client_network import origin_of


@dataclass(frozen=True, slots=True)
class FieldError:
    """Something to put right on a page: the id of the element, what to say, and about which product."""

    place: str
    text: str
    details: dict[str, object]
    about: Text | None = None


@dataclass(frozen=True, slots=True)
class WayOut:
    """A link of a message: where it leads, and what it says (a text of the catalogues)."""

    url: str
    text: str


def address_of(request: Request) -> str:
    """The address of whoever asks; empty where there is none."""
    return request.client.host if request.client else ""


@dataclass
class Guest(ABC):
    """A request, with all that any page needs to know about it."""

    request: Request
    pages: Pages
    tokens: FormTokens
    cookies: Cookies
    session_id: str
    language: str
    brand: Brand | None
    """Whose name and colours the page has; None where that is not known."""
    form: Form = field(default_factory=dict, kw_only=True)

    @property
    def services(self) -> Services:
        """What the process holds."""
        services: Services = self.request.app.state.house.services
        return services

    @property
    def address(self) -> str:
        """The address of whoever asks; empty where there is none."""
        return address_of(self.request)

    @property
    @abstractmethod
    def origin(self) -> str:
        """Scheme and host of these pages, as browsers see them."""

    @property
    @abstractmethod
    def here(self) -> str:
        """The address to come back to after changing the language."""

    @property
    @abstractmethod
    def language_path(self) -> str:
        """Where the form goes that changes the language."""

    @property
    @abstractmethod
    def brand_sheet(self) -> str:
        """Where the style sheet with the colours is; empty without a brand."""

    async def count(self) -> None:
        """Count what this address makes us do, as forms are counted. Raises TooManyRequests."""
        if (forms := self.services.limits.forms) is not None:
            await forms.check(origin_of(self.address))

    def problem(self, place: str, code: str) -> FieldError:
        """What to say about something that is wrong."""
        return FieldError(place, *error_text(place, code))

    def redirect(self, url: str) -> Response:
        """Lead on, by GET whatever this request was."""
        return RedirectResponse(url, 303, {"Cache-Control": "no-store", "Referrer-Policy": HEADERS["Referrer-Policy"]})

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page. Given a `flash`, what was wrong is shown with it."""
        flash: Flash = values.pop("flash", None) or Flash()
        errors = values.pop("errors", None)
        if errors is None:
            errors = [self.problem(place, code) for place, code in flash.problems]
        known = {
            "brand": self.brand,
            "visit": self,
            "csrf": self.tokens.make(self.session_id),
            "errors": errors,
            "wrong": {error.place: error for error in errors},
            "typed": flash.fields,
            "current": None,
            "checkout": None,
        }
        return self.pages.answer(self.request, self.language, template, status, **known | values)

    def message(self, told: Told, ways: Sequence[WayOut] = (), status: int = 200) -> Response:
        """A page that is nothing but a message; the first of its ways out is the button."""
        return self.page("message.html", status, told=told, ways=ways)
