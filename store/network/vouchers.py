"""The tables of network vouchers and their usages."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, Column, ColumnElement, Computed, Index, String, Table, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import amount_column, datetime_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.gift_card.gift_card import GiftCardGiftee, GiftCardGifter
from schema.network.errors import NoUsageLeft
from schema.network.usage import NOTHING
from schema.network.voucher import NetworkVoucher, NetworkVoucherUsage
from store.core.codes import document_token
from store.core.row import CreatedOn, InCurrency, PartnerOwned
from store.database.text_search import GENERATED_COLUMN

CODE_KEY = "network_voucher_code_key"


class NetworkVoucherRow(InCurrency, CreatedOn, GiftCardGifter, GiftCardGiftee, NetworkVoucher, table=True):
    """A network voucher. `normal_code` is the code as it is matched: upper case, without spaces and hyphens."""

    __tablename__ = "network_voucher"
    __table_args__ = (
        UniqueConstraint("normal_code", name=CODE_KEY),
        UniqueConstraint("document_token", name="network_voucher_document_token_key"),
        Index("network_voucher_created_on_list_idx", "marketplace_id", "created_on", "id"),
        Index("network_voucher_expires_on_list_idx", "marketplace_id", "expires_on", "id"),
        Index("network_voucher_status_list_idx", "marketplace_id", "status", "created_on", "id"),
        Index("network_voucher_newest_idx", "created_on", "id"),
        Index("network_voucher_ending_idx", "expires_on", "id"),
        Index(
            "network_voucher_due_idx",
            "expires_on",
            "id",
            postgresql_where=text("status IN ('paid', 'using', 'test')"),
        ),
        CheckConstraint("usage_count BETWEEN 0 AND max_usages", name="uses_no_more"),
        CheckConstraint("usages_elsewhere BETWEEN 0 AND usage_count", name="counts_usages_elsewhere"),
        CheckConstraint("used_amount BETWEEN 0 AND price_amount", name="uses_no_more_than_its_price"),
        CheckConstraint("unowed_amount BETWEEN 0 AND price_amount - used_amount", name="owes_no_less_than_nothing"),
        CheckConstraint("(usage_count = 0) = (first_used_on IS NULL)", name="has_first_usage"),
        CheckConstraint("max_usages >= 1 AND max_days_after_first_usage >= 0", name="limits_in_range"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    is_test: bool = Field(default=False)
    """True if it is money of a test book."""
    normal_code: str = Field(max_length=40)
    unowed_amount: Decimal = amount_column(default=NOTHING)
    """The part of the price that is not used and that nobody owes, so that it is not in the ledger: all of it while the
    voucher is a draft and after it was cancelled, and what was booked as breakage.
    """
    usages_elsewhere: int = Field(default=0)
    """How many of its usages were in the system that it was imported from."""
    used_elsewhere_amount: Decimal = amount_column(default=NOTHING)
    """What these took of the price."""
    first_used_elsewhere_on: dt.datetime | None = datetime_column(
        "When it was first used in the system that it was imported from.", default=None, nullable=True
    )
    book_id: int = Field(foreign_key="ledger_book.id")
    document_token: str = Field(default_factory=document_token, max_length=64)

    @property
    def left_amount(self) -> Decimal:
        """The part of the price that is not used."""
        return self.price_amount - self.used_amount


EMAILS = "array_remove(ARRAY[lower(gifter_email)::text, lower(coalesce(giftee_email, ''))::text], '')"
_VOUCHERS = cast("Table", NetworkVoucherRow.__table__)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
_EMAILS: Column[Any] = Column("emails", ARRAY(String), Computed(EMAILS, persisted=True), nullable=False)
_EMAILS.info = dict(GENERATED_COLUMN)
_VOUCHERS.append_column(_EMAILS)
Index("network_voucher_emails_idx", _EMAILS, postgresql_using="gin")


class NetworkVoucherUsageRow(PartnerOwned, InCurrency, NetworkVoucherUsage, table=True):
    """A usage of a network voucher. It changes only under the lock of its voucher."""

    __tablename__ = "network_voucher_usage"
    __table_args__ = (
        Index("network_voucher_usage_used_on_list_idx", "partner_id", "used_on", "id"),
        Index("network_voucher_usage_newest_idx", "used_on", "id"),
        CheckConstraint("value_amount >= 0", name="takes_no_less_than_nothing"),
        CheckConstraint("net_amount BETWEEN 0 AND value_amount", name="earns_no_more"),
        CheckConstraint("is_active = (cancelled_on IS NULL)", name="is_cancelled_once"),
    )
    fee_rule_id: int | None = Field(default=None, foreign_key="fee_rule.id")
    is_reverse_charge: bool = False
    """Whether no VAT was added because the partner owes it."""


async def find_network_voucher(
    db: AsyncSession, *conditions: ColumnElement[bool], lock: bool = False
) -> NetworkVoucherRow | None:
    """The one network voucher that meets these conditions, locked and read again if requested."""
    query = select(NetworkVoucherRow).where(*conditions)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await db.exec(query)).one_or_none()


async def lock_network_vouchers_of_order(db: AsyncSession, order_id: int) -> Sequence[NetworkVoucherRow]:
    """Lock the network vouchers that were sold with an order, by ascending id."""
    table = NetworkVoucherRow
    query = select(table).where(col(table.order_id) == order_id).order_by(col(table.id)).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).all()


CONSTRAINT_ERRORS[CODE_KEY] = lambda: AlreadyTaken("code", what="code")
CONSTRAINT_ERRORS["network_voucher_uses_no_more"] = NoUsageLeft
