"""Creates the demo reconciliation: what last night's run has found, in every state."""

import datetime as dt
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.payment.payment import PaymentTransactionStatus, PaymentTransactionType
from schema.reconciliation import ReconciliationFindingKind as Kind
from schema.reconciliation import ReconciliationFindingState as State
from schema.reconciliation import ReconciliationRunState
from store.payment.payments import PaymentTransactionRow
from store.reconciliation.rows import ReconciliationFindingRow, ReconciliationRunRow

DAY, PERIOD = dt.timedelta(days=1), dt.timedelta(days=10)
TOOK = dt.timedelta(minutes=7)
NIGHT = dt.time(1, 23, tzinfo=dt.UTC)


async def add_findings(services: Services) -> None:
    """Last night's run, and findings as runs and people leave them. The next run resolves the one that is open: a payment
    whose notification was late.
    """
    until = _last_night(services.clock.now())
    async with services.db.sessions() as db, db.begin():
        late = await _newest_payin(db)
        db.add(_run(until))
        db.add_all([_moved_by_hand(until, late.currency), _taken_fees(until, late.currency), _late(until, late)])


def _last_night(now: dt.datetime) -> dt.datetime:
    tonight = dt.datetime.combine(now.date(), NIGHT)
    return tonight if tonight <= now else tonight - DAY


def _run(until: dt.datetime) -> ReconciliationRunRow:
    return ReconciliationRunRow(
        state=ReconciliationRunState.DONE,
        since=until - PERIOD,
        until=until,
        sent_at=until,
        finished_on=until + TOOK,
        movements=19,
    )


def _moved_by_hand(until: dt.datetime, currency: str) -> ReconciliationFindingRow:
    return ReconciliationFindingRow(
        kind=Kind.MISSING_HERE,
        state=State.RESOLVED,
        subject="xfer_by_hand",
        currency=currency,
        provider_amount=Decimal("25.00"),
        detail="A transfer that nothing here tells of.",
        first_seen_on=until - 3 * DAY,
        last_seen_on=until - 3 * DAY,
        closed_on=until - 2 * DAY,
    )


def _taken_fees(until: dt.datetime, currency: str) -> ReconciliationFindingRow:
    return ReconciliationFindingRow(
        kind=Kind.BALANCE,
        state=State.EXPLAINED,
        subject=f"FEES_{currency}",
        currency=currency,
        provider_amount=Decimal("102.40"),
        own_amount=Decimal("111.40"),
        detail="The wallet of fees.",
        reason="The payment provider has taken its monthly invoice.",
        first_seen_on=until - 2 * DAY,
        last_seen_on=until - 2 * DAY,
        closed_on=until - 2 * DAY + TOOK,
    )


def _late(until: dt.datetime, payin: PaymentTransactionRow) -> ReconciliationFindingRow:
    return ReconciliationFindingRow(
        kind=Kind.DIFFERS,
        subject=payin.provider_id,
        currency=payin.currency,
        provider_amount=payin.transaction_amount,
        own_amount=payin.transaction_amount,
        detail="It has succeeded there, and is not recorded as done.",
        first_seen_on=until + TOOK,
        last_seen_on=until + TOOK,
    )


async def _newest_payin(db: AsyncSession) -> PaymentTransactionRow:
    table = PaymentTransactionRow
    done = (
        col(table.type) == PaymentTransactionType.PAYIN,
        col(table.status) == PaymentTransactionStatus.OK,
        col(table.provider_id) != "",
    )
    return (await db.exec(select(table).where(*done).order_by(col(table.id).desc()).limit(1))).one()
