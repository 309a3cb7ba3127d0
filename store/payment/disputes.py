"""The tables of disputes and of the documents that contest them."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import amount_column, datetime_column
from schema.kyc.kyc import KycCheckStatus
from schema.payment.dispute import Dispute, DisputeDocument, DisputeState
from schema.payment.payment import PaymentSourceKind, PaymentTransactionStatus, PaymentTransactionType
from store.core.document_steps import SubmittedRow
from store.core.provider_process import CheckedRow, ReferencedRow
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, PartnerOwned
from store.core.state_machine import StateMachine
from store.payment.payments import PaymentRow, PaymentSourceRow, PaymentTransactionRow

OPEN_STATES = (DisputeState.OPEN, DisputeState.NEEDS_RESPONSE, DisputeState.UNDER_REVIEW)
_ENDED = {DisputeState.WON, DisputeState.LOST, DisputeState.CANCELLED}
DISPUTE_STATES = StateMachine(
    "A dispute",
    {state: {*OPEN_STATES, *_ENDED} - {state} for state in OPEN_STATES},
)
"""The provider decides: notifications are late or lost, so that any state may be the next one that is read."""
EXAMINED = (KycCheckStatus.VALIDATION_ASKED, KycCheckStatus.VALIDATED)


class DisputeRow(PartnerOwned, InCurrency, CreatedOn, Dispute, CheckedRow, ReferencedRow, table=True):
    """A dispute. It changes only under the lock of its payment.

    `version` counts the writes: a state that was read from the provider before another write is discarded.
    """

    __tablename__ = "dispute"
    __table_args__ = (
        UniqueConstraint("provider_id", name="dispute_provider_id_key"),
        Index("dispute_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("dispute_state_list_idx", "partner_id", "state", "created_on", "id"),
        Index("dispute_contest_until_list_idx", "partner_id", "contest_until", "id"),
        Index("dispute_newest_idx", "created_on", "id"),
        Index("dispute_due_idx", "check_on", postgresql_where=text("settled_on IS NULL")),
        Index("dispute_repudiation_idx", "repudiation_id", postgresql_where=text("repudiation_id <> ''")),
        CheckConstraint("dispute_amount > 0", name="disputes_something"),
        CheckConstraint("held_amount BETWEEN 0 AND dispute_amount", name="holds_no_more"),
        CheckConstraint("lost_amount BETWEEN 0 AND dispute_amount", name="loses_no_more"),
        CheckConstraint("settled_amount BETWEEN 0 AND lost_amount", name="settles_no_more"),
        CheckConstraint("partner_share_amount BETWEEN 0 AND dispute_amount", name="shares_no_more"),
        CheckConstraint(
            "partner_share_held_amount BETWEEN 0 AND least(held_amount, partner_share_amount)",
            name="holds_no_more_of_share",
        ),
        CheckConstraint(
            "partner_share_settled_amount BETWEEN 0 AND least(settled_amount, partner_share_amount)",
            name="settles_no_more_of_share",
        ),
        CheckConstraint("(state IN ('won', 'lost', 'cancelled')) = (closed_on IS NOT NULL)", name="is_closed_once"),
    )
    payment_id: UUID = Field(foreign_key="payment.id", index=True)
    version: int = Field(default=0)
    commission_amount: Decimal = amount_column(default=Decimal("0.00"))
    """The commission in the amount, VAT included: what the marketplace loses with it."""
    partner_share_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What of the amount is of the payment's `partner_share_amount`, the commission included."""
    partner_share_held_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What of `held_amount` is kept back of the partner's share."""
    partner_share_settled_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What of `settled_amount` was the partner's."""
    repudiation_id: str = Field(default="", max_length=128)
    """The provider's id of the transaction that took the money; empty while none is taken."""
    author_id: str = Field(default="", max_length=128)
    """The author of that transaction, at the provider."""
    taken_on: dt.datetime | None = datetime_column(
        "When the money was taken; null if it was not.", default=None, nullable=True
    )
    returned_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What came back of it."""
    returned_on: dt.datetime | None = datetime_column("When that was recorded.", default=None, nullable=True)
    key: UUID = Field(default_factory=uuid4)
    sent_at: dt.datetime | None = datetime_column("When the key was stored.", default=None, nullable=True)
    tries: int = Field(default=0)
    """How many keys of its settlement were used up."""
    settlement_id: str = Field(default="", max_length=128)
    """The provider's id of the transfer that settled it."""
    settled_on: dt.datetime | None = datetime_column(
        "When all of its money was accounted for; null before.", default=None, nullable=True
    )


class DisputeDocumentRow(PartnerIndexed, CreatedOn, DisputeDocument, SubmittedRow, table=True):
    """A document."""

    __tablename__ = "dispute_document"
    __table_args__ = (
        Index(
            "dispute_document_file_key",
            "dispute_id",
            "kind",
            "digest",
            unique=True,
            postgresql_where=text("step <> 'abandoned' AND status <> 'REFUSED'"),
        ),
        Index(
            "dispute_document_provider_id_key", "provider_id", unique=True, postgresql_where=text("provider_id <> ''")
        ),
    )
    dispute_id: UUID = Field(foreign_key="dispute.id", index=True)


async def find_dispute_row(db: AsyncSession, provider_id: str) -> DisputeRow | None:
    """The dispute with this id at the provider."""
    query = select(DisputeRow).where(col(DisputeRow.provider_id) == provider_id)
    return (await db.exec(query.execution_options(populate_existing=True))).one_or_none()


async def disputes_of(db: AsyncSession, payment: PaymentRow) -> Sequence[DisputeRow]:
    """The disputes of a locked payment, oldest first."""
    query = select(DisputeRow).where(col(DisputeRow.payment_id) == payment.id)
    ordered = query.order_by(col(DisputeRow.created_on), col(DisputeRow.id))
    return (await db.exec(ordered.execution_options(populate_existing=True))).all()


async def payment_of_payin(db: AsyncSession, payin_id: str) -> PaymentRow | None:
    """The payment of a pay-in by bank card that has succeeded, by the provider's id."""
    payin = PaymentTransactionRow
    query = (
        select(PaymentRow)
        .join(payin, col(payin.payment_id) == col(PaymentRow.id))
        .where(
            col(payin.type) == PaymentTransactionType.PAYIN,
            col(payin.status) == PaymentTransactionStatus.OK,
            col(payin.provider_id) == payin_id,
            col(payin.provider_id) != "",
        )
    )
    return (await db.exec(query)).one_or_none()


async def card_source_of(db: AsyncSession, payment: PaymentRow) -> PaymentSourceRow:
    """The bank card of a locked payment."""
    by_card = col(PaymentSourceRow.kind) == PaymentSourceKind.CREDIT_CARD
    query = select(PaymentSourceRow).where(col(PaymentSourceRow.payment_id) == payment.id, by_card)
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def documents_of_dispute(db: AsyncSession, dispute_id: UUID) -> Sequence[DisputeDocumentRow]:
    """The documents of a dispute, oldest first."""
    query = select(DisputeDocumentRow).where(col(DisputeDocumentRow.dispute_id) == dispute_id)
    ordered = query.order_by(col(DisputeDocumentRow.id))
    return (await db.exec(ordered.execution_options(populate_existing=True))).all()


async def lock_dispute_document(db: AsyncSession, row: DisputeDocumentRow) -> DisputeDocumentRow:
    """The document, locked and read again."""
    query = select(DisputeDocumentRow).where(col(DisputeDocumentRow.id) == row.id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()
