"""Checks payment attempts that are not final: periodically, on provider notifications, and from the provider's event
list.
"""

import datetime as dt
import uuid

import structlog
from sqlalchemy import update
from sqlmodel import col, select

from resolvers.core.provider.events import enqueue_event, is_handled
from resolvers.core.provider.process import ProviderChecks
from resolvers.core.services import Services
from resolvers.payment.checkout.completion import next_check, read_attempt, record_pending, sync_attempt
from store.job.cursors import PROVIDER_EVENTS, advance_cursor, read_until
from store.job.jobs import JobKind
from store.payment.attempts import UNSETTLED, AttemptRow, AttemptState
from store.providers.errors import InvalidRequest, ProviderError
from store.providers.errors import ProviderNotFound as UnknownToProvider
from store.providers.transactions import TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
CATCH_UP_WINDOW = dt.timedelta(hours=2)
"""How far back the first reading of an installation goes."""
OVERLAP = dt.timedelta(minutes=30)
"""How much is read again, because the provider may list an event late. Repeated events find nothing new."""


async def handle_notification(services: Services, payin_id: str, *, notified: bool = False) -> bool:
    """Handle a hint about a pay-in: check its attempt. Returns False if it has none.

    `notified`: the hint is a notification, not an event that was read from the provider's list.
    """
    async with services.db.sessions() as db:
        known = (await db.exec(select(AttemptRow.id).where(col(AttemptRow.payin_id) == payin_id))).first()
    if known is not None:
        await _reopen_if_paid(services, known, payin_id)
    attempt_id = known or await _find_by_reference(services, payin_id)
    if attempt_id is None:
        return False
    if notified:
        await _note_notification(services, attempt_id)
    await CHECKS.poll(services, attempt_id)
    return True


async def _note_notification(services: Services, attempt_id: uuid.UUID) -> None:
    unnoted = update(AttemptRow).where(col(AttemptRow.id) == attempt_id, ~col(AttemptRow.notified))
    async with services.db.sessions() as db, db.begin():
        await db.exec(unnoted.values(notified=True))


async def _reopen_if_paid(services: Services, attempt_id: uuid.UUID, payin_id: str) -> None:
    """Reopen a failed attempt whose pay-in has succeeded after all."""
    if (await read_attempt(services, attempt_id)).state is not AttemptState.FAILED:
        return
    payin = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
    if payin.status is TransactionStatus.SUCCEEDED:
        log.error("a failed payment was paid afterwards", attempt=str(attempt_id), payin=payin_id)
        await record_pending(services, attempt_id, payin)


async def _find_by_reference(services: Services, payin_id: str) -> uuid.UUID | None:
    """The attempt named by the pay-in's reference, for a pay-in whose id was lost with the response."""
    try:
        transaction = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
        attempt_id = uuid.UUID(transaction.reference)
    except (UnknownToProvider, ValueError):
        return None
    async with services.db.sessions() as db:
        known = await db.get(AttemptRow, attempt_id)
    if known is not None and not known.payin_id:
        await record_pending(services, attempt_id, transaction)
    return attempt_id if known else None


CHECKS = ProviderChecks(
    row=AttemptRow,
    job=JobKind.SETTLE_ATTEMPT,
    next_check=next_check,
    check=sync_attempt,
    unanswered=record_pending,
    conditions=(col(AttemptRow.state).in_(UNSETTLED),),
)


async def enqueue_missed_events(services: Services) -> int:
    """Enqueue the provider's events since the last complete reading that were not handled yet, in case notifications were
    lost; returns their number. After an outage it resumes where it ended, as far back as the provider keeps its events
    (45 days).
    """
    try:
        return await _read_events(services)
    except ProviderError as error:
        log.warning("the provider's events could not be read", error=str(error))
        return 0


async def _read_events(services: Services) -> int:
    """Read the events and enqueue them; only then note how far. If it is interrupted, they are read again.

    Types that the provider refuses to list do not hold up the others.
    """
    begun, count = services.clock.now(), 0
    async with services.db.sessions() as db:
        last = await read_until(db, PROVIDER_EVENTS)
    since = begun - CATCH_UP_WINDOW if last is None else min(last - OVERLAP, begun - OVERLAP)
    try:
        async for hint in services.provider.events_since(since):
            if await is_handled(services, hint.dedupe_id):
                continue
            count += 1
            async with services.db.sessions() as db, db.begin():
                await enqueue_event(db, hint, notified=False)
    except InvalidRequest as error:
        log.warning("the provider refuses to list some events", error=str(error), fields=error.fields)
    async with services.db.sessions() as db, db.begin():
        await advance_cursor(db, PROVIDER_EVENTS, begun)
    return count
