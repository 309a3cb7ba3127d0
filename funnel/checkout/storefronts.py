"""The storefronts of a shop: carts of products, the basket, and network products, with their paths and templates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from schema.checkout.checkout import SHOP_PATHS, CheckoutKind, ShopKind


@dataclass(frozen=True, slots=True)
class Storefront:
    """One storefront. All storefronts share the steps after the first."""

    kind: CheckoutKind
    root_path: str
    """The prefix of its steps, without a final slash."""
    cookie: str
    """The cookie that stores the cart opened last here."""
    line_path: str
    """The page below its root with the form of a voucher or gift card."""
    section: ShopKind | None = None
    """What its start page sells; None if it requires an existing cart."""

    @property
    def start_path(self) -> str:
        """Its start page. Of a storefront that has one."""
        assert self.section is not None
        return SHOP_PATHS[self.section]


PRODUCTS: Final = Storefront(CheckoutKind.CART, "/ecommerce/shop", "cart", "gift")
BASKET: Final = Storefront(CheckoutKind.BASKET, "/shop", "basket", "customization", ShopKind.VOUCHERS)
NETWORK: Final = Storefront(CheckoutKind.NETWORK, "/network/shop", "network", "customization", ShopKind.NETWORK)
STOREFRONTS: Final[Mapping[CheckoutKind, Storefront]] = {
    storefront.kind: storefront for storefront in (PRODUCTS, BASKET, NETWORK)
}
