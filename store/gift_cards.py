"""Gift cards, as rows: what is left is the sum of entries that are never changed, cached under lock."""

import datetime as dt
import enum
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field, SQLModel

from schema.coupon import ReceptionMode
from schema.errors import CONSTRAINTS, AlreadyTaken, InsufficientBalance
from schema.gift_card import GiftCard
from schema.values import amount, choice, moment
from store.clock import now
from store.document_tokens import document_token


class GiftCardRow(GiftCard, table=True):
    """A gift card. `normal_code` is the code as it is matched: upper case, without spaces and hyphens."""

    __tablename__ = "gift_card"
    __table_args__ = (
        UniqueConstraint("normal_code", name="gift_card_code_key"),
        UniqueConstraint("document_token", name="gift_card_document_token_key"),
        CheckConstraint("remaining_amount >= 0", name="never_below_zero"),
        CheckConstraint("remaining_amount <= value_amount", name="never_above_value"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    normal_code: str = Field(max_length=40)
    document_token: str = Field(default_factory=document_token, max_length=64)
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    reception_mode: ReceptionMode = choice(
        ReceptionMode, "How it reaches its recipient.", length=40, default=ReceptionMode.PRINT_AT_HOME
    )
    gifter_email: str = Field(default="", max_length=254)
    giftee_first_name: str | None = Field(default=None, max_length=80)
    giftee_last_name: str | None = Field(default=None, max_length=80)
    giftee_email: str | None = Field(default=None, max_length=254)
    recipient_address: str | None = Field(default=None, max_length=600)
    message: str | None = Field(default=None, max_length=1000)
    order_id: int | None = Field(default=None, foreign_key="shop_order.id", index=True)
    value_amount: Decimal = amount()
    remaining_amount: Decimal = amount()
    currency: str = Field(default="EUR", max_length=3)
    created_on: dt.datetime = moment("When it was issued.", default_factory=now)


@dataclass(frozen=True, slots=True)
class UsableCard:
    """A gift card as pricing sees it: what it could pay now."""

    id: int
    code: str
    remaining: Decimal


class GiftCardEntryKind(enum.StrEnum):
    """Why the money on a card moved."""

    ISSUE = "issue"
    HOLD = "hold"
    RELEASE = "release"


class GiftCardEntryRow(SQLModel, table=True):
    """One movement of a card: positive puts on, negative takes off. A hold that is never released is what was spent."""

    __tablename__ = "gift_card_entry"
    __table_args__ = (UniqueConstraint("gift_card_id", "attempt_id", "round", "kind", name="gift_card_entry_once_key"),)
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    gift_card_id: int = Field(foreign_key="gift_card.id", index=True)
    kind: GiftCardEntryKind = choice(GiftCardEntryKind, "Why it moved.")
    amount: Decimal = amount()
    attempt_id: UUID | None = Field(default=None, foreign_key="checkout_attempt.id", index=True)
    round: int = Field(default=0)
    created_on: dt.datetime = moment("When it moved.", default_factory=now)


CONSTRAINTS["gift_card_code_key"] = lambda: AlreadyTaken("code", what="code")
CONSTRAINTS["gift_card_never_below_zero"] = InsufficientBalance
