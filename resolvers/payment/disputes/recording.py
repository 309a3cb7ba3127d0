"""Disputes in the database: what the provider tells of one is recorded in one transaction, with its journals.

Reports repeat, arrive late and in any order. Each is applied by what it says, not by what came before: a dispute that
is first seen when it is lost is opened, taken and lost in one step.
"""

import datetime as dt
from decimal import Decimal

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.payment.disputes.freezing import freeze_or_release
from resolvers.payment.disputes.notices import tell_of_change, tell_of_opening
from resolvers.payment.disputes.reports import DisputeReport
from resolvers.payment.refunds.goods import SoldGoods
from schema.payment.dispute import DisputeKind, DisputeState
from store.job.jobs import JobKind, enqueue_job
from store.ledger.posting import Journal, post
from store.payment.dispute_postings import (
    SUSPENSE,
    Settlement,
    commission_in_dispute,
    due_settlement,
    lost_journal,
    returned_journal,
    settlement_journal,
    share_in_dispute,
    taken_journal,
)
from store.payment.disputes import DISPUTE_STATES, OPEN_STATES, DisputeRow, card_source_of, find_dispute_row
from store.payment.payments import PaymentRow
from store.payment.postings import lock_owners
from store.providers.disputes import ProviderDispute

log = structlog.get_logger(__name__)
NOTHING = Decimal("0.00")


async def record_report(
    db: AsyncSession, goods: SoldGoods, report: DisputeReport, version: int | None, now: dt.datetime
) -> bool:
    """Record a report about a dispute of a locked payment.

    `version` is that of the row when the report was read, None if there was no row. Returns False, without change, if
    the row has changed since: the report may be outdated.
    """
    row = await find_dispute_row(db, report.dispute.id)
    if (None if row is None else row.version) != version:
        return False
    old = None if row is None else row.state
    row = row or _new_row(goods.payment, report.dispute, now)
    _copy(row, report.dispute)
    _move(row, report, now)
    if not db.is_modified(row) and report.taken is None and not report.returned:
        return True
    row.version += 1
    db.add(row)
    await db.flush()
    await account_for(db, goods.payment, row, report, now)
    if row.state is not old:
        await freeze_or_release(db, goods, now)
        if old is None:
            await tell_of_opening(db, row)
        if old is not None or row.state not in OPEN_STATES:
            await tell_of_change(db, row)
    return True


async def account_for(
    db: AsyncSession, payment: PaymentRow, row: DisputeRow, report: DisputeReport, now: dt.datetime
) -> None:
    """Post what has happened to the money of a dispute, as far as it is known. Whatever is posted is posted once."""
    await lock_owners(db, payment)
    if report.taken is not None and row.taken_on is None:
        row.repudiation_id, row.author_id = report.taken.id, report.taken.payer_id
        row.taken_on = report.taken.executed_at or now
        source = await card_source_of(db, payment)
        row.partner_share_amount = share_in_dispute(payment, source, row.dispute_amount)
        row.commission_amount = commission_in_dispute(payment, source, row.dispute_amount)
        await post(db, [await taken_journal(db, payment, row)])
    if row.state in OPEN_STATES or row.settled_on is not None:
        return
    if row.taken_on is None:
        if not row.lost_amount:
            row.settled_on, row.check_on = now, None
        return
    if row.state is not DisputeState.LOST and not await _record_return(db, payment, row, report, now):
        return
    if due_settlement(row):
        row.sent_at, row.check_on = row.sent_at or now, now
        await enqueue_job(db, JobKind.CHECK_DISPUTE, {"id": row.id}, unique_key=str(row.id))
    else:
        await record_settled(db, payment, row, NOTHING, now)


async def _record_return(
    db: AsyncSession, payment: PaymentRow, row: DisputeRow, report: DisputeReport, now: dt.datetime
) -> bool:
    """Record that the money has come back; returns False while it has not."""
    if row.returned_on is None:
        if report.returned < row.dispute_amount - row.lost_amount:
            return False
        row.returned_amount, row.returned_on = min(report.returned, row.dispute_amount), now
        row.lost_amount = row.dispute_amount - row.returned_amount
        await post(db, [returned_journal(payment, row, now)])
        row.held_amount = row.partner_share_held_amount = NOTHING
    return True


async def record_settled(
    db: AsyncSession, payment: PaymentRow, row: DisputeRow, moved: Decimal, now: dt.datetime
) -> None:
    """All of a dispute's money is accounted for; `moved` of the loss was taken from the owner's wallet."""
    journal = await lost_journal(db, payment, row, moved, now) if row.lost_amount else None
    row.settled_amount, row.held_amount = min(moved, row.lost_amount), NOTHING
    row.partner_share_held_amount = NOTHING
    if journal is not None:
        await _post_settlement(db, row, journal)
    row.settled_on, row.check_on, row.detail = now, None, ""
    row.version += 1


async def record_unawaited(db: AsyncSession, payment: PaymentRow, row: DisputeRow, settlement: Settlement) -> None:
    """Somebody has settled more of a loss that is accounted for already, or where nothing is lost. It must not be posted
    yet.
    """
    await _post_settlement(db, row, await settlement_journal(db, payment, row, settlement))
    if row.settled_on is not None:
        row.settled_amount = min(row.settled_amount + settlement.amount, row.lost_amount)
    row.version += 1


async def _post_settlement(db: AsyncSession, row: DisputeRow, journal: Journal) -> None:
    """Post what was settled; whatever of it is more than was lost stands in suspense, and a person has to see to it."""
    await post(db, [journal])
    unexplained = -sum(entry.amount for entry in journal.entries if entry.account == SUSPENSE)
    if unexplained:
        log.error(
            "more of a dispute was settled than was lost",
            dispute=str(row.id),
            source=journal.source_id,
            minor=unexplained,
        )


def _new_row(payment: PaymentRow, dispute: ProviderDispute, now: dt.datetime) -> DisputeRow:
    return DisputeRow(
        provider_id=dispute.id,
        payment_id=payment.id,
        partner_id=payment.partner_id,
        currency=payment.currency,
        kind=DisputeKind(dispute.type.value),
        dispute_amount=dispute.disputed.decimal,
        created_on=dispute.created_at,
        check_on=now + dt.timedelta(hours=1),
    )


def _copy(row: DisputeRow, dispute: ProviderDispute) -> None:
    """What the provider tells in words and dates."""
    row.kind = DisputeKind(dispute.type.value)
    row.contested_amount = None if dispute.contested is None else dispute.contested.decimal
    row.contest_until = dispute.contest_until
    row.reason_code, row.reason_message = dispute.reason_code[:60], dispute.reason_message[:300]
    row.status_message, row.result_message = dispute.status_message[:300], dispute.result_message[:300]
    if row.closed_on is not None:
        row.closed_on = dispute.closed_at or row.closed_on


def _move(row: DisputeRow, report: DisputeReport, now: dt.datetime) -> None:
    """Move a dispute to the state that is told; one that has ended stays as it is."""
    state = report.state(row.state)
    if state is row.state or row.state not in OPEN_STATES:
        return
    row.state = DISPUTE_STATES.require(row.state, state)
    if state in OPEN_STATES:
        return
    row.closed_on, row.check_on = now, now + dt.timedelta(hours=1)
    if state is DisputeState.LOST and (row.kind is not DisputeKind.RETRIEVAL or report.dispute.repudiation_id):
        row.lost_amount = row.dispute_amount
    elif state is DisputeState.WON and row.contested_amount is not None:
        row.lost_amount = row.dispute_amount - row.contested_amount
