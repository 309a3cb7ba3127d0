"""The tables of payout requests, and of the periods that are gathered."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Index, text
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import amount_column, datetime_column
from schema.payment.payout import PayoutDestination, PayoutRequest, PayoutRequestStatus
from store.core.provider_process import CheckedRow, ReferencedRow
from store.core.row import CreatedOn, InCurrency, PartnerOwned
from store.core.state_machine import StateMachine

OPEN = PayoutRequestStatus.TO_BE_VALIDATED
VALIDATED, CANCELLED = PayoutRequestStatus.VALIDATED, PayoutRequestStatus.CANCELLED
PAID, FAILED = PayoutRequestStatus.PAID, PayoutRequestStatus.FAILED
PAYOUT_STATES = StateMachine(
    "A payout request",
    {OPEN: {VALIDATED, CANCELLED}, VALIDATED: {PAID, FAILED}, PAID: {FAILED}},
    asked_for=True,
)
"""What was paid fails if the bank sends it back."""


class PayoutRequestRow(
    PartnerOwned, InCurrency, CreatedOn, PayoutDestination, PayoutRequest, CheckedRow, ReferencedRow, table=True
):
    """A payout request. It is locked before the accounts of the ledger.

    What was earned in the network is transferred to the partner's wallet first, then all is sent to the bank: each call has
    a key that is stored before. `provider_id` is that of the payout.
    """

    __tablename__ = "payout_request"
    __table_args__ = (
        Index("payout_request_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("payout_request_status_list_idx", "partner_id", "status", "created_on", "id"),
        Index("payout_request_payout_amount_list_idx", "partner_id", "payout_amount", "id"),
        Index("payout_request_newest_idx", "created_on", "id"),
        Index("payout_request_of_status_idx", "status", "created_on", "id"),
        Index("payout_request_largest_idx", "payout_amount", "id"),
        Index("payout_request_due_idx", "check_on", postgresql_where=text("status = 'validated'")),
        Index("payout_request_provider_id_key", "provider_id", unique=True, postgresql_where=text("provider_id <> ''")),
        CheckConstraint("payout_amount > 0 OR status IN ('to be validated', 'cancelled')", name="pays_something"),
        CheckConstraint("network_amount BETWEEN 0 AND payout_amount OR status = 'cancelled'", name="network_part"),
        CheckConstraint("recovered_amount >= 0", name="recovers"),
        CheckConstraint("first_day <= last_day", name="period"),
        CheckConstraint(
            "(status IN ('to be validated', 'cancelled')) = (validated_on IS NULL)", name="is_validated_once"
        ),
        CheckConstraint("validated_by_id <> first_validated_by_id", name="second_user"),
        CheckConstraint(
            "num_nulls(first_validated_by_id, first_validated_on, first_validated_amount, first_validated_bank_account_id) "
            "IN (0, 4)",
            name="is_first_validated_once",
        ),
    )
    book_id: int = Field(foreign_key="ledger_book.id")
    gathered_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What was gathered into it, whatever has left it since."""
    first_validated_amount: Decimal | None = amount_column(default=None, nullable=True)
    first_validated_bank_account_id: int | None = Field(default=None, foreign_key="bank_account.id")
    """What the first of two users has validated: that much, to there."""
    first_token_created_by_id: int | None = Field(default=None, foreign_key="app_user.id")
    """Who has created the token of the first of two users."""
    bank_account_id: int | None = Field(default=None, foreign_key="bank_account.id")
    """Where it is sent, once it is validated."""
    wallet_id: int | None = Field(default=None, foreign_key="wallet.id")
    """Where it comes from, once it is validated."""
    network_amount: Decimal = amount_column(default=Decimal("0.00"))
    """The part that is reserved of what was earned in the network, once it is validated."""
    recovered_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What is sent along to the wallet of fees, for what the partner owes."""
    settlement_key: UUID = Field(default_factory=uuid4)
    settlement_sent_at: dt.datetime | None = datetime_column(
        "When the key of its transfer was stored.", default=None, nullable=True
    )
    settlement_tries: int = Field(default=0)
    """How often the provider has refused the transfer."""
    settled_on: dt.datetime | None = datetime_column(
        "When all of it lay in the partner's wallet; null before.", default=None, nullable=True
    )
    key: UUID = Field(default_factory=uuid4)
    sent_at: dt.datetime | None = datetime_column("When the key of its payout was stored.", default=None, nullable=True)
    tries: int = Field(default=0)
    """How many keys were used up."""
    failure_code: str = Field(default="", max_length=20)
    pdf_made_on: dt.datetime | None = datetime_column("When its PDF was first made.", default=None, nullable=True)
    xlsx_made_on: dt.datetime | None = datetime_column(
        "When its spreadsheet was first made.", default=None, nullable=True
    )


class PayoutScheduleRow(SQLModel, table=True):
    """Until when the earnings of a partner are gathered, in one book. It is locked to gather more."""

    __tablename__ = "payout_schedule"
    partner_id: int = Field(foreign_key="partner.id", primary_key=True)
    book_id: int = Field(foreign_key="ledger_book.id", primary_key=True)
    first_day: dt.date
    """The first day of the last period that was gathered."""
    gathered_until: dt.date
    """The last day of that period."""


class FormerPayoutItemRow(SQLModel, table=True):
    """A payable item that was in a payout request which was cancelled or has failed."""

    __tablename__ = "former_payout_item"
    __table_args__ = (Index("former_payout_item_of_item_idx", "payable_item_id"),)
    payout_request_id: int = Field(foreign_key="payout_request.id", primary_key=True)
    payable_item_id: int = Field(sa_type=BigInteger, primary_key=True)


LOCK_ITEMS = text("""
    SELECT count(pg_advisory_xact_lock(hashtext('payable_item'), partner_id))
    FROM (SELECT DISTINCT unnest(CAST(:partner_ids AS int[])) AS partner_id ORDER BY 1) partners
""")


async def lock_payout(db: AsyncSession, id: int) -> PayoutRequestRow:
    """The payout request, locked and read again, with the payable items of its partner."""
    (payout,) = await lock_payouts(db, [id])
    return payout


async def lock_payouts(db: AsyncSession, ids: Sequence[int]) -> Sequence[PayoutRequestRow]:
    """The same for several."""
    query = select(PayoutRequestRow).where(col(PayoutRequestRow.id).in_(ids)).order_by(col(PayoutRequestRow.id))
    payouts = (await db.exec(query.with_for_update().execution_options(populate_existing=True))).all()
    await lock_items(db, [payout.partner_id for payout in payouts])
    return payouts


async def lock_items(db: AsyncSession, partner_ids: Sequence[int]) -> None:
    """Payable items of these partners enter, leave and move between payout requests in one transaction at a time, until its
    end. Locked after payout requests and before accounts of the ledger. What is new is posted meanwhile.

    Items themselves cannot be locked in one order: which ones a transaction takes depends on those it has moved before.
    """
    await (await db.connection()).execute(LOCK_ITEMS, {"partner_ids": list(partner_ids)})
