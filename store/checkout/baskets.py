"""Baskets of vouchers and gift cards, or of network products, stored in the customer's session until a payment starts."""

import uuid
from dataclasses import dataclass, field

from schema.checkout.basket import BasketChoice
from schema.checkout.checkout import CheckoutNotice, ShopKind
from schema.coupon.coupon import ReceptionMode

MAX_BASKETS = 4


@dataclass(slots=True)
class BasketEdits:
    """A basket: its lines by id, and the chosen reception."""

    last_modified: int
    """Creation time in milliseconds; it never changes. Payments of different contents differ by their fingerprint."""
    kind: ShopKind
    """One of the contents of its kind of checkout: baskets of older releases had one each."""
    lines: dict[uuid.UUID, BasketChoice] = field(default_factory=dict)
    reception: ReceptionMode | None = None
    delivery_id: int | None = None
    country: str = ""
    codes: list[str] = field(default_factory=list)
    notices: list[CheckoutNotice] = field(default_factory=list)
