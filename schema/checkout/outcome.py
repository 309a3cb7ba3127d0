"""How a payment ended, as its customer is told: the order, its lines, what they became."""

import datetime as dt
import uuid
from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.checkout import AppliedCode, AttemptStatus, Brand, Notice, ShopKind, Totals
from schema.core.resource import Text
from schema.delivery import DeliveryKind


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of the order, as it was sold. `details` are the variant and the chosen values, for display."""

    name: Text
    details: tuple[Text, ...]
    quantity: int
    unit_price: Decimal
    total: Decimal
    picture_url: str
    issued: "Issued | None" = None
    """The voucher or gift card that it became; None for goods."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A voucher or gift card that an order made. For the browser that paid, and nobody else."""

    kind: ShopKind
    id: int
    code: str
    """In groups of four."""
    value: Decimal
    """What it is worth: more than its price where a coupon has raised it."""
    expires_on: dt.datetime | None
    document_path: str
    """Where it is printed from, as a path of this service."""
    sent_to: str
    """The e-mail address that it goes to; empty where it goes by post or is collected."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a payment ended, for the summary. The order's parts are set only when COMPLETED."""

    attempt_id: uuid.UUID
    status: AttemptStatus
    brand: Brand
    notice: Notice | None = None
    return_url: str = ""
    """Where to send the customer, already carrying the order's number when the partner asked for that."""
    order_number: str = ""
    ordered_on: dt.datetime | None = None
    email: str = ""
    lines: tuple[OrderLine, ...] = ()
    totals: Totals | None = None
    codes: tuple[AppliedCode, ...] = ()
    delivery_kind: DeliveryKind | None = None
    delivery_name: Text | None = None
    delivery_description: Text | None = None
    """Where and when to collect, how long it takes: what the shop says of this delivery."""
    kind: ShopKind = ShopKind.PRODUCTS
