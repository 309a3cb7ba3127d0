"""The storefronts of a shop: products, vouchers, gift cards and network products, with their paths and templates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from schema.checkout.checkout import ShopKind


@dataclass(frozen=True, slots=True)
class Storefront:
    """One storefront. All storefronts share the steps after the first."""

    kind: ShopKind
    root_path: str
    """The prefix of its paths, without a final slash."""
    cookie: str
    """The cookie that stores the cart opened last here."""
    lines_template: str
    """The prefix of the templates that show its lines: `products_small.html`."""
    has_start_page: bool = False
    """True if customers can start here without an existing cart."""

    @property
    def start_path(self) -> str:
        return f"{self.root_path}/"


PRODUCTS: Final = Storefront(ShopKind.PRODUCTS, "/ecommerce/shop", "cart", "products")
VOUCHERS: Final = Storefront(ShopKind.VOUCHERS, "/vouchers/shop", "vouchers", "basket", has_start_page=True)
GIFT_CARDS: Final = Storefront(ShopKind.GIFT_CARDS, "/giftcards/shop", "giftcards", "basket", has_start_page=True)
NETWORK: Final = Storefront(ShopKind.NETWORK, "/network/shop", "network", "basket", has_start_page=True)
STOREFRONTS: Final[Mapping[ShopKind, Storefront]] = {
    storefront.kind: storefront for storefront in (PRODUCTS, VOUCHERS, GIFT_CARDS, NETWORK)
}
