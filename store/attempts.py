"""Checkout attempts: what a customer set out to pay, written before the customer leaves for the provider."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Index, text
from sqlmodel import Field, SQLModel

from schema.values import amount, choice, json_column, moment
from store.clock import now


class AttemptState(enum.StrEnum):
    """Where an attempt stands. Everything but the last three holds stock, coupons and gift cards."""

    STARTING = "starting"
    """Written; the provider may or may not know of it yet."""
    OPEN = "open"
    """The customer is at the provider, or the pay-in is not final."""
    COMPLETED = "completed"
    """There is an order."""
    FAILED = "failed"
    """Nothing was charged; what was held is let go."""
    REFUNDING = "refunding"
    """Charged, but the order could no longer be covered: holds are let go, the refund is under way."""
    REFUNDED = "refunded"
    """The card has its money back."""


LIVE = (AttemptState.STARTING, AttemptState.OPEN)
MOVES: dict[AttemptState, frozenset[AttemptState]] = {
    AttemptState.STARTING: frozenset(
        {AttemptState.OPEN, AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.REFUNDING}
    ),
    AttemptState.OPEN: frozenset({AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.REFUNDING}),
    AttemptState.FAILED: frozenset({AttemptState.REFUNDING}),
    AttemptState.REFUNDING: frozenset({AttemptState.REFUNDED}),
    AttemptState.COMPLETED: frozenset(),
    AttemptState.REFUNDED: frozenset(),
}


class AttemptRow(SQLModel, table=True):
    """An attempt. At most one is live for a customer's session and cart."""

    __tablename__ = "checkout_attempt"
    __table_args__ = (
        Index(
            "checkout_attempt_one_live_key",
            "partner_id",
            "cart_id",
            "session_digest",
            unique=True,
            postgresql_where=text("state IN ('starting', 'open')"),
        ),
        Index(
            "checkout_attempt_due_idx", "check_on", postgresql_where=text("state IN ('starting', 'open', 'refunding')")
        ),
        CheckConstraint("total_amount = gift_card_amount + card_amount", name="is_paid"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    state: AttemptState = choice(AttemptState, "Where it stands.", default=AttemptState.STARTING)
    cart_id: UUID
    cart_last_modified: int = Field(sa_type=BigInteger)
    session_digest: str = Field(max_length=64, description="Which browser session it belongs to; only a digest.")
    language: str = Field(default="en", max_length=2)
    return_url: str = Field(default="", max_length=2048)
    lines: list[dict[str, Any]] = json_column("What is bought, with the names and prices of the moment.")
    buyer: dict[str, Any] = json_column("Who buys.")
    delivery: dict[str, Any] = json_column("How it is delivered.")
    vat: list[dict[str, Any]] = json_column("The VAT contained in the total.")
    currency: str = Field(max_length=3)
    products_amount: Decimal = amount()
    discount_amount: Decimal = amount()
    delivery_amount: Decimal = amount()
    total_amount: Decimal = amount()
    gift_card_amount: Decimal = amount()
    card_amount: Decimal = amount()
    created_on: dt.datetime = moment("When it was written.", default_factory=now)
    link_expires_on: dt.datetime | None = moment("When the provider's link ends.", default=None, nullable=True)
    check_on: dt.datetime | None = moment("When the worker looks at it next.", default=None, nullable=True)
    payer_key: UUID = Field(default_factory=uuid4)
    payin_key: UUID = Field(default_factory=uuid4)
    refund_key: UUID | None = Field(default=None)
    payer_id: str = Field(default="", max_length=128)
    payin_id: str = Field(default="", max_length=128, index=True)
    refund_id: str = Field(default="", max_length=128)
    redirect_url: str = Field(default="", max_length=2048)
    failure_code: str = Field(default="", max_length=20)
    failure_reason: str = Field(default="", max_length=40)


class StockHoldRow(SQLModel, table=True):
    """Pieces taken out of stock for an attempt; put back when it fails, gone for good when it completes."""

    __tablename__ = "stock_hold"
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    attempt_id: UUID = Field(foreign_key="checkout_attempt.id", index=True)
    product_id: int = Field(foreign_key="product.id")
    variant_id: int | None = Field(default=None, foreign_key="product_variant.id")
    quantity: int


class CouponHoldRow(SQLModel, table=True):
    """A use of a coupon taken for an attempt; given back when it fails."""

    __tablename__ = "coupon_hold"
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    attempt_id: UUID = Field(foreign_key="checkout_attempt.id", index=True)
    coupon_id: int = Field(foreign_key="coupon.id")
    code: str = Field(max_length=40)
    amount: Decimal = amount()
