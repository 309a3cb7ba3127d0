"""Looks at checkout attempts that are not final: when one is due, when the provider says something, after a silence."""

import datetime as dt
import uuid

import structlog
from sqlmodel import col, select

from resolvers.core.context import Services
from resolvers.payment.completion import next_check, read_attempt, settle, wait
from store.job.jobs import Job, enqueue
from store.payment import WATCHED, AttemptRow, AttemptState
from store.providers.base import NotFound as UnknownToProvider
from store.providers.base import ProviderError, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
EACH_SWEEP = 200
CATCH_UP = dt.timedelta(hours=2)


async def settle_attempt(services: Services, attempt_id: uuid.UUID) -> None:
    """One look at one attempt. A provider that can't answer now is asked again later, ever more rarely."""
    try:
        await settle(services, attempt_id)
    except ProviderError as error:
        log.warning("the provider could not tell how an attempt stands", attempt=str(attempt_id), error=str(error))
        await wait(services, attempt_id)


async def follow_hint(services: Services, kind: TransactionKind, transaction_id: str) -> None:
    """Something happened at the provider: look at the attempt it belongs to, if it is one of ours."""
    column = AttemptRow.payin_id if kind is TransactionKind.PAYIN else AttemptRow.refund_id
    async with services.db.sessions() as db:
        known = (await db.exec(select(AttemptRow.id).where(col(column) == transaction_id))).first()
    if known is not None and kind is TransactionKind.PAYIN:
        await _believe(services, known, transaction_id)
    found = known or await _named(services, kind, transaction_id)
    if found is not None:
        await settle_attempt(services, found)


async def _believe(services: Services, attempt_id: uuid.UUID, payin_id: str) -> None:
    """Take up an attempt again that we were told had failed, should its pay-in be paid after all."""
    if (await read_attempt(services, attempt_id)).state is not AttemptState.FAILED:
        return
    payin = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
    if payin.status is TransactionStatus.SUCCEEDED:
        log.error("a failed payment is paid after all", attempt=str(attempt_id), payin=payin_id)
        await wait(services, attempt_id, payin)


async def _named(services: Services, kind: TransactionKind, transaction_id: str) -> uuid.UUID | None:
    """The attempt that a transaction refers to, for one whose id was lost with the answer that told it."""
    try:
        transaction = await services.provider.get_transaction(kind, transaction_id)
        attempt_id = uuid.UUID(transaction.reference)
    except (UnknownToProvider, ValueError):
        return None
    async with services.db.sessions() as db:
        known = await db.get(AttemptRow, attempt_id)
    if known is not None and kind is TransactionKind.PAYIN and not known.payin_id:
        await wait(services, attempt_id, transaction)
    return attempt_id if known else None


async def sweep(services: Services) -> int:
    """Enqueue a look at every attempt that is due; answers how many.

    Each has its next look set at once, so that some whose looks fail never keep the others waiting.
    """
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        due = (
            select(AttemptRow)
            .where(col(AttemptRow.state).in_(WATCHED), col(AttemptRow.check_on) <= now)
            .order_by(col(AttemptRow.check_on))
            .limit(EACH_SWEEP)
            .with_for_update(skip_locked=True)
        )
        rows = (await db.exec(due)).all()
        for row in rows:
            row.check_on = next_check(row, now)
            await enqueue(db, Job.SETTLE_ATTEMPT, {"id": row.id}, once=str(row.id))
        return len(rows)


async def catch_up(services: Services) -> int:
    """Read the provider's events of the last hours, for notifications that never came; answers how many there were."""
    try:
        return await _read_events(services)
    except ProviderError as error:
        log.warning("the provider's events could not be read", error=str(error))
        return 0


async def _read_events(services: Services) -> int:
    count = 0
    async for hint in services.provider.events_since(services.clock.now() - CATCH_UP):
        count += 1
        async with services.db.sessions() as db, db.begin():
            payload = {"subject": hint.subject, "id": hint.resource_id}
            await enqueue(db, Job.PROVIDER_HINT, payload, once=f"{hint.subject}:{hint.resource_id}")
    return count
