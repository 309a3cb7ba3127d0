"""The table of payout adjustments, their journals and events."""

from sqlalchemy import CheckConstraint, Index
from sqlmodel import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.payment.adjustment import PayoutAdjustment, PayoutAdjustmentStatus
from store.core.row import CreatedOn, InCurrency, PartnerOwned
from store.core.state_machine import StateMachine
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.ledger.accounts import LedgerAccount
from store.ledger.posting import Entry, Journal, credit, debit
from store.payout.postings import PartnerAccounts, PartnerBalances, lock_balances
from store.providers.money import MinorAmount

PENDING, BOOKED = PayoutAdjustmentStatus.PENDING, PayoutAdjustmentStatus.BOOKED
REJECTED = PayoutAdjustmentStatus.REJECTED
ADJUSTMENT_STATES = StateMachine("An adjustment", {PENDING: {BOOKED, REJECTED}}, asked_for=True)
SOURCE = "payout_adjustment"
"""The kind of source of their journals."""
PROMOTION, CHARGES = LedgerAccount(Role.PROMOTION), LedgerAccount(Role.PARTNER_CHARGES)


class PayoutAdjustmentRow(PartnerOwned, InCurrency, CreatedOn, PayoutAdjustment, table=True):
    """An adjustment. It is locked before the accounts of the ledger."""

    __tablename__ = "payout_adjustment"
    __table_args__ = (
        Index("payout_adjustment_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("payout_adjustment_status_list_idx", "partner_id", "status", "created_on", "id"),
        Index("payout_adjustment_newest_idx", "created_on", "id"),
        CheckConstraint("adjustment_amount <> 0", name="changes_something"),
        CheckConstraint("decided_by_id <> requested_by_id", name="second_user"),
        CheckConstraint(
            "status = 'pending' AND decided_by_id IS NULL OR status = 'booked' AND NOT requires_approval"
            " OR status <> 'pending' AND decided_by_id IS NOT NULL",
            name="is_decided",
        ),
        CheckConstraint("(status = 'booked') = (booked_on IS NOT NULL)", name="is_booked_once"),
        CheckConstraint("(status = 'rejected') = (rejected_on IS NOT NULL)", name="is_rejected_once"),
    )
    book_id: int = Field(foreign_key="ledger_book.id")
    token_created_by_id: int | None = Field(default=None, foreign_key="app_user.id")
    """Who has created the token of the user who requested it."""


async def adjustment_journal(db: AsyncSession, adjustment: PayoutAdjustmentRow) -> Journal:
    """The journal of an adjustment. It locks the balances of the partner.

    What a partner receives lies in the marketplace's wallet, as its earnings in the network do. What is taken from it is taken
    there first, then kept of its own earnings; the rest it owes.
    """
    amount = MinorAmount.of(adjustment.adjustment_amount, adjustment.currency).minor
    balances = await lock_balances(db, adjustment.book_id, adjustment.partner_id)
    of = PartnerAccounts.of(adjustment.partner_id)
    given = (debit(PROMOTION, amount), credit(of.network, amount))
    return Journal(
        book_id=adjustment.book_id,
        partner_id=adjustment.partner_id,
        kind=Kind.ADJUSTMENT,
        source_kind=SOURCE,
        source_id=str(adjustment.id),
        entries=given if amount > 0 else _entries_of_debit(of, balances, -amount),
    )


def _entries_of_debit(of: PartnerAccounts, balances: PartnerBalances, amount: int) -> tuple[Entry, ...]:
    of_network = min(amount, balances.network)
    kept = min(amount - of_network, max(balances.own - balances.shortfall, 0))
    return (
        debit(of.network, of_network),
        debit(of.own, kept),
        credit(of.recovery_due, kept),
        debit(of.owed, amount - of_network),
        credit(CHARGES, amount),
    )


async def emit_adjustment_event(db: AsyncSession, kind: EventType, adjustment: PayoutAdjustmentRow) -> None:
    """Emit an event about an adjustment. `schema.event_payments` documents its data."""
    data = {
        "id": adjustment.id,
        "status": adjustment.status.value,
        "amount": money_data(adjustment.adjustment_amount, adjustment.currency),
        "reason": adjustment.reason,
        "requires_approval": adjustment.requires_approval,
        "rejection_reason": adjustment.rejection_reason,
        "created_on": datetime_data(adjustment.created_on),
        "booked_on": datetime_data(adjustment.booked_on),
    }
    await emit(db, NewEvent(kind, partner_id=adjustment.partner_id, subject=str(adjustment.id), data=data))
