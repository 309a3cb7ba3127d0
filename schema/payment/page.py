"""What a customer sees on the page of a payment or a payment request."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from schema.checkout.brand import Brand
from schema.payment_method import PaymentMethod


class PaymentPageState(StrEnum):
    """Where a customer stands."""

    PAYABLE = "payable"
    AT_PROVIDER = "at_provider"
    """A try is open on the page of the payment provider."""
    CHECKING = "checking"
    """The outcome of a try is not known yet."""
    DECLINED = "declined"
    """The last try failed; the customer can try again."""
    UNAVAILABLE = "unavailable"
    """The partner cannot be paid at the moment."""
    PAID = "paid"
    REFUNDED = "refunded"
    """It was paid, and all of it goes back."""
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentPage:
    """The page of a payment or a payment request. The holder of its link may see it all."""

    state: PaymentPageState
    brand: Brand
    path: str
    language: str | None
    """The language that was given; None: the customer's own."""
    currency: str
    amount: Decimal
    extra_amount: Decimal
    """The part that gift cards pay."""
    card_amount: Decimal
    discount_amount: Decimal
    refunded_amount: Decimal
    description: str
    reference: str
    expires_on: dt.datetime | None
    time_zone: str
    methods: tuple[PaymentMethod, ...]
    """What the customer can pay with on a page of the provider."""
    token_methods: tuple[PaymentMethod, ...]
    """Those of a browser that hands over the token of a card, such as Apple Pay."""
    seller_country: str
    """ISO 3166 code; may be empty."""
    failure_reason: str
    """Why the last try failed, independent of the payment provider; empty if none did."""
    provider_url: str
    """Where the customer pays at the payment provider; empty unless a try is open there."""
    receipt_url: str
    """Empty before it is paid."""
