"""Checks payment attempts that are not final: periodically, on provider notifications, and from the provider's event
list.
"""

import datetime as dt
import uuid

import structlog
from sqlmodel import col, select

from resolvers.core.provider_process import ProviderChecks
from resolvers.core.services import Services
from resolvers.payment.completion import next_check, read_attempt, record_pending, sync_attempt
from store.job.cursors import PROVIDER_EVENTS, advance_cursor, read_until
from store.job.jobs import JobKind, enqueue_job
from store.payment.attempts import POLLED, AttemptRow, AttemptState
from store.providers.errors import InvalidRequest, ProviderError
from store.providers.errors import ProviderNotFound as UnknownToProvider
from store.providers.transactions import TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
CATCH_UP_WINDOW = dt.timedelta(hours=2)
"""How far back the first reading of an installation goes."""
OVERLAP = dt.timedelta(minutes=30)
"""How much is read again, because the provider may list an event late. Repeated events find nothing new."""


async def handle_notification(services: Services, kind: TransactionKind, transaction_id: str) -> None:
    """Handle a notification about a pay-in or refund: check its attempt, if it is one of ours."""
    column = AttemptRow.payin_id if kind is TransactionKind.PAYIN else AttemptRow.refund_id
    async with services.db.sessions() as db:
        known = (await db.exec(select(AttemptRow.id).where(col(column) == transaction_id))).first()
    if known is not None and kind is TransactionKind.PAYIN:
        await _reopen_if_paid(services, known, transaction_id)
    attempt_id = known or await _find_by_reference(services, kind, transaction_id)
    if attempt_id is not None:
        await CHECKS.poll(services, attempt_id)


async def _reopen_if_paid(services: Services, attempt_id: uuid.UUID, payin_id: str) -> None:
    """Reopen a failed attempt whose pay-in has succeeded after all."""
    if (await read_attempt(services, attempt_id)).state is not AttemptState.FAILED:
        return
    payin = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
    if payin.status is TransactionStatus.SUCCEEDED:
        log.error("a failed payment was paid afterwards", attempt=str(attempt_id), payin=payin_id)
        await record_pending(services, attempt_id, payin)


async def _find_by_reference(services: Services, kind: TransactionKind, transaction_id: str) -> uuid.UUID | None:
    """The attempt named by the transaction's reference, for a transaction whose id was lost with the response."""
    try:
        transaction = await services.provider.get_transaction(kind, transaction_id)
        attempt_id = uuid.UUID(transaction.reference)
    except (UnknownToProvider, ValueError):
        return None
    async with services.db.sessions() as db:
        known = await db.get(AttemptRow, attempt_id)
    if known is not None and kind is TransactionKind.PAYIN and not known.payin_id:
        await record_pending(services, attempt_id, transaction)
    return attempt_id if known else None


CHECKS = ProviderChecks(
    row=AttemptRow,
    job=JobKind.SETTLE_ATTEMPT,
    next_check=next_check,
    check=sync_attempt,
    unanswered=record_pending,
    conditions=(col(AttemptRow.state).in_(POLLED),),
)


async def enqueue_missed_events(services: Services) -> int:
    """Enqueue the provider's events since the last complete reading, in case notifications were lost; returns their
    number. After an outage it resumes where it ended, as far back as the provider keeps its events (45 days).
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
            count += 1
            async with services.db.sessions() as db, db.begin():
                payload = {"subject": hint.subject, "id": hint.resource_id}
                await enqueue_job(db, JobKind.PROVIDER_HINT, payload, unique_key=f"{hint.subject}:{hint.resource_id}")
    except InvalidRequest as error:
        log.warning("the provider refuses to list some events", error=str(error), fields=error.fields)
    async with services.db.sessions() as db, db.begin():
        await advance_cursor(db, PROVIDER_EVENTS, begun)
    return count
