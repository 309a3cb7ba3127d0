"""Settlements of lost disputes: what is kept back of the partner's earnings moves to the platform's repudiation wallet;
of a refill, of the marketplace's funds.
"""

import datetime as dt
import uuid
from dataclasses import dataclass

import structlog
from prometheus_client import Counter
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.payment.disputes.recording import record_settled, record_unawaited
from store.payment.dispute_postings import Settlement, due_settlement, is_settlement_posted
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentRow
from store.payment.postings import lock_owners
from store.payment.recording import lock_payment_of
from store.providers.disputes import SettlementRequest
from store.providers.errors import Declined, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import FailureReason, Transaction, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
PAUSES = tuple(dt.timedelta(hours=hours) for hours in (1, 6, 24))
"""How long to wait before a settlement that failed is sent again; the last one is repeated."""
DETAILS = {
    FailureReason.INSUFFICIENT_WALLET: "The wallet at the payment provider does not hold enough money.",
    FailureReason.ALREADY_SETTLED: "It was settled at the payment provider; the settlement is not recorded here yet.",
}
UNKNOWN = "It is not known whether the settlement was made: look it up at the payment provider."
FAILED = Counter("coffret_dispute_settlements_failed", "Settlements of lost disputes that failed, to be sent again.")


@dataclass(frozen=True, slots=True)
class SettlementAnswer:
    """A settlement as the provider tells it, and the key that it was sent with. None: the outcome is not known."""

    key: uuid.UUID
    transaction: Transaction | None


def awaits_settlement(row: DisputeRow) -> bool:
    """True if a loss is to be taken from the owner's wallet, and was not yet."""
    return row.settled_on is None and row.sent_at is not None


async def send_settlement(services: Services, row: DisputeRow) -> DisputeRow:
    """Settle a lost dispute, or ask for the status of its settlement."""
    return await SETTLEMENT.send(services, row, _settle(services, row))


async def _settle(services: Services, row: DisputeRow) -> SettlementAnswer:
    if row.settlement_id:
        found = await services.provider.get_transaction(TransactionKind.SETTLEMENT, row.settlement_id)
        return SettlementAnswer(row.key, found)
    amount = MinorAmount.of(due_settlement(row), row.currency)
    request = SettlementRequest(str(row.id), row.repudiation_id, row.author_id, amount)
    assert row.sent_at is not None, "the key is stored before it is sent"
    try:
        key = IdempotencyKey(str(row.key))
        sent = await services.provider.settle_dispute(request, key=key, sent_at=row.sent_at)
    except Declined as declined:
        sent = declined.transaction
    except UnknownOutcome:
        return SettlementAnswer(row.key, None)
    return SettlementAnswer(row.key, sent)


async def _lock(db: AsyncSession, row: DisputeRow) -> DisputeRow:
    """Lock the payment of a dispute, and reload the dispute: it changes only under that lock."""
    await _payment_of(db, row)
    query = select(DisputeRow).where(col(DisputeRow.id) == row.id)
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def _payment_of(db: AsyncSession, row: DisputeRow) -> PaymentRow:
    return await lock_payment_of(db, row.payment_id)


async def _record(tx: Recording, row: DisputeRow, answer: SettlementAnswer) -> DisputeRow:
    settlement = answer.transaction
    if settlement is not None and settlement.status is TransactionStatus.SUCCEEDED:
        await _record_made(tx.db, row, settlement, tx.now)
        return row
    if not awaits_settlement(row) or row.key != answer.key:
        return row
    row.version += 1
    if settlement is None:
        row.detail, row.check_on = UNKNOWN, tx.now + PAUSES[-1]
        log.error("the outcome of a settlement is unknown", dispute=str(row.id))
    elif settlement.status is TransactionStatus.FAILED:
        reason = settlement.failure.reason if settlement.failure else FailureReason.UNKNOWN
        _send_later(row, tx.now, DETAILS.get(reason, f"The payment provider has refused its settlement: {reason}."))
    else:
        row.settlement_id, row.check_on = settlement.id, tx.now + PAUSES[0]
    return row


async def _record_refused(tx: Recording, row: DisputeRow, refused: RefusedCall[DisputeRow]) -> None:
    if awaits_settlement(row) and row.key == refused.row.key:
        row.version += 1
        _send_later(row, tx.now, f"The payment provider has refused its settlement: {refused.error}"[:300])


def _send_later(row: DisputeRow, now: dt.datetime, detail: str) -> None:
    """Nothing was settled: send it again later, with another key."""
    pause = PAUSES[min(row.tries, len(PAUSES) - 1)]
    row.key, row.settlement_id, row.tries, row.detail = uuid.uuid4(), "", row.tries + 1, detail
    row.sent_at = row.check_on = now + pause
    FAILED.inc()
    log.error("a settlement failed", dispute=str(row.id), detail=detail, tries=row.tries)


SETTLEMENT = ProviderCall(lock=_lock, record=_record, refuse=_record_refused)


async def record_movement(services: Services, settlement: Transaction) -> None:
    """Record a settlement that has been made, by us or by somebody at the provider."""
    async with services.db.sessions() as db, db.begin():
        query = select(DisputeRow).where(
            col(DisputeRow.repudiation_id) == settlement.parent_id, col(DisputeRow.repudiation_id) != ""
        )
        row = (await db.exec(query)).one_or_none()
        if row is None:
            log.error("a settlement of an unknown dispute", settlement=settlement.id)
            return
        await _record_made(db, await _lock(db, row), settlement, services.clock.now())


async def _record_made(db: AsyncSession, row: DisputeRow, settlement: Transaction, now: dt.datetime) -> None:
    """Record a settlement that was made, of a locked dispute: the awaited one, or another. Repeating it changes nothing."""
    payment = await _payment_of(db, row)
    made = Settlement(settlement.id, settlement.amount.decimal, settlement.executed_at or now)
    if await is_settlement_posted(db, payment, row, made):
        return
    await lock_owners(db, payment)
    if awaits_settlement(row):
        row.settlement_id = settlement.id
        await record_settled(db, payment, row, made.amount, now)
    elif row.settlement_id != settlement.id:
        await record_unawaited(db, payment, row, made)
