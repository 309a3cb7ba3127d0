"""One request of a customer: whose shop, which session, which cart, which language."""

from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlencode
from uuid import UUID

from starlette.responses import Response

from funnel.checkout.shops import Shop
from funnel.checkout.storefronts import GIFT_CARDS, VOUCHERS, Counter
from funnel.core.flash import Flash, Flashes
from funnel.core.messages import AGAIN, BACK, ENDINGS, OFFERED, Ending
from funnel.core.page_request import Guest, WayOut
from funnel.core.static_files import brand_path
from resolvers.core.context import Caller, Context, Transport
from schema.checkout.checkout import Checkout, CheckoutKey, Notice, Step
from schema.core.errors import CartNotFound

ORDER = tuple(Step)
TO_REPEAT = frozenset({Ending.FOREIGN_FORM, Ending.TOO_MANY, Ending.TOO_LARGE, Ending.UNAVAILABLE, Ending.BROKEN})
"""Messages after which the order can be opened again."""


@dataclass
class Visit(Guest):
    """A request of a shop's customer."""

    shop: Shop = field(kw_only=True)
    counter: Counter = field(kw_only=True)

    @property
    def beginning(self) -> Counter | None:
        """The counter at which customers can begin anew: this one; while no gift cards are sold, that of vouchers. None where
        nobody begins without a cart."""
        if self.counter is GIFT_CARDS and not self.shop.sells_gift_cards:
            return VOUCHERS
        return self.counter if self.counter.has_window else None

    @property
    def language_path(self) -> str:
        """Where the form goes that changes the language."""
        return f"{self.counter.root}/language/"

    @cached_property
    def context(self) -> Context:
        """What operations are called with."""
        caller = Caller.customer(self.shop.partner_id, self.shop.marketplace_id)
        return Context(self.services, caller, self.request.state.request_id, self.address, Transport.CHECKOUT)

    @property
    def brand_sheet(self) -> str:
        """Where the style sheet with the shop's colours is."""
        return brand_path(self.shop.brand)

    @cached_property
    def cart_id(self) -> UUID | None:
        """The cart that the address names; None without one that could be."""
        given = self.request.path_params.get("cart_id") or self.request.query_params.get("cart", "")
        return given if isinstance(given, UUID) else _uuid(given)

    @property
    def kept_cart(self) -> UUID | None:
        """The cart that this browser has opened last at this counter; None where there is none."""
        return _uuid(self.cookies.read(self.request, self.counter.cookie))

    @property
    def key(self) -> CheckoutKey:
        """Which checkout this is. Raises CartNotFound when the address names none."""
        if self.cart_id is None:
            raise CartNotFound
        return self.key_of(self.cart_id)

    def key_of(self, cart_id: UUID) -> CheckoutKey:
        """The checkout of this browser for a cart or bag of this counter."""
        return CheckoutKey(cart_id, self.session_id, self.counter.kind)

    @property
    def place(self) -> str:
        """Where messages for this customer at this checkout wait. Raises CartNotFound as `key`."""
        return f"{self.key.session_id}:{self.key.cart_id}"

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
        return self.below(Step(step), fragment)

    def below(self, path: str, fragment: str = "", **query: object) -> str:
        """The address of a page of this counter about this cart: `payment/codes`."""
        return self.url(f"{self.counter.root}/{path}/", fragment, **query)

    @property
    def return_base(self) -> str:
        """What the path that the provider sends customers back to begins with; the attempt's id and a slash follow."""
        return f"{self.counter.root}/payment/return/{self.key.cart_id}/"

    def return_path(self, attempt_id: UUID) -> str:
        """Where a payment of this cart is looked at."""
        return f"{self.return_base}{attempt_id}/"

    def to(self, step: Step, fragment: str = "") -> Response:
        """Lead on to a step."""
        return self.redirect(self.step_url(step, fragment))

    async def refused(self, to: Step, flash: Flash) -> Response:
        """Lead back to a step, which then shows what was wrong."""
        await self.flashes.leave(self.place, flash)
        return self.to(to)

    def sent_back(self, checkout: Checkout, wanted: Step) -> Response | None:
        """Where to go instead, when a step can't be opened yet, or the shop has replaced the cart since."""
        step = Step.CUSTOMIZATION if Notice.CART_REPLACED in checkout.notices else checkout.reached
        return self.to(step) if ORDER.index(step) < ORDER.index(wanted) else None

    @property
    def here(self) -> str:
        """The address to come back to after changing the language: this page, or the first step where this was a form."""
        if self.request.method != "GET":
            return self.step_url(Step.CUSTOMIZATION)
        query = self.request.url.query
        return self.request.url.path + (f"?{query}" if query else "")

    def ending(self, ending: Ending, status: int) -> Response:
        """A page that is nothing but a message, with the way back to the order or to the shop."""
        ways = [WayOut(self.step_url(Step.CUSTOMIZATION), AGAIN)] if self.cart_id and ending in TO_REPEAT else []
        if self.beginning is not None and ending is not Ending.SHOP_CLOSED:
            ways.append(WayOut(self.beginning.window, OFFERED[self.beginning.kind]))
        if self.shop.brand.website:
            ways.append(WayOut(self.shop.brand.website, BACK))
        if not ways and ending is Ending.NOT_FOUND:
            ways.append(WayOut(VOUCHERS.window, OFFERED[VOUCHERS.kind]))
        return self.message(ENDINGS[ending], ways, status)


def _uuid(given: str) -> UUID | None:
    try:
        return UUID(given)
    except ValueError:
        return None
