"""PgQueuer's queue with our changes: only the worker that holds a job can requeue it, and a job stores its
last error.
"""

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

from store.audit.masking import mask

log = structlog.get_logger(__name__)
MAX_WORKER_DEATHS = 5
"""Number of workers that may die in a row while they run a job. After that the job is considered the cause and
fails."""
FLUSH_RETRY_SECONDS = 0.5
"""Seconds between two tries to record how jobs ended while the database is away."""

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
"""Enqueues a job under a name. A waiting job of that name suffices. It is locked until this transaction ends, so
that its run sees what was written here. A running job may have read before, and is marked to run once more."""
REQUEUE_RUNNING = """
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
RECORD_ENDS = """
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
"""Records how jobs ended, except those that are to run again: the engine's own statement would delete those too."""
RETURN_JOB = """
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
RECORD_ERRORS = """
    UPDATE pgqueuer
    SET attempts = told.attempts, headers = coalesce(nullif(headers, 'null'), '{}') || jsonb_build_object('error', told.error)
    FROM unnest($1::bigint[], $2::int[], $3::text[]) AS told (id, attempts, error)
    WHERE pgqueuer.id = told.id
"""
SELECT_DEADLY = """
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
"""The number of jobs by kind and state, and the seconds for which the oldest runnable one has waited."""
DELETE_OTHER_SCHEDULES = """
    DELETE FROM pgqueuer_schedules
    WHERE (entrypoint, expression) NOT IN (SELECT * FROM unnest($1::text[], $2::text[]))
"""


class RetryWithoutFailure(RetryRequested):
    """The reason of a retry without a failure: it does not count as a try."""


class JobQueue(Queries):
    """The statements with which a worker operates the queue."""

    async def dequeue(
        self,
        batch_size: int,
        entrypoints: dict[QueueEntrypoint, EntrypointExecutionParameter],
        queue_manager_id: QueueManagerId,
        global_concurrency_limit: int | None,
        heartbeat_timeout: dt.timedelta,
    ) -> list[Job]:
        """The next jobs. Those that have killed worker after worker are recorded as failed instead."""
        jobs = await super().dequeue(
            batch_size, entrypoints, queue_manager_id, global_concurrency_limit, heartbeat_timeout
        )
        if not jobs:
            return jobs
        deadly = {
            row["job_id"] for row in await self.driver.fetch(SELECT_DEADLY, [job.id for job in jobs], MAX_WORKER_DEATHS)
        }
        if deadly:
            log.error("jobs failed because their workers died", jobs=sorted(map(str, deadly)))
        await self.log_jobs([(job, "failed", _worker_died(job.id)) for job in jobs if job.id in deadly])
        return [job for job in jobs if job.id not in deadly]

    async def retry_job(self, job: Job, delay: dt.timedelta, traceback_record: TracebackRecord | None) -> None:
        """Requeue a job, unless another worker holds it by now. Its error is stored and counts as a try.

        If that cannot be written, the job stays taken, and is found later like that of a dead worker. The engine would
        record a failure, although only the database was away.
        """
        failed = traceback_record is not None and traceback_record.exception_type != RetryWithoutFailure.__name__
        error = mask(traceback_record.exception_message) if traceback_record is not None and failed else None
        try:
            await self.driver.execute(
                RETURN_JOB, job.id, job.queue_manager_id, delay, job.attempts + (1 if failed else 0), error
            )
            await wake_workers(self)
        except Exception:
            log.exception("a job could not be requeued; it runs again after the worker's timeout")

    async def log_jobs(self, job_status: Sequence[tuple[Job, JOB_STATUS, TracebackRecord | None]]) -> None:
        """Record how jobs ended. Of a failure only the text is stored, without secrets; the log has the traceback."""
        entries = [(job, status, record and _without_secrets(record)) for job, status, record in job_status]
        failed = [(job, record) for job, status, record in entries if status == "failed" and record is not None]
        try:
            if failed:
                await self.driver.execute(
                    RECORD_ERRORS,
                    [job.id for job, _ in failed],
                    [job.attempts + 1 for job, _ in failed],
                    [record.exception_message for _, record in failed],
                )
            if entries:
                await self._record_ends(entries)
        except Exception:
            await asyncio.sleep(FLUSH_RETRY_SECONDS)  # the engine tries again at once, and would fill the log
            raise

    async def _record_ends(self, ends: Sequence[tuple[Job, JOB_STATUS, TracebackRecord | None]]) -> None:
        """Record how jobs ended, then requeue those that were enqueued again while they ran, however they ended.

        After the first statement no job is left that could be enqueued again without being seen by the second.
        """
        ids = [job.id for job, _, _ in ends]
        records = [record and record.model_dump_json() for _, _, record in ends]
        await self.driver.execute(RECORD_ENDS, ids, [status for _, status, _ in ends], records)
        if await self.driver.fetch(REQUEUE_RUNNING, ids, list({job.queue_manager_id for job, _, _ in ends})):
            await wake_workers(self)

    async def enqueue_once(
        self, entrypoint: str, payload: bytes, *, name: str, after: dt.timedelta | None, headers: Mapping[str, Any]
    ) -> None:
        """Enqueue a job under a name, unless one waits. A running one runs once more after its end."""
        rows = await self.driver.fetch(ENQUEUE_ONCE, entrypoint, payload, after, name, orjson.dumps(headers).decode())
        if not rows[0]["added"]:  # workers skipped it while it was locked
            await wake_workers(self)

    async def update_heartbeat(self, job_ids: list[JobId]) -> None:
        """Record that jobs are still running."""
        try:
            await super().update_heartbeat(job_ids)
        except Exception:
            await asyncio.sleep(FLUSH_RETRY_SECONDS)
            raise

    async def fetch_schedule(self, entrypoints: dict[CronExpressionEntrypoint, dt.timedelta]) -> list[Schedule]:
        """The schedules that are due.

        Ours are inserted each time: a worker of another release may have removed them.
        """
        await self.insert_schedule(entrypoints)
        return await super().fetch_schedule(entrypoints)

    async def delete_other_schedules(self, ours: Mapping[CronExpressionEntrypoint, object]) -> None:
        """Delete the schedules that the program no longer has."""
        names, expressions = [key.entrypoint for key in ours], [key.expression for key in ours]
        await self.driver.execute(DELETE_OTHER_SCHEDULES, names, expressions)


async def wake_workers(queries: Queries) -> None:
    """Make workers check when the next job is due. The engine notifies them of new jobs, not of requeued ones."""
    channel = queries.qbq.settings.channel
    event = TableChangedEvent(
        channel=channel, sent_at=utc_now(), type="table_changed_event", operation="update", table="pgqueuer"
    )
    await queries.driver.notify(channel, event.model_dump_json())


def _without_secrets(record: TracebackRecord) -> TracebackRecord:
    return record.model_copy(update={"exception_message": mask(record.exception_message), "traceback": ""})


def _worker_died(job_id: JobId) -> TracebackRecord:
    return TracebackRecord.from_exception(
        RuntimeError(f"{MAX_WORKER_DEATHS} workers in a row died while they ran it. Look why before it is run again."),
        job_id,
    )
