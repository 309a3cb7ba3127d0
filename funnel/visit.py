"""One request of a customer: whose shop, which session, which cart, which language."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from funnel.cookies import Cookies
from funnel.flash import Flash, Flashes
from funnel.forms import Form, FormTokens
from funnel.messages import ENDINGS, Ending, error_text
from funnel.pages import HEADERS, Pages
from funnel.shops import Shop
from resolvers.context import Caller, Context, Services, Transport
from schema.checkout import Checkout, CheckoutKey, Notice, Step
from schema.errors import CartNotFound
from schema.values import Text

ROOT = "/ecommerce/shop"
ORDER = tuple(Step)


def step_path(step: Step) -> str:
    """Where a step is served."""
    return f"{ROOT}/{step}/"


@dataclass(frozen=True, slots=True)
class FieldError:
    """Something to put right on a page: the id of the element, what to say, and about which product."""

    place: str
    text: str
    details: dict[str, object]
    about: Text | None = None


@dataclass
class Visit:
    """A request, with all that a page needs to know about it."""

    request: Request
    services: Services
    shop: Shop
    pages: Pages
    tokens: FormTokens
    cookies: Cookies
    session_id: str
    language: str
    form: Form = field(default_factory=dict)

    @cached_property
    def context(self) -> Context:
        """What operations are called with."""
        caller = Caller.customer(self.shop.partner_id, self.shop.marketplace_id)
        address = self.request.client.host if self.request.client else ""
        return Context(self.services, caller, self.request.state.request_id, address, Transport.CHECKOUT)

    @cached_property
    def cart_id(self) -> UUID | None:
        """The cart that the address names; None without one that could be."""
        given = self.request.path_params.get("cart_id") or self.request.query_params.get("cart", "")
        try:
            return given if isinstance(given, UUID) else UUID(given)
        except ValueError:
            return None

    @property
    def key(self) -> CheckoutKey:
        """Which checkout this is. Raises CartNotFound when the address names none."""
        if self.cart_id is None:
            raise CartNotFound
        return CheckoutKey(self.cart_id, self.session_id)

    @cached_property
    def flashes(self) -> Flashes:
        """The messages that wait for customers of this shop."""
        return Flashes(self.services.kv, self.shop.partner_id)

    @property
    def origin(self) -> str:
        """Scheme and host of this shop's pages, as browsers see them."""
        return f"{self.services.settings.funnel_scheme}://{self.shop.host}"

    def url(self, path: str, fragment: str = "", **query: object) -> str:
        """The address of one of our pages about this cart."""
        arguments = ({"cart": self.cart_id} if self.cart_id else {}) | query
        return path + (f"?{urlencode(arguments)}" if arguments else "") + (f"#{fragment}" if fragment else "")

    def step_url(self, step: Step | str, fragment: str = "") -> str:
        """The address of a step of this checkout."""
        return self.url(step_path(Step(step)), fragment)

    @property
    def return_base(self) -> str:
        """What the path that the provider sends customers back to begins with; the attempt's id and a slash follow."""
        return f"{ROOT}/payment/return/{self.key.cart_id}/"

    def return_path(self, attempt_id: UUID) -> str:
        """Where a payment of this cart is looked at."""
        return f"{self.return_base}{attempt_id}/"

    def redirect(self, url: str) -> Response:
        """Lead on, by GET whatever this request was."""
        return RedirectResponse(url, 303, {"Cache-Control": "no-store", "Referrer-Policy": HEADERS["Referrer-Policy"]})

    def to(self, step: Step, fragment: str = "") -> Response:
        """Lead on to a step."""
        return self.redirect(self.step_url(step, fragment))

    async def refused(self, to: Step, flash: Flash) -> Response:
        """Lead back to a step, which then shows what was wrong."""
        await self.flashes.leave(self.key, flash)
        return self.to(to)

    def sent_back(self, checkout: Checkout, wanted: Step) -> Response | None:
        """Where to go instead, when a step can't be opened yet, or the shop has replaced the cart since."""
        step = Step.CUSTOMIZATION if Notice.CART_REPLACED in checkout.notices else checkout.reached
        return self.to(step) if ORDER.index(step) < ORDER.index(wanted) else None

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of this shop."""
        flash: Flash = values.pop("flash", None) or Flash()
        errors = values.pop("errors", None)
        if errors is None:
            errors = [FieldError(place, *error_text(place, code)) for place, code in flash.problems]
        known = {
            "shop": self.shop,
            "visit": self,
            "csrf": self.tokens.make(self.session_id),
            "errors": errors,
            "wrong": {error.place: error for error in errors},
            "typed": flash.fields,
            "here": self.here,
            "current": None,
            "checkout": None,
        }
        return self.pages.answer(self.request, self.language, template, status, **known | values)

    @property
    def here(self) -> str:
        """The address to come back to after changing the language: this page, or the first step where this was a form."""
        if self.request.method != "GET":
            return self.step_url(Step.CUSTOMIZATION)
        query = self.request.url.query
        return self.request.url.path + (f"?{query}" if query else "")

    def ending(self, ending: Ending, status: int) -> Response:
        """A page that is nothing but a message."""
        return self.page("message.html", status, ending=ending, told=ENDINGS[ending])
