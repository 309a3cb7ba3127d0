"""The tables of gift cards and holds, and the view of their movements in the ledger.

The ledger counts the balance of a card; `remaining_amount` repeats it, kept in the same transaction.
"""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import cast
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, Column, Computed, Index, String, Table, UniqueConstraint, false, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from schema.core.columns import amount_column, datetime_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken, InsufficientBalance
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardHold, GiftCardMovement
from store.core.codes import document_token
from store.core.row import CreatedOn, InCurrency, PartnerIndexed
from store.database.text_search import GENERATED_COLUMN, declare_searchable
from store.database.views import VIEW

OF_PARTNER = text("partner_id IS NOT NULL")
OF_NETWORK = text("partner_id IS NULL")
CODE_KEY = "gift_card_code_key"


class GiftCardRow(InCurrency, CreatedOn, GiftCardGifter, GiftCardGiftee, GiftCard, table=True):
    """A gift card of a partner, or of a network. `normal_code` is the code as it is matched: upper case, without spaces
    and hyphens.
    """

    __tablename__ = "gift_card"
    __table_args__ = (
        UniqueConstraint("normal_code", name=CODE_KEY),
        UniqueConstraint("document_token", name="gift_card_document_token_key"),
        Index("gift_card_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("gift_card_expires_on_list_idx", "partner_id", "expires_on", "id"),
        Index("gift_card_status_list_idx", "partner_id", "status", "created_on", "id"),
        Index("gift_card_newest_idx", "created_on", "id", postgresql_where=OF_PARTNER),
        Index("gift_card_ending_idx", "expires_on", "id", postgresql_where=OF_PARTNER),
        Index("gift_card_due_idx", "expires_on", "id", postgresql_where=text("status IN ('paid', 'using')")),
        CheckConstraint("remaining_amount >= 0", name="never_below_zero"),
        CheckConstraint("remaining_amount <= value_amount", name="never_above_value"),
        CheckConstraint("unowed_amount BETWEEN 0 AND remaining_amount", name="owes_no_less_than_nothing"),
        CheckConstraint(
            "used_elsewhere_amount BETWEEN 0 AND value_amount - remaining_amount", name="counts_what_was_used_elsewhere"
        ),
        CheckConstraint("(partner_id IS NULL) <> (network_id IS NULL)", name="one_issuer"),
        Index("network_gift_card_created_on_idx", "network_id", "created_on", "id", postgresql_where=OF_NETWORK),
        Index("network_gift_card_expires_on_idx", "network_id", "expires_on", "id", postgresql_where=OF_NETWORK),
        Index("network_gift_card_newest_idx", "created_on", "id", postgresql_where=OF_NETWORK),
        Index("network_gift_card_ending_idx", "expires_on", "id", postgresql_where=OF_NETWORK),
    )
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    network_id: int | None = Field(default=None, foreign_key="marketplace.id")
    """The marketplace that issued it; None for a partner's own card."""
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    starts_on: dt.datetime | None = datetime_column(
        "When it can be used for the first time; null: at once.", default=None, nullable=True
    )
    is_active: bool = Field(default=True)
    is_splittable: bool = Field(default=True)
    is_test: bool = Field(default=False)
    """True if it is money of a test book."""
    unowed_amount: Decimal = amount_column(default=Decimal("0.00"))
    """The part of the remaining amount that nobody owes, so that it is not in the ledger: all of it while a network's card
    is a draft and after it was cancelled, and what was booked as breakage.
    """
    used_elsewhere_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What was used of it in the system that it comes from."""
    is_imported: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """True if another system issued it. Of a network's cards that were imported before this was stored, only those that were
    used there are known."""
    normal_code: str = Field(max_length=40)
    book_id: int = Field(default=None, foreign_key="ledger_book.id", nullable=False)
    wallet_id: int = Field(default=None, foreign_key="wallet.id", unique=True, nullable=False)
    document_token: str = Field(default_factory=document_token, max_length=64)

    @property
    def issuing_partner_id(self) -> int:
        """The partner whose own card it is."""
        assert self.partner_id is not None, "this is for partners' own cards"
        return self.partner_id


SEARCH_COLUMNS = {
    "gifter_text": ("g", "search_text(gifter_first_name || ' ' || gifter_last_name || chr(10) || gifter_email)"),
    "giftee_text": (
        "r",
        "search_text(coalesce(giftee_first_name, '') || ' ' || coalesce(giftee_last_name, '') || chr(10) || coalesce(giftee_email, ''))",
    ),
}
"""The columns for text search: names and e-mail address of gifter and giftee."""
_GIFT_CARDS = cast("Table", GiftCardRow.__table__)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
declare_searchable(_GIFT_CARDS, SEARCH_COLUMNS)
SHOWN_STATUS = "CASE WHEN partner_id IS NULL AND is_test AND status IN ('paid', 'using') THEN 'test' ELSE status END"
EMAILS = """CASE WHEN partner_id IS NULL THEN
    array_remove(ARRAY[lower(gifter_email)::text, lower(coalesce(giftee_email, ''))::text], '') END"""
for _generated in (
    Column("shown_status", String(20), Computed(SHOWN_STATUS, persisted=True), nullable=False),
    Column("emails", ARRAY(String), Computed(EMAILS, persisted=True), nullable=True),
):
    _generated.info = dict(GENERATED_COLUMN)
    _GIFT_CARDS.append_column(_generated)
_OF_NETWORK = _GIFT_CARDS.c.partner_id.is_(None)
_LIST = _GIFT_CARDS.c.created_on, _GIFT_CARDS.c.id
_SHOWN = _GIFT_CARDS.c.shown_status
Index("network_gift_card_status_idx", _GIFT_CARDS.c.network_id, _SHOWN, *_LIST, postgresql_where=_OF_NETWORK)
Index("network_gift_card_emails_idx", _GIFT_CARDS.c.emails, postgresql_using="gin", postgresql_where=_OF_NETWORK)


@dataclass(frozen=True, slots=True)
class UsableCard:
    """A gift card in pricing, with the amount that it can pay now."""

    id: int
    code: str
    remaining: Decimal
    is_of_network: bool = False
    is_whole: bool = False
    """True if it pays all of that or nothing."""


class GiftCardHoldRow(PartnerIndexed, CreatedOn, GiftCardHold, table=True):
    """A hold placed through the API. It changes only under the lock of its card."""

    __tablename__ = "gift_card_hold"
    __table_args__ = (
        Index("gift_card_hold_due_idx", "expires_on", "id", postgresql_where=text("state = 'running'")),
        CheckConstraint("held_amount > 0", name="holds_something"),
        CheckConstraint("captured_amount BETWEEN 0 AND held_amount", name="captures_no_more"),
        CheckConstraint("(state = 'running') = (closed_on IS NULL)", name="is_closed_once"),
    )
    currency: str = Field(max_length=3)


class GiftCardMovementRow(InCurrency, CreatedOn, GiftCardMovement, table=True):
    """A movement, read from the ledger: the entry of a journal on the card's account. Positive amounts credit the card.

    A hold ends with a release of its full amount and a capture of what was spent. Holds and releases therefore sum to
    the amount on hold, captures to the amount spent.
    """

    __tablename__ = "gift_card_movement"
    __table_args__ = ({"info": VIEW},)
    partner_id: int | None
    gift_card_id: int


CONSTRAINT_ERRORS[CODE_KEY] = lambda: AlreadyTaken("code", what="code")
CONSTRAINT_ERRORS["gift_card_never_below_zero"] = InsufficientBalance
