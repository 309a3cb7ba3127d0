"""Jobs: work after a commit, enqueued in the transaction that requires it and run by a worker."""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import asyncpg
import orjson
import structlog
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.domain.types import JobId
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import AlreadyQueued
from store.core.telemetry import tracing
from store.database.driver import driver_of
from store.job.queue import JobQueue, wake_workers

DELETE_FAILED_JOBS = "DELETE FROM pgqueuer WHERE status = 'failed' AND updated < :before"
DELETE_LOG = "DELETE FROM pgqueuer_log WHERE created < :before"
DELETE_STATISTICS = "DELETE FROM pgqueuer_statistics WHERE created < :before"


class JobKind(StrEnum):
    """All kinds of jobs. Each is safe to run twice."""

    SETTLE_ATTEMPT = "settle_attempt"
    """Ask the provider for the status of a payment attempt, and act on it. Payload: `id`."""
    SEND_REFUND = "send_refund"
    """Send a part of a refund to the provider, or ask for its status. Payload: `id`."""
    APPROVE_WITHDRAWAL = "approve_withdrawal"
    """Approve a withdrawal for which no member of staff is needed, and tell the partner. Payload: `id`."""
    SEND_PAYOUT = "send_payout"
    """Send a validated payout request, or ask the provider for its status. Payload: `id`."""
    MAKE_PAYOUT_DOCUMENT = "make_payout_document"
    """Make a document of a payout request that has many lines. Payload: `id`."""
    CHECK_PAYIN = "check_payin"
    """Ask the provider for the status of a pay-in of a payment, and act on it. Payload: `id`."""
    END_PAYMENT = "end_payment"
    """Cancel a payment that was not paid in time. Payload: `id`."""
    CHECK_DISPUTE = "check_dispute"
    """Ask the provider for the status of a dispute, and settle it if it is lost. Payload: `id`."""
    DROP_CART = "drop_cart"
    """Delete the cart of an order, if it has not changed since. Payload: `partner_id`, `cart_id`, `last_modified`."""
    PROVIDER_HINT = "provider_hint"
    """Handle the provider's event, notified or else read from its list. Payload: `subject`, `id`, `event`,
    `notified`."""
    CHECK_KYC = "check_kyc"
    """Ask the provider for the status of a partner's identification. Payload: `partner_id`."""
    CHECK_BANK_ACCOUNTS = "check_bank_accounts"
    """Ask the provider for the status of a partner's bank accounts, and deactivate replaced ones.
    Payload: `partner_id`."""
    WATCH_ACTIVATION = "watch_activation"
    """Ask the provider for the status of a partner's payment activation, and take the next steps. Payload: `id`."""
    SORT_EVENTS = "sort_events"
    """Create the webhook messages of an event, and of those before it. Payload: `id`."""
    DELIVER_WEBHOOKS = "deliver_webhooks"
    """Send the due messages of a webhook endpoint. Payload: `id`."""
    RECONCILE = "reconcile"
    """Take the next steps of a reconciliation with the provider: its report, and its comparison. Payload: `id`."""
    SEND_MAIL = "send_mail"
    """Send a message, if it is still queued. Payload: `id`."""
    WRITE_EXPORT = "write_export"
    """Write an export to its file. Payload: `id`."""


async def enqueue_job(
    db: AsyncSession,
    job: JobKind,
    payload: Mapping[str, Any],
    *,
    after: dt.timedelta | None = None,
    unique_key: str | None = None,
) -> None:
    """Enqueue a job in the session's transaction: it exists after the commit, and not after a rollback.

    `unique_key` deduplicates: while a job of this kind with the same key waits, no other is added. A running one runs
    once more after its end, since it may have read data before this transaction's changes. A failed one does not block.
    The job carries the `request_id` that is bound to the log, which is that of the request or of the job that enqueues
    it.
    """
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    headers = ({} if request_id is None else {"request_id": request_id}) | tracing.propagation_headers()
    queries, encoded = await _queue_of(db), orjson.dumps(payload, default=str)
    if unique_key is None:
        await queries.enqueue(job, encoded, execute_after=after, headers=headers)
    else:
        await queries.enqueue_once(job, encoded, name=f"{job}:{unique_key}", after=after, headers=headers)


async def requeue_job(db: AsyncSession, job_id: int) -> None:
    """Requeue a failed job in the session's transaction, to run at once with all its tries again.

    AlreadyQueued if another job with its unique key waits or runs; the transaction can then only be rolled back.
    """
    queries = await _queue_of(db)
    try:
        await queries.requeue_jobs([JobId(job_id)])
        await wake_workers(queries)
    except asyncpg.UniqueViolationError as error:
        raise AlreadyQueued from error


async def discard_job(db: AsyncSession, job_id: int) -> None:
    """Delete a job in the session's transaction. The engine's log shows it as cancelled for a while."""
    await (await _queue_of(db)).mark_job_as_cancelled([JobId(job_id)])


async def prune_jobs(db: AsyncSession, *, failed_before: dt.datetime, logged_before: dt.datetime) -> int:
    """Delete failed jobs and the engine's log of jobs from before a moment; returns the number of rows."""
    rows = 0
    for statement, before in (
        (DELETE_FAILED_JOBS, failed_before),
        (DELETE_LOG, logged_before),
        (DELETE_STATISTICS, logged_before),
    ):
        rows += (await (await db.connection()).execute(text(statement), {"before": before})).rowcount
    return rows


async def _queue_of(db: AsyncSession) -> JobQueue:
    """The queue on the session's own connection, within its transaction."""
    return JobQueue(AsyncpgDriver(await driver_of(db)))
