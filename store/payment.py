"""Checkout attempts: what a customer set out to pay, written before the customer leaves for the provider."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Index, text
from sqlmodel import Field, SQLModel

from schema.checkout.checkout import ShopKind
from schema.core.resource import amount, choice, json_column, moment
from store.core.clock import now


class AttemptState(enum.StrEnum):
    """Where an attempt stands. The first two hold stock, coupons and gift cards; a completed one has spent them."""

    STARTING = "starting"
    """Written; the provider may or may not know of it yet."""
    OPEN = "open"
    """The customer is at the provider, or the pay-in is not final."""
    ABANDONED = "abandoned"
    """What was held is let go, but the pay-in could still be paid: it is watched until it is final."""
    COMPLETED = "completed"
    """There is an order."""
    FAILED = "failed"
    """Nothing was charged; what was held is let go."""
    REFUNDING = "refunding"
    """Charged, but the order could no longer be covered: holds are let go, the refund is under way."""
    REFUNDED = "refunded"
    """The card has its money back."""


LIVE = (AttemptState.STARTING, AttemptState.OPEN)
WATCHED = (*LIVE, AttemptState.ABANDONED, AttemptState.REFUNDING)
MOVES: dict[AttemptState, frozenset[AttemptState]] = {
    AttemptState.STARTING: frozenset(
        {AttemptState.OPEN, AttemptState.ABANDONED, AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.REFUNDING}
    ),
    AttemptState.OPEN: frozenset(
        {AttemptState.ABANDONED, AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.REFUNDING}
    ),
    AttemptState.ABANDONED: frozenset({AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.REFUNDING}),
    AttemptState.FAILED: frozenset({AttemptState.ABANDONED}),
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
            "kind",
            "cart_id",
            "session_digest",
            unique=True,
            postgresql_where=text("state IN ('starting', 'open')"),
        ),
        Index("checkout_attempt_cart_idx", "partner_id", "cart_id"),
        Index(
            "checkout_attempt_due_idx",
            "check_on",
            postgresql_where=text("state IN ('starting', 'open', 'abandoned', 'refunding')"),
        ),
        CheckConstraint("total_amount = gift_card_amount + card_amount", name="is_paid"),
    )
    partner_id: int = Field(foreign_key="partner.id")
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    kind: ShopKind = choice(ShopKind, "What is bought.", default=ShopKind.PRODUCTS)
    state: AttemptState = choice(AttemptState, "Where it stands.", default=AttemptState.STARTING)
    cart_id: UUID = Field(description="The cart, or the bag.")
    cart_last_modified: int = Field(sa_type=BigInteger)
    session_digest: str = Field(max_length=64, description="Which browser session it belongs to; only a digest.")
    language: str = Field(default="en", max_length=2)
    return_url: str = Field(default="", max_length=2048)
    lines: list[dict[str, Any]] = json_column("What is bought, with the names and prices of the moment.")
    buyer: dict[str, Any] = json_column("Who buys.")
    delivery: dict[str, Any] = json_column("How it is delivered.")
    vat: list[dict[str, Any]] = json_column("The VAT contained in the total.")
    coupons: list[dict[str, Any]] = json_column("The coupons, and what each takes off.", default_factory=list)
    cards: list[dict[str, Any]] = json_column("The gift cards, and what each pays.", default_factory=list)
    held: bool = Field(
        default=False, description="Whether stock, coupons and gift cards are held for it, or spent by it."
    )
    round: int = Field(default=0, description="How often they have been taken.")
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
    refund_id: str = Field(default="", max_length=128, index=True)
    redirect_url: str = Field(default="", max_length=2048)
    fingerprint: str = Field(
        default="", max_length=64, description="What it pays for, to tell whether a second press is the same."
    )
    failure_code: str = Field(default="", max_length=20)
    failure_reason: str = Field(default="", max_length=40)

    def ordered(self, cart_last_modified: int) -> bool:
        """Whether it made an order of this writing of its cart or bag, which may not be gone yet."""
        return self.state is AttemptState.COMPLETED and self.cart_last_modified == cart_last_modified


def move(attempt: AttemptRow, to: AttemptState) -> None:
    """Change the state of a locked attempt. A move that the table does not know is a bug, not a refusal."""
    if to not in MOVES[attempt.state]:
        raise RuntimeError(f"A checkout attempt does not go from {attempt.state} to {to}.")
    attempt.state = to
