"""The tables of gift cards and holds, and the view of their movements in the ledger.

The ledger counts the balance of a card; `remaining_amount` repeats it, kept in the same transaction.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint, text
from sqlmodel import Field

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken, InsufficientBalance
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardHold, GiftCardMovement
from store.core.codes import document_token
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, PartnerOwned
from store.database.text_search import declare_searchable
from store.database.views import VIEW


class GiftCardRow(PartnerOwned, InCurrency, CreatedOn, GiftCardGifter, GiftCardGiftee, GiftCard, table=True):
    """A gift card. `normal_code` is the code as it is matched: upper case, without spaces and hyphens."""

    __tablename__ = "gift_card"
    __table_args__ = (
        UniqueConstraint("normal_code", name="gift_card_code_key"),
        UniqueConstraint("document_token", name="gift_card_document_token_key"),
        Index("gift_card_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("gift_card_expires_on_list_idx", "partner_id", "expires_on", "id"),
        Index("gift_card_status_list_idx", "partner_id", "status", "created_on", "id"),
        Index("gift_card_newest_idx", "created_on", "id"),
        Index("gift_card_ending_idx", "expires_on", "id"),
        Index("gift_card_due_idx", "expires_on", "id", postgresql_where=text("status IN ('paid', 'using')")),
        CheckConstraint("remaining_amount >= 0", name="never_below_zero"),
        CheckConstraint("remaining_amount <= value_amount", name="never_above_value"),
    )
    normal_code: str = Field(max_length=40)
    book_id: int = Field(default=None, foreign_key="ledger_book.id", nullable=False)
    wallet_id: int = Field(default=None, foreign_key="wallet.id", unique=True, nullable=False)
    document_token: str = Field(default_factory=document_token, max_length=64)


SEARCH_COLUMNS = {
    "gifter_text": ("g", "search_text(gifter_first_name || ' ' || gifter_last_name || chr(10) || gifter_email)"),
    "giftee_text": (
        "r",
        "search_text(coalesce(giftee_first_name, '') || ' ' || coalesce(giftee_last_name, '') || chr(10) || coalesce(giftee_email, ''))",
    ),
}
"""The columns for text search: names and e-mail address of gifter and giftee."""
declare_searchable(cast("Table", GiftCardRow.__table__), SEARCH_COLUMNS)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__


@dataclass(frozen=True, slots=True)
class UsableCard:
    """A gift card in pricing, with the amount that it can pay now."""

    id: int
    code: str
    remaining: Decimal


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


class GiftCardMovementRow(PartnerIndexed, InCurrency, CreatedOn, GiftCardMovement, table=True):
    """A movement, read from the ledger: the entry of a journal on the card's account. Positive amounts credit the card.

    A hold ends with a release of its full amount and a capture of what was spent. Holds and releases therefore sum to
    the amount on hold, captures to the amount spent.
    """

    __tablename__ = "gift_card_movement"
    __table_args__ = ({"info": VIEW},)
    gift_card_id: int


CONSTRAINT_ERRORS["gift_card_code_key"] = lambda: AlreadyTaken("code", what="code")
CONSTRAINT_ERRORS["gift_card_never_below_zero"] = InsufficientBalance
