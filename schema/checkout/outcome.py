"""The result of a payment, for its customer: the order, its lines and the issued items."""

import datetime as dt
import uuid
from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.checkout import AppliedCode, Brand, CheckoutNotice, PaymentAttemptStatus, ShopKind, Totals
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of the order, as sold. `details` are the variant and the chosen values, for display."""

    name: Text
    details: tuple[Text, ...]
    quantity: int
    unit_price: Decimal
    total: Decimal
    picture_url: str
    issued_item: "IssuedItem | None" = None
    """The issued voucher or gift card; None for goods."""


@dataclass(frozen=True, slots=True)
class IssuedItem:
    """A voucher or gift card, of the partner or of its network, issued by an order. Only the browser that paid may see it."""

    kind: ShopKind
    id: int
    code: str
    """In groups of four characters."""
    value: Decimal
    """Its value, which is higher than its price if a coupon increased it."""
    expires_on: dt.datetime | None
    document_path: str
    """The path of its printable document on this service."""
    recipient_email: str
    """The e-mail address it is sent to; empty if it is posted or collected."""
    send_on: dt.date | None = None
    """The day on which it is e-mailed; None for at once."""


@dataclass(frozen=True, slots=True)
class PaymentResult:
    """The result of a payment, for the summary page. The fields of the order are set only when COMPLETED."""

    attempt_id: uuid.UUID
    status: PaymentAttemptStatus
    brand: Brand
    notice: CheckoutNotice | None = None
    return_url: str = ""
    """Where to redirect the customer, including the order number if the partner requests it."""
    order_number: str = ""
    ordered_on: dt.datetime | None = None
    email: str = ""
    lines: tuple[OrderLine, ...] = ()
    totals: Totals | None = None
    codes: tuple[AppliedCode, ...] = ()
    delivery_kind: DeliveryKind | None = None
    delivery_name: Text | None = None
    delivery_description: Text | None = None
    """The shop's information about this delivery, such as opening hours and delivery times."""
    kind: ShopKind = ShopKind.PRODUCTS
