"""PgQueuer's queue, and what it leaves to us: a job goes back only from the worker that has it, and keeps its last error."""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import structlog
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.domain.models import CronExpressionEntrypoint, Job, Schedule, TableChangedEvent, TracebackRecord, utc_now
from pgqueuer.domain.types import JOB_STATUS, JobId, QueueEntrypoint, QueueManagerId
from pgqueuer.errors import RetryRequested
from pgqueuer.ports.repository import EntrypointExecutionParameter

from store.audit.masking import masked

log = structlog.get_logger(__name__)
DEATHS = 5
"""How many workers in a row may die while they run a job, before it is taken for the cause and not run any more."""
FLUSHED_AGAIN = 0.5
"""Seconds between the tries to write down how jobs ended, while the database is away."""

ENQUEUE_ONCE = """
    WITH made AS (
        INSERT INTO pgqueuer AS job (priority, entrypoint, payload, execute_after, dedupe_key, headers, status)
        VALUES (0, $1, $2, now() + coalesce($3::interval, '0'), $4, $5::jsonb, 'queued')
        ON CONFLICT (dedupe_key) WHERE status IN ('queued', 'picked') AND dedupe_key IS NOT NULL
        DO UPDATE SET headers = CASE job.status WHEN 'queued' THEN job.headers
            ELSE coalesce(nullif(job.headers, 'null'), '{}') || jsonb_build_object('again', jsonb_build_object(
                'at', least((job.headers -> 'again' ->> 'at')::timestamptz, excluded.execute_after),
                'headers', excluded.headers
            )) END
        RETURNING id, entrypoint, priority, xmax = 0 AS added
    ), logged AS (
        INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority)
        SELECT id, 'queued', entrypoint, priority FROM made WHERE added
    )
    SELECT added FROM made
"""
"""A job under a name. One that waits under it is enough, but is locked until this transaction is through: whoever runs it sees
what was written here. One that runs may have read before, and is to be run once more."""
RUN_AGAIN = """
    WITH again AS (
        UPDATE pgqueuer
        SET status = 'queued', queue_manager_id = NULL, updated = now(), attempts = 0,
            execute_after = (headers -> 'again' ->> 'at')::timestamptz,
            headers = (headers - '{again,error,request_id}'::text[]) || (headers -> 'again' -> 'headers')
        WHERE id = ANY($1) AND queue_manager_id = ANY($2) AND status = 'picked' AND headers ? 'again'
        RETURNING id, entrypoint, priority
    )
    INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority) SELECT id, 'queued', entrypoint, priority FROM again
    RETURNING job_id
"""
ENDED = """
    WITH told AS (
        SELECT * FROM unnest($1::bigint[], $2::pgqueuer_status[], $3::jsonb[]) AS told (id, status, traceback)
    ), deleted AS (
        DELETE FROM pgqueuer USING told
        WHERE pgqueuer.id = told.id AND told.status <> 'failed' AND NOT coalesce(pgqueuer.headers ? 'again', false)
        RETURNING pgqueuer.id, entrypoint, priority
    ), held AS (
        UPDATE pgqueuer SET status = 'failed', updated = now(), queue_manager_id = NULL
        FROM told
        WHERE pgqueuer.id = told.id AND told.status = 'failed' AND NOT coalesce(pgqueuer.headers ? 'again', false)
        RETURNING pgqueuer.id, entrypoint, priority
    )
    INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority, traceback)
    SELECT id, told.status, ended.entrypoint, ended.priority, told.traceback
    FROM told JOIN (SELECT * FROM deleted UNION ALL SELECT * FROM held) AS ended USING (id)
"""
"""How jobs ended that are not to be run again: the engine's own statement would delete those as well."""
GIVE_BACK = """
    WITH given AS (
        UPDATE pgqueuer
        SET status = 'queued', queue_manager_id = NULL, updated = now(),
            execute_after = least(now() + $3::interval, (headers -> 'again' ->> 'at')::timestamptz), attempts = $4,
            headers = coalesce(nullif(headers, 'null'), '{}') - 'again'
                || jsonb_strip_nulls(jsonb_build_object('error', $5::text))
        WHERE id = $1 AND queue_manager_id = $2 AND status = 'picked'
        RETURNING id, entrypoint, priority
    )
    INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority) SELECT id, 'queued', entrypoint, priority FROM given
"""
NOTE_ERRORS = """
    UPDATE pgqueuer
    SET attempts = told.attempts, headers = coalesce(nullif(headers, 'null'), '{}') || jsonb_build_object('error', told.error)
    FROM unnest($1::bigint[], $2::int[], $3::text[]) AS told (id, attempts, error)
    WHERE pgqueuer.id = told.id
"""
DEADLY = """
    SELECT picked.job_id
    FROM pgqueuer_log picked
    WHERE picked.job_id = ANY($1) AND picked.status = 'picked' AND picked.id > (
        SELECT coalesce(max(queued.id), 0) FROM pgqueuer_log queued
        WHERE queued.job_id = picked.job_id AND queued.status = 'queued'
    )
    GROUP BY picked.job_id
    HAVING count(*) > $2
"""
COUNTS = """
    SELECT entrypoint, status::text, count(*),
        extract(epoch FROM now() - min(execute_after) FILTER (WHERE status = 'queued' AND execute_after <= now()))
    FROM pgqueuer
    GROUP BY entrypoint, status
"""
"""How many jobs there are of each kind and state, and for how many seconds the oldest that could run has waited."""
FORGET_SCHEDULES = """
    DELETE FROM pgqueuer_schedules
    WHERE (entrypoint, expression) NOT IN (SELECT * FROM unnest($1::text[], $2::text[]))
"""


class NotFailed(RetryRequested):
    """Why a job goes back that has not failed: it counts as no try."""


class Queue(Queries):
    """The statements that a worker runs the queue by."""

    async def dequeue(
        self,
        batch_size: int,
        entrypoints: dict[QueueEntrypoint, EntrypointExecutionParameter],
        queue_manager_id: QueueManagerId,
        global_concurrency_limit: int | None,
        heartbeat_timeout: dt.timedelta,
    ) -> list[Job]:
        """The next jobs, without those that have killed worker after worker: they have failed, and are kept."""
        jobs = await super().dequeue(
            batch_size, entrypoints, queue_manager_id, global_concurrency_limit, heartbeat_timeout
        )
        if not jobs:
            return jobs
        deadly = {row["job_id"] for row in await self.driver.fetch(DEADLY, [job.id for job in jobs], DEATHS)}
        if deadly:
            log.error("jobs are kept that workers died of", jobs=sorted(map(str, deadly)))
        await self.log_jobs([(job, "failed", _worker_died(job.id)) for job in jobs if job.id in deadly])
        return [job for job in jobs if job.id not in deadly]

    async def retry_job(self, job: Job, delay: dt.timedelta, traceback_record: TracebackRecord | None) -> None:
        """Put a job back, unless another worker has it by now. Its error is kept with it, and counts as a try.

        Where that cannot be written the job stays taken, and is found like that of a dead worker: the engine would call it
        failed, though nothing but the database was away.
        """
        failed = traceback_record is not None and traceback_record.exception_type != NotFailed.__name__
        error = masked(traceback_record.exception_message) if traceback_record is not None and failed else None
        try:
            await self.driver.execute(
                GIVE_BACK, job.id, job.queue_manager_id, delay, job.attempts + (1 if failed else 0), error
            )
            await wake(self)
        except Exception:
            log.exception("a job could not be put back; it is run again once its worker counts as dead")

    async def log_jobs(self, job_status: Sequence[tuple[Job, JOB_STATUS, TracebackRecord | None]]) -> None:
        """Write down how jobs ended. Of a failure only the text is kept, without secrets; the log has the traceback."""
        told = [(job, status, record and _without_secrets(record)) for job, status, record in job_status]
        failed = [(job, record) for job, status, record in told if status == "failed" and record is not None]
        try:
            if failed:
                await self.driver.execute(
                    NOTE_ERRORS,
                    [job.id for job, _ in failed],
                    [job.attempts + 1 for job, _ in failed],
                    [record.exception_message for _, record in failed],
                )
            if told:
                await self._note_ends(told)
        except Exception:
            await asyncio.sleep(FLUSHED_AGAIN)  # the engine tries again at once, and would fill the log
            raise

    async def _note_ends(self, told: Sequence[tuple[Job, JOB_STATUS, TracebackRecord | None]]) -> None:
        """Write down how jobs ended, then put those back that were asked for again while they ran, however they ended.

        Once the first statement is through, no job is left that could be asked for again without being seen by the second.
        """
        ids = [job.id for job, _, _ in told]
        records = [record and record.model_dump_json() for _, _, record in told]
        await self.driver.execute(ENDED, ids, [status for _, status, _ in told], records)
        if await self.driver.fetch(RUN_AGAIN, ids, list({job.queue_manager_id for job, _, _ in told})):
            await wake(self)

    async def enqueue_once(
        self, entrypoint: str, payload: bytes, *, name: str, after: dt.timedelta | None, headers: Mapping[str, Any]
    ) -> None:
        """Enqueue a job under a name, unless one waits; one that runs is run once more when it has ended."""
        found = await self.driver.fetch(ENQUEUE_ONCE, entrypoint, payload, after, name, orjson.dumps(headers).decode())
        if not found[0]["added"]:  # while it was locked, workers have passed it by
            await wake(self)

    async def update_heartbeat(self, job_ids: list[JobId]) -> None:
        """Tell that jobs are being run."""
        try:
            await super().update_heartbeat(job_ids)
        except Exception:
            await asyncio.sleep(FLUSHED_AGAIN)
            raise

    async def fetch_schedule(self, entrypoints: dict[CronExpressionEntrypoint, dt.timedelta]) -> list[Schedule]:
        """The schedules that are due. Ours are put in each time: a worker of another release may have removed them."""
        await self.insert_schedule(entrypoints)
        return await super().fetch_schedule(entrypoints)

    async def forget_other_schedules(self, ours: Mapping[CronExpressionEntrypoint, object]) -> None:
        """Remove the schedules that the program no longer has."""
        names, expressions = [key.entrypoint for key in ours], [key.expression for key in ours]
        await self.driver.execute(FORGET_SCHEDULES, names, expressions)


async def wake(queries: Queries) -> None:
    """Have workers look when the next job is due. The engine tells them of new jobs, not of those that were put back."""
    channel = queries.qbq.settings.channel
    told = TableChangedEvent(
        channel=channel, sent_at=utc_now(), type="table_changed_event", operation="update", table="pgqueuer"
    )
    await queries.driver.notify(channel, told.model_dump_json())


def _without_secrets(record: TracebackRecord) -> TracebackRecord:
    return record.model_copy(update={"exception_message": masked(record.exception_message), "traceback": ""})


def _worker_died(job_id: JobId) -> TracebackRecord:
    return TracebackRecord.from_exception(
        RuntimeError(f"{DEATHS} workers in a row died while they ran it. Look why before it is run again."), job_id
    )
