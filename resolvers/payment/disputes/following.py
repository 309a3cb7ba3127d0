"""Follows disputes: after notifications, from the provider's list, and until each has ended and is accounted for."""

import datetime as dt
from uuid import UUID

import structlog
from sqlmodel import col, select

from resolvers.core.provider.process import ProviderChecks
from resolvers.core.services import Services
from resolvers.payment.disputes.recording import record_report
from resolvers.payment.disputes.reports import read_report
from resolvers.payment.disputes.settling import awaits_settlement, record_movement, send_settlement
from resolvers.payment.refunds.goods import lock_goods
from schema.core.errors import NotFound
from store.core.provider_process import CheckIntervals
from store.job.jobs import JobKind
from store.payment.disputes import DisputeRow, find_dispute_row, payment_of_payin
from store.providers.errors import ProviderError, ProviderNotFound
from store.providers.transactions import TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
INTERVALS = CheckIntervals(
    by_age=((dt.timedelta(days=1), dt.timedelta(hours=1)), (dt.timedelta(days=30), dt.timedelta(hours=6))),
    longest=dt.timedelta(days=1),
)
CATCH_UP_WINDOW = dt.timedelta(days=60)
"""How far back the provider's list is read for disputes that nobody has told of."""
TRIES = 5
"""How often a dispute is read again because it was written meanwhile. The next check comes in any case."""


async def follow_dispute(services: Services, id: str) -> None:
    """Read a dispute at the provider and record it. Raises ProviderError if the provider cannot tell now."""
    for _ in range(TRIES):
        async with services.db.sessions() as db:
            row = await find_dispute_row(db, id)
        report = await read_report(services, id, row)
        async with services.db.sessions() as db, db.begin():
            payment = await payment_of_payin(db, report.dispute.payin_id)
            if payment is None:
                log.error("a dispute of an unknown payment", dispute=id, payin=report.dispute.payin_id)
                return
            version, now = None if row is None else row.version, services.clock.now()
            if await record_report(db, await lock_goods(db, payment), report, version, now):
                return
    log.warning("a dispute was written whenever it was read", dispute=id)


async def check_dispute(services: Services, id: UUID) -> None:
    """Follow a stored dispute, and settle it if it is lost."""
    row = await _read(services, id)
    if row.settled_on is not None:
        return
    await follow_dispute(services, row.provider_id)
    row = await _read(services, id)
    if awaits_settlement(row):
        await send_settlement(services, row)


async def _read(services: Services, id: UUID) -> DisputeRow:
    async with services.db.sessions() as db:
        row = await db.get(DisputeRow, id)
    if row is None:
        raise NotFound(thing="dispute")
    return row


def next_check(row: DisputeRow, now: dt.datetime) -> dt.datetime:
    return INTERVALS.after(row.created_on, now)


CHECKS = ProviderChecks(
    row=DisputeRow,
    job=JobKind.CHECK_DISPUTE,
    next_check=next_check,
    check=check_dispute,
    conditions=(col(DisputeRow.settled_on).is_(None),),
)


async def handle_dispute_notification(services: Services, id: str) -> None:
    """Handle a notification about a dispute. An unknown one is ignored."""
    try:
        await follow_dispute(services, id)
    except ProviderNotFound:
        log.warning("a notification of an unknown dispute", dispute=id)


async def handle_repudiation_notification(services: Services, repudiation_id: str) -> None:
    """Handle a notification about the transaction that took disputed money, or about its return."""
    try:
        taken = await services.provider.get_transaction(TransactionKind.REPUDIATION, repudiation_id)
        disputes = await services.provider.list_payment_disputes(taken.parent_id or "")
    except ProviderNotFound:
        return
    for dispute in disputes:
        await follow_dispute(services, dispute.id)


async def handle_settlement_notification(services: Services, settlement_id: str) -> None:
    """Handle a notification about a settlement: ours, or one that somebody made at the provider."""
    try:
        settlement = await services.provider.get_transaction(TransactionKind.SETTLEMENT, settlement_id)
    except ProviderNotFound:
        return
    if settlement.status is not TransactionStatus.SUCCEEDED or not settlement.parent_id:
        return
    await handle_repudiation_notification(services, settlement.parent_id)
    await record_movement(services, settlement)


async def follow_missed_disputes(services: Services) -> int:
    """Follow the disputes of the provider's list that are not stored, in case notifications were lost; returns their
    number. Stored ones are checked by themselves.
    """
    count = 0
    try:
        async for dispute in services.provider.list_disputes(services.clock.now() - CATCH_UP_WINDOW):
            async with services.db.sessions() as db:
                known = select(DisputeRow.id).where(col(DisputeRow.provider_id) == dispute.id)
                if (await db.exec(known)).first() is not None:
                    continue
            count += 1
            await follow_dispute(services, dispute.id)
    except ProviderError as error:
        log.warning("the provider's disputes could not be read", error=str(error))
    return count
