"""A checkout request: shop, session, cart and language."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlencode
from uuid import UUID

from starlette.responses import Response

from funnel.checkout.storefronts import BASKET, NETWORK, PRODUCTS, STOREFRONTS, Storefront
from funnel.core.brand_sheets import brand_path
from funnel.core.flash import Flash, Flashes
from funnel.core.messages import BACK, ERROR_PAGES, FIND_ORDER, REOPEN_ORDER, START_LINK_TEXTS, ErrorPage
from funnel.core.page_request import PageLink, PageRequest
from resolvers.core.caller import Caller, Transport
from resolvers.core.context import Context
from resolvers.partner.sites import Shop
from schema.checkout.checkout import SHOP_PATHS, CheckoutKey, CheckoutNotice, CheckoutStep, ShopKind
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound
from schema.order.balance import BALANCE_PATH
from schema.order.page import FIND_PATH

STEP_ORDER = tuple(CheckoutStep)
REOPENING = frozenset(
    {
        *(ErrorPage.CSRF_FAILED, ErrorPage.TOO_MANY, ErrorPage.TOO_LARGE, ErrorPage.UNAVAILABLE),
        *(ErrorPage.INTERNAL_ERROR, ErrorPage.GIFT_CARDS_NOT_SOLD),
    }
)
"""Error pages with a link that opens the order again."""

LAST_OPENED = "order"
"""The cookie that names the one of the storefronts' cookies that was set last."""
FINISHED = frozenset({ErrorPage.ORDERED, ErrorPage.OTHER_BROWSER})
"""Error pages that lead to the order."""


@dataclass
class CheckoutRequest(PageRequest):
    shop: Shop = field(kw_only=True)
    storefront: Storefront = field(kw_only=True)

    @property
    def sections(self) -> Sequence[ShopKind]:
        """What customers can choose at this storefront; nothing if it requires an existing cart."""
        if self.storefront is not BASKET or not self.shop.sells_gift_cards:
            return (self.storefront.section,) if self.storefront.section else ()
        return self.gift_sections

    @property
    def gift_sections(self) -> Sequence[ShopKind]:
        """What this partner's customers can choose as presents, beside goods or without."""
        sold = {ShopKind.VOUCHERS: self.shop.sells_experiences, ShopKind.GIFT_CARDS: self.shop.sells_gift_cards}
        return tuple(section for section, is_sold in sold.items() if is_sold)

    def section_link(self, section: ShopKind) -> PageLink:
        """The link to where customers choose."""
        return PageLink(self.page_url(SHOP_PATHS[section]), START_LINK_TEXTS[section])

    @property
    def network_link(self) -> PageLink:
        """The link to what the shop sells of its network."""
        return self.section_link(ShopKind.NETWORK)

    @property
    def gift_storefront(self) -> Storefront:
        """Where what is chosen here is bought: what a partner sells of its network in its own basket, unless this browser has
        opened a multi-product cart since.
        """
        if self.storefront is not NETWORK or self.shop.is_network_shop:
            return self.storefront
        return NETWORK if self.cookies.read(self.http_request, LAST_OPENED) == NETWORK.cookie else BASKET

    def begin_url(self, **query: object) -> str:
        """The URL that begins a line with this choice, in the order that this browser has opened last, or in a new one."""
        return f"{self.gift_storefront.root_path}/{CheckoutStep.CUSTOMIZATION}/?{urlencode(query)}"

    @property
    def find_order_path(self) -> str:
        return FIND_PATH

    @property
    def balance_path(self) -> str:
        return BALANCE_PATH

    @property
    def home_url(self) -> str:
        """The shop's start page; from products, which are sold on the partner's own site, that site."""
        website = self.shop.brand.website if self.storefront is PRODUCTS else ""
        return website or self.page_url("/")

    def page_url(self, path: str) -> str:
        """The URL of another page of this shop, whatever it sells."""
        return path

    @property
    def language_path(self) -> str:
        """The form action that changes the language."""
        return f"{self.storefront.root_path}/language/"

    @cached_property
    def context(self) -> Context:
        """The context for operations."""
        caller = Caller.customer(self.shop.partner_id, self.shop.marketplace_id)
        return Context(self.services, caller, self.http_request.state.request_id, self.client_ip, Transport.CHECKOUT)

    @property
    def brand_sheet(self) -> str:
        """The URL of the style sheet with the shop's colours."""
        return brand_path(self.shop.brand)

    @cached_property
    def cart_id(self) -> UUID | None:
        """The cart id in the URL; None if it is missing or invalid."""
        text = self.http_request.path_params.get("cart_id") or self.http_request.query_params.get("cart", "")
        return text if isinstance(text, UUID) else _uuid(text)

    @property
    def last_cart_id(self) -> UUID | None:
        """The cart that this browser opened last at this storefront; None without one."""
        return _uuid(self.cookies.read(self.http_request, self.storefront.cookie))

    @property
    def key(self) -> CheckoutKey:
        """The key of the checkout. Raises CartNotFound if the URL names no cart."""
        if self.cart_id is None:
            raise CartNotFound
        return self.key_of(self.cart_id)

    def key_of(self, cart_id: UUID) -> CheckoutKey:
        """The checkout of this browser for a cart or basket of this storefront."""
        return CheckoutKey(cart_id, self.session_id, self.storefront.kind)

    @property
    def last_basket(self) -> CheckoutKey | None:
        """The basket that this browser opened last, at whatever storefront of the partner."""
        basket_id = _uuid(self.cookies.read(self.http_request, BASKET.cookie))
        return CheckoutKey(basket_id, self.session_id, BASKET.kind) if basket_id else None

    @property
    def last_cart(self) -> CheckoutKey | None:
        """The cart of goods that this browser has opened; None without one, and if it has opened a basket since."""
        cart_id = _uuid(self.cookies.read(self.http_request, PRODUCTS.cookie))
        is_last = self.cookies.read(self.http_request, LAST_OPENED) == PRODUCTS.cookie
        return CheckoutKey(cart_id, self.session_id, PRODUCTS.kind) if cart_id and is_last else None

    @property
    def flash_key(self) -> str:
        """The key of this checkout's flash messages. Raises CartNotFound as `key` does."""
        return f"{self.key.session_id}:{self.key.cart_id}"

    @cached_property
    def flashes(self) -> Flashes:
        """The flash messages of this shop."""
        return Flashes(self.services.kv, self.shop.partner_id)

    async def take_flash(self) -> Flash:
        """The flash message of this checkout, which is deleted. A browser that sends no session has none."""
        if not self.cookies.read(self.http_request, "session"):
            return Flash()
        return await self.flashes.take(self.flash_key)

    @property
    def origin(self) -> str:
        """Scheme and host of this shop's pages, as browsers see them."""
        return f"{self.services.settings.funnel_scheme}://{self.shop.host}"

    def url(self, path: str, fragment: str = "", **query: object) -> str:
        """The URL of a page, with this cart in its query."""
        arguments = ({"cart": self.cart_id} if self.cart_id else {}) | query
        return path + (f"?{urlencode(arguments)}" if arguments else "") + (f"#{fragment}" if fragment else "")

    def step_url(self, step: CheckoutStep | str, fragment: str = "") -> str:
        return self.storefront_url(CheckoutStep(step), fragment)

    def storefront_url(self, path: str, fragment: str = "", **query: object) -> str:
        """The URL of a page of this storefront for this cart, for example `payment/codes`."""
        return self.url(f"{self.storefront.root_path}/{path}/", fragment, **query)

    def order_url(self, key: CheckoutKey, *, of_gift: bool = False, **query: object) -> str:
        """The URL of the first step of any cart or basket, or of its form of a voucher or gift card."""
        storefront = STOREFRONTS[key.kind]
        path = storefront.line_path if of_gift else CheckoutStep.CUSTOMIZATION
        return f"{storefront.root_path}/{path}/?{urlencode(query | {'cart': key.cart_id})}"

    def gift_url(self, **query: object) -> str:
        """The URL of the form of a voucher or gift card, of the current cart or basket."""
        return self.storefront_url(self.storefront.line_path, "", **query)

    @property
    def start_url(self) -> str:
        """Where customers choose what to add. What is chosen goes to the order that this browser has opened last."""
        if self.storefront is PRODUCTS:
            return self.page_url(BASKET.start_path)
        return self.url(self.storefront.start_path)

    @property
    def return_base(self) -> str:
        """The prefix of the provider's return path. The payment attempt's id and a slash follow."""
        return f"{self.storefront.root_path}/payment/return/{self.key.cart_id}/"

    def return_path(self, attempt_id: UUID) -> str:
        """The page that shows the result of a payment attempt."""
        return f"{self.return_base}{attempt_id}/"

    def redirect_to_step(self, step: CheckoutStep, fragment: str = "") -> Response:
        return self.redirect(self.step_url(step, fragment))

    async def redirect_with_errors(self, to: CheckoutStep, flash: Flash, fragment: str = "") -> Response:
        """Redirect to a step, which then shows the errors."""
        await self.flashes.put(self.flash_key, flash)
        return self.redirect_to_step(to, fragment)

    def redirect_if_unreached(self, checkout: Checkout, target: CheckoutStep) -> Response | None:
        """A redirect if the step is not available yet, or if the shop has replaced the cart; else None."""
        step = (
            CheckoutStep.CUSTOMIZATION if CheckoutNotice.CART_REPLACED in checkout.notices else checkout.furthest_step
        )
        return self.redirect_to_step(step) if STEP_ORDER.index(step) < STEP_ORDER.index(target) else None

    @property
    def next_url(self) -> str:
        """The URL to return to after a change of language: this page, or the first step after a POST."""
        if self.http_request.method != "GET":
            path = f"{self.http_request.url.path.rstrip('/')}/"
            return path if path in {FIND_PATH, BALANCE_PATH} else self.step_url(CheckoutStep.CUSTOMIZATION)
        query = self.http_request.url.query
        if "lang" in self.http_request.query_params:  # the choice comes after it
            kept = [each for each in self.http_request.query_params.multi_items() if each[0] != "lang"]
            query = urlencode(kept)
        return self.http_request.url.path + (f"?{query}" if query else "")

    def render_error(self, ending: ErrorPage, status: int) -> Response:
        """An error page with links to the order and the shop."""
        ways = (
            [PageLink(self.step_url(CheckoutStep.CUSTOMIZATION), REOPEN_ORDER)]
            if self.cart_id and ending in REOPENING
            else []
        )
        if ending in FINISHED:
            ways.append(PageLink(self.find_order_path, FIND_ORDER))
        if ending is not ErrorPage.SHOP_CLOSED:
            ways += map(self.section_link, self.sections)
        if self.shop.brand.website:
            ways.append(PageLink(self.shop.brand.website, BACK))
        if not ways and ending is ErrorPage.NOT_FOUND:
            ways.append(self.section_link(ShopKind.NETWORK if self.shop.is_network_shop else ShopKind.VOUCHERS))
        return self.render_message(ERROR_PAGES[ending], ways, status)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
