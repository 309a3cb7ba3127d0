"""The nightly reconciliation: a report is requested from the payment provider, read, and compared with what is recorded.

A run is a row with the key of its report. Each step can be repeated: a process that dies leaves a row from which the next
one goes on.
"""

import datetime as dt
import uuid
from collections.abc import AsyncIterator, Sequence

import structlog
from sqlalchemy import text, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.calls import REFUSALS
from resolvers.core.provider.process import ProviderChecks
from resolvers.core.services import Services
from resolvers.payment.reconciliation.balances import compare_balances
from resolvers.payment.reconciliation.findings import record_comparison
from schema.reconciliation import ReconciliationRunState
from store.core.provider_process import OUTCOME_LIFE, CheckIntervals
from store.job.jobs import JobKind
from store.providers.errors import UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.reports import ProviderReport, ReportedMovement, ReportKind, ReportRequest, ReportStatus
from store.reconciliation.rows import ProviderMovementRow, ReconciliationRunRow, last_reconciliation, lock_run

log = structlog.get_logger(__name__)
REQUESTED, DONE, FAILED = ReconciliationRunState
FIRST_PERIOD = dt.timedelta(days=30)
"""How far back the first reconciliation goes."""
OVERLAP = dt.timedelta(days=10)
"""How much is compared again: the provider reports by creation, and a payout succeeds up to seven days later."""
LONGEST_PERIOD = dt.timedelta(days=365)
"""The longest period of a report."""
GIVEN_UP_AFTER = dt.timedelta(hours=12)
"""A run that is not done by then is left for the next one, which covers its period."""
BALANCES_AGAIN_AFTER = dt.timedelta(minutes=5)
"""A wallet that differs is read again after this time: the provider's balances may be some minutes old."""
INTERVALS = CheckIntervals(
    ((dt.timedelta(minutes=20), dt.timedelta(minutes=1)),),
    longest=dt.timedelta(minutes=10),
)
MOST_TRIES = 5
"""How many reports may fail in one run."""
BATCH = 500


async def begin_reconciliation(services: Services) -> int:
    """Store a run, which the worker carries out; returns its id, or that of the one that is under way."""
    now, table = services.clock.now(), ReconciliationRunRow
    async with services.db.sessions() as db, db.begin():
        late = (col(table.state) == REQUESTED, col(table.until) < now - GIVEN_UP_AFTER)
        ended = {"state": FAILED, "finished_on": now, "check_on": None, "detail": "The next one has begun."}
        await db.exec(update(table).where(*late).values(**ended))
        since = await _period_start(db, now)
        row = table(since=since, until=now, sent_at=now, check_on=now).model_dump(exclude={"id"})
        statement = insert(table).values(**row)
        statement = statement.on_conflict_do_nothing(index_elements=["state"], index_where=text("state = 'requested'"))
        new = (await db.exec(statement.returning(col(table.id)))).scalar_one_or_none()
        under_way = (await db.exec(select(table.id).where(col(table.state) == REQUESTED))).one_or_none()
    found = new or under_way
    return int(found) if found is not None else await begin_reconciliation(services)  # it has ended meanwhile


async def _period_start(db: AsyncSession, now: dt.datetime) -> dt.datetime:
    """Where the last run that was done ended, less the overlap: an outage leaves nothing out."""
    last = await last_reconciliation(db)
    return now - FIRST_PERIOD if last is None else max(last.until - OVERLAP, now - LONGEST_PERIOD)


async def advance_run(services: Services, id: int) -> ReconciliationRunRow:
    """Take the next steps of a run: request its report, look whether it was made, read and compare it. Raises
    ProviderError.
    """
    run = await read_run(services, id)
    if run.state is not REQUESTED:
        return run
    if run.balances_read_on is None:
        run = await _read_balances_first(services, run)
    report = await _report_of(services, run)
    if report is not None and report.status is ReportStatus.FAILED:
        await _note_failure(services, run, report.failure)
    if report is not None and report.status is ReportStatus.READY:
        await _finish(services, run, report)
    return await read_run(services, id)


async def read_run(services: Services, id: int) -> ReconciliationRunRow:
    """A run as it is stored."""
    async with services.db.sessions() as db:
        return await db.get_one(ReconciliationRunRow, id)


async def _read_balances_first(services: Services, run: ReconciliationRunRow) -> ReconciliationRunRow:
    differing = {wallet.subject: wallet.difference for wallet in (await compare_balances(services)).differing}
    async with services.db.sessions() as db, db.begin():
        locked = await lock_run(db, run.id)
        if locked.balances_read_on is None:
            locked.balances_read_on, locked.differences = services.clock.now(), differing
    return locked


async def _report_of(services: Services, run: ReconciliationRunRow) -> ProviderReport | None:
    """The report of a run, which is requested with the stored key if that was not done. None if there is none."""
    try:
        if run.provider_id:
            return await services.provider.get_report(run.provider_id)
        request = ReportRequest(ReportKind.WALLET_MOVEMENTS, run.since, run.until, f"reconciliation-{run.id}")
        report = await services.provider.make_report(request, key=IdempotencyKey(str(run.key)), sent_at=run.sent_at)
    except REFUSALS as error:
        await _note_failure(services, run, str(error))
        return None
    except UnknownOutcome:
        if services.clock.now() - run.sent_at < OUTCOME_LIFE:
            raise
        await _note_failure(services, run, "It is not known whether the report was requested.")
        return None
    async with services.db.sessions() as db, db.begin():
        locked = await lock_run(db, run.id)
        if locked.key == run.key:
            locked.provider_id = report.id
    return report


async def _note_failure(services: Services, run: ReconciliationRunRow, why: str) -> None:
    """Have another report requested with a new key, or give the run up. Its period is covered by the next one."""
    async with services.db.sessions() as db, db.begin():
        locked, now = await lock_run(db, run.id), services.clock.now()
        if locked.state is not REQUESTED or locked.key != run.key:
            return
        locked.tries, locked.detail = locked.tries + 1, why[:300]
        locked.key, locked.sent_at, locked.provider_id = uuid.uuid4(), now, ""
        if locked.tries >= MOST_TRIES:
            locked.state, locked.finished_on, locked.check_on = FAILED, now, None
    log.error("the provider has made no report", run=run.id, detail=why)


async def _finish(services: Services, run: ReconciliationRunRow, report: ProviderReport) -> None:
    """Read the report and compare it. If wallets still differ as they did at first, not before they can be trusted."""
    compared = await compare_balances(services)
    wallets = [each.row() for each in compared.differing if run.differences.get(each.subject) == each.difference]
    known = {wallet["subject"] for wallet in wallets}
    unsure = [*compared.unread, *(each.subject for each in compared.differing if each.subject not in known)]
    again = (run.balances_read_on or run.until) + BALANCES_AGAIN_AFTER
    if wallets and services.clock.now() < again:
        await _note_wait(services, run, again)
        return
    count = await _read_movements(services, report)
    async with services.db.sessions() as db, db.begin():
        locked, now = await lock_run(db, run.id), services.clock.now()
        if locked.state is not REQUESTED or locked.key != run.key:
            return
        locked.state, locked.finished_on, locked.check_on = DONE, now, None
        locked.movements, locked.detail = count, ""
        await record_comparison(db, locked, wallets, unsure, now)


async def _note_wait(services: Services, run: ReconciliationRunRow, again: dt.datetime) -> None:
    """Say what a run waits for."""
    async with services.db.sessions() as db, db.begin():
        locked = await lock_run(db, run.id)
        if locked.state is REQUESTED and locked.key == run.key:
            locked.detail = f"The balance of a wallet differs: it is read again at {again:%H:%M} UTC."


async def _read_movements(services: Services, report: ProviderReport) -> int:
    """Store what a report tells, in batches; returns the number of movements. Repeating it changes nothing."""
    count = 0
    async for batch in _batches(services.provider.read_report(report)):
        async with services.db.sessions() as db, db.begin():
            statement = insert(ProviderMovementRow).values([_values(line) for line in batch])
            told = {name: statement.excluded[name] for name in _values(batch[0]) if name != "provider_id"}
            await db.exec(statement.on_conflict_do_update(index_elements=["provider_id"], set_=told))
        count += len(batch)
    return count


async def _batches(lines: AsyncIterator[ReportedMovement]) -> AsyncIterator[Sequence[ReportedMovement]]:
    """Lines in batches in which no movement is told twice."""
    batch: dict[str, ReportedMovement] = {}
    async for line in lines:
        batch[line.id] = line
        if len(batch) == BATCH:
            yield list(batch.values())
            batch = {}
    if batch:
        yield list(batch.values())


def _values(line: ReportedMovement) -> dict[str, object]:
    return {
        "provider_id": line.id,
        "kind": "" if line.kind is None else line.kind.value,
        "currency": line.debited.currency,
        "credited_currency": line.credited.currency,
        "debited_amount": line.debited.decimal,
        "credited_amount": line.credited.decimal,
        "fees_amount": line.fees.decimal,
        "debited_wallet_id": line.debited_wallet_id,
        "credited_wallet_id": line.credited_wallet_id,
        "created_on": line.created_at,
        "executed_on": line.executed_at,
    }


CHECKS = ProviderChecks(
    row=ReconciliationRunRow,
    job=JobKind.RECONCILE,
    next_check=lambda run, now: INTERVALS.after(run.until, now),
    check=advance_run,
    conditions=(col(ReconciliationRunRow.state) == REQUESTED,),
)
