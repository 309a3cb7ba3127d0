"""Work that happens after a commit, once: jobs enqueued in the transaction that wants them, run by a worker."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import asyncpg
import orjson
import structlog
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.domain.types import JobId
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import AlreadyQueued
from store.core import tracing
from store.job.queue import Queue, wake

FAILED_JOBS = "DELETE FROM pgqueuer WHERE status = 'failed' AND updated < :before"
LOG = "DELETE FROM pgqueuer_log WHERE created < :before"
STATISTICS = "DELETE FROM pgqueuer_statistics WHERE created < :before"


class Job(StrEnum):
    """Every kind of job there is. Each is safe to run twice."""

    SETTLE_ATTEMPT = "settle_attempt"
    """Ask the provider how a checkout attempt stands, and act on it. Payload: `id`."""
    DROP_CART = "drop_cart"
    """Delete the cart an order came from, if it is still the same. Payload: `partner_id`, `cart_id`, `last_modified`."""
    PROVIDER_HINT = "provider_hint"
    """The provider said that something changed. Payload: `kind`, `id`."""
    CHECK_KYC = "check_kyc"
    """Ask the provider how far a partner is identified. Payload: `partner_id`."""
    CHECK_BANK_ACCOUNTS = "check_bank_accounts"
    """Ask the provider how a partner's bank accounts stand, and deactivate those that another replaces. Payload: `partner_id`."""
    WATCH_ACTIVATION = "watch_activation"
    """Ask the provider how the activation of a partner's payments stands, and take the next steps. Payload: `id`."""
    SORT_EVENTS = "sort_events"
    """Note which webhook endpoints are to be told of an event, and of those before it. Payload: `id`."""
    DELIVER_WEBHOOKS = "deliver_webhooks"
    """Send a webhook endpoint what is due. Payload: `id`."""
    SEND_MAIL = "send_mail"
    """Have the mail server take a message, if it still waits for that. Payload: `id`."""


class Again(Exception):
    """Raised by a handler that wants to be run again, `after` a time that it chooses itself. It is no failure, and no try."""

    def __init__(self, after: dt.timedelta) -> None:
        super().__init__(f"to be run again after {after}")
        self.after = after


class GiveUp(Exception):
    """Raised by a handler for which trying again is useless: the job has failed, and the text says why."""


@dataclass(frozen=True)
class Retries:
    """How a job that fails is tried again: after a pause that doubles from `first` to `longest`, for about `lasting` in all."""

    first: dt.timedelta
    longest: dt.timedelta
    lasting: dt.timedelta

    def pause(self, failures: int) -> dt.timedelta:
        """How long to wait after so many failures (1 for the first)."""
        doublings = min(failures - 1, 32)  # more make numbers that no time holds
        return min(self.first * (1 << doublings), self.longest)

    @cached_property
    def tries(self) -> int:
        """How often it is run at most."""
        spent, failures = dt.timedelta(), 0
        while spent < self.lasting:
            failures += 1
            spent += self.pause(failures)
        return failures + 1


async def enqueue(
    db: AsyncSession,
    job: Job,
    payload: Mapping[str, Any],
    *,
    after: dt.timedelta | None = None,
    once: str | None = None,
) -> None:
    """Enqueue a job in the session's transaction: it is there when the transaction commits, and gone when it rolls back.

    `once` names the job: while one of that name waits, another is not added; one that runs is run once more when it has ended,
    as it may have read what this transaction changes before that was there. One that has failed is in nobody's way.
    It carries the `request_id` that is bound to the log, which is that of the request or of the job that enqueues it.
    """
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    headers = ({} if request_id is None else {"request_id": request_id}) | tracing.carried()
    queries, given = await _queries(db), orjson.dumps(payload, default=str)
    if once is None:
        await queries.enqueue(job, given, execute_after=after, headers=headers)
    else:
        await queries.enqueue_once(job, given, name=f"{job}:{once}", after=after, headers=headers)


async def requeue(db: AsyncSession, job_id: int) -> None:
    """Put a failed job back in the session's transaction, to be run at once with all its tries before it.

    AlreadyQueued where another of its `once` name waits or runs; the transaction can then only be rolled back.
    """
    queries = await _queries(db)
    try:
        await queries.requeue_jobs([JobId(job_id)])
        await wake(queries)
    except asyncpg.UniqueViolationError as error:
        raise AlreadyQueued from error


async def discard(db: AsyncSession, job_id: int) -> None:
    """Delete a job in the session's transaction. The engine's log tells for a while that it was cancelled."""
    await (await _queries(db)).mark_job_as_cancelled([JobId(job_id)])


async def prune(db: AsyncSession, *, failed_before: dt.datetime, logged_before: dt.datetime) -> int:
    """Delete failed jobs, and the engine's log of how each job went, from before a moment; answers how many rows."""
    rows = 0
    for statement, before in ((FAILED_JOBS, failed_before), (LOG, logged_before), (STATISTICS, logged_before)):
        rows += (await (await db.connection()).execute(text(statement), {"before": before})).rowcount
    return rows


async def _queries(db: AsyncSession) -> Queue:
    """The queue on the session's own connection, within its transaction."""
    connection = await db.connection()
    raw = (await connection.get_raw_connection()).driver_connection
    if raw is None:
        raise RuntimeError("The session has lost its connection.")
    if not raw.is_in_transaction():
        # The driver begins one with the first statement that SQLAlchemy sends; what is run on the raw connection before
        # that would commit by itself.
        await connection.execute(text("SELECT 1"))
    return Queue(AsyncpgDriver(raw))
