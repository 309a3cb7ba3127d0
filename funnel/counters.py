"""The counters of a partner's shop: products, vouchers, gift cards. What each has for itself, and where it is served."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter. All of them share the steps after the first."""

    root: str
    """What the paths of its pages begin with, without a slash at the end."""
    cookie: str
    """Which cookie keeps what was opened last here."""


PRODUCTS: Final = Counter("/ecommerce/shop", "cart")
VOUCHERS: Final = Counter("/vouchers/shop", "vouchers")
GIFT_CARDS: Final = Counter("/giftcards/shop", "giftcards")
COUNTERS: Final = (PRODUCTS, VOUCHERS, GIFT_CARDS)
