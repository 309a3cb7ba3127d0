"""The result of a payment, for its customer."""

import uuid
from dataclasses import dataclass

from schema.checkout.brand import Brand
from schema.checkout.checkout import CheckoutNotice, PaymentAttemptStatus, ShopKind, Totals


@dataclass(frozen=True, slots=True)
class PaymentResult:
    """The result of a payment. The fields of the order are set only when COMPLETED."""

    attempt_id: uuid.UUID
    status: PaymentAttemptStatus
    brand: Brand
    notice: CheckoutNotice | None = None
    return_url: str = ""
    """Where to redirect the customer, including the order number if the partner requests it."""
    order_path: str = ""
    """The path of the order's page."""
    totals: Totals | None = None
    kind: ShopKind = ShopKind.PRODUCTS
