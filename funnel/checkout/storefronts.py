"""The counters of a partner's shop: products, vouchers, gift cards. What each has for itself, and where it is served."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from schema.checkout.checkout import ShopKind


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter. All of them share the steps after the first."""

    kind: ShopKind
    root: str
    """What the paths of its pages begin with, without a slash at the end."""
    cookie: str
    """Which cookie keeps what was opened last here."""
    lines: str
    """What the template is called that shows its lines: `products_small.html`."""
    has_window: bool = False
    """Whether customers can begin here, without a cart that somebody hands over."""

    @property
    def window(self) -> str:
        """The path that customers begin at."""
        return f"{self.root}/"


PRODUCTS: Final = Counter(ShopKind.PRODUCTS, "/ecommerce/shop", "cart", "products")
VOUCHERS: Final = Counter(ShopKind.VOUCHERS, "/vouchers/shop", "vouchers", "bag", has_window=True)
GIFT_CARDS: Final = Counter(ShopKind.GIFT_CARDS, "/giftcards/shop", "giftcards", "bag", has_window=True)
COUNTERS: Final[Mapping[ShopKind, Counter]] = {counter.kind: counter for counter in (PRODUCTS, VOUCHERS, GIFT_CARDS)}
