"""The worker: runs jobs and scheduled tasks. Any number of workers can run at the same time; each job takes effect
once.
"""

import asyncio
import contextlib
import datetime as dt
import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import orjson
import structlog
from pgqueuer import PgQueuer
from pgqueuer.adapters.drivers.asyncpg import AsyncpgPoolDriver
from pgqueuer.core.executors import EntrypointExecutor
from pgqueuer.domain.models import Context as JobContext
from pgqueuer.domain.models import Job as QueuedJob
from pgqueuer.domain.models import Schedule
from pgqueuer.errors import RetryRequested
from prometheus_client import Counter, Histogram

from resolvers.core.services import Services
from resolvers.job.registry import HANDLERS, SCHEDULES, JobHandler, ScheduledTask
from store.core.retries import PermanentFailure, RetryPolicy, RunAgain
from store.core.telemetry import tracing
from store.core.telemetry.outages import CONNECTION_ERRORS, driver_error
from store.database.db import CONNECT_TIMEOUT
from store.job.jobs import JobKind
from store.job.queue import JobQueue, RetryWithoutFailure
from store.providers.call_budget import CallClass, calling_as
from store.providers.errors import CallHeldBack

log = structlog.get_logger(__name__)
MAX_CONCURRENT_JOBS = 40
"""Maximum number of concurrent jobs per worker; they share the database connections with the requests of the process.
"""
HEARTBEAT_TIMEOUT = dt.timedelta(seconds=20)
"""A worker without a heartbeat for this long counts as dead, and others run its jobs. It sends two heartbeats in that
time. So a process that stalls for ten seconds keeps its jobs, and the jobs of a killed one wait at most half a minute.
"""
POLL_INTERVAL = dt.timedelta(seconds=5)
"""Polling interval, for jobs of dead workers and for notifications that were missed. Other jobs are notified when
enqueued.
"""
SHUTDOWN_GRACE = 7.0
"""Seconds that running jobs may take to end at shutdown; with the clean-up that is less than the ten that containers
get. Jobs that take longer are put back, and the next worker runs them.
"""
LONGEST_PAUSE = 30.0
"""Maximum seconds between attempts to reach an unavailable database."""
COMMAND_TIMEOUT = 30.0
"""Seconds after which a connection without a response from the database is closed."""
JITTER = 0.1
"""Fraction by which pauses vary, so that jobs that failed together are not retried together."""

SECONDS = Histogram(
    "coffret_job_seconds",
    "Duration of jobs, by outcome: done, again (by itself), retried, failed (for good), released (at exit).",
    ["kind", "outcome"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
)
FAILURES = Counter("coffret_job_failures", "Failures of jobs, including those that are retried.", ["kind"])
SCHEDULED = Histogram("coffret_schedule_seconds", "Duration of scheduled tasks.", ["schedule", "outcome"])


@dataclass
class JobExecutor(EntrypointExecutor):
    """Runs a job once and decides what follows. Every failure is logged, because the last one may come hours later."""

    retries: RetryPolicy

    async def execute(self, job: QueuedJob, context: JobContext) -> None:
        """Run the job, with the id of the request that enqueued it in all log lines."""
        asked = (job.headers or {}).get("request_id")
        _bind_log_context(job=job.entrypoint, job_id=job.id, **({} if asked is None else {"request_id": asked}))
        begun, outcome = time.perf_counter(), "done"
        try:
            with tracing.job_span(f"job {job.entrypoint}", job.headers or {}, **{"coffret.job_id": job.id}):
                await super().execute(job, context)
        except (Exception, asyncio.CancelledError) as error:
            outcome, verdict = self.verdict(job, error)
            raise verdict from error
        finally:
            SECONDS.labels(job.entrypoint, outcome).observe(time.perf_counter() - begun)

    def verdict(self, job: QueuedJob, error: BaseException) -> tuple[str, Exception]:
        """The outcome label of a failed run, and the exception that instructs the engine."""
        if isinstance(error, RunAgain):
            return "again", RetryWithoutFailure(error.after)
        if isinstance(error, CallHeldBack):
            return "again", RetryWithoutFailure(dt.timedelta(seconds=error.retry_after))
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():  # at shutdown
            return "released", RetryWithoutFailure()  # otherwise the engine treats the job as cancelled and deletes it
        FAILURES.labels(job.entrypoint).inc()
        failures, why = job.attempts + 1, f"{type(error).__name__}: {error}"
        if is_last(job, error, self.retries):
            return "failed", PermanentFailure(str(error) if isinstance(error, PermanentFailure) else why)
        pause = self.retries.pause(failures) * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
        log.warning("a job failed and will be retried", failures=failures, pause=str(pause), exc_info=error)
        return "retried", RetryRequested(pause, why)


def is_last(job: QueuedJob, error: BaseException, retries: RetryPolicy) -> bool:
    """Whether no try follows a failed one."""
    return isinstance(error, PermanentFailure) or job.attempts + 1 >= retries.max_tries


def build_queue(services: Services, pool: asyncpg.Pool) -> PgQueuer:
    driver = AsyncpgPoolDriver(pool)
    queue = PgQueuer(driver, queries=JobQueue(driver))
    for job, work in HANDLERS.items():
        _register_job(queue, services, job, work)
    for name, task in SCHEDULES.items():
        _register_schedule(queue, services, name, task)
    return queue


def _register_job(queuer: PgQueuer, services: Services, job: JobKind, work: JobHandler) -> None:
    async def run(queued: QueuedJob) -> None:
        with calling_as(work.calls):
            payload = orjson.loads(queued.payload or b"{}")
            try:
                await work.run(services, payload)
            except (RunAgain, CallHeldBack):
                raise
            except Exception as error:
                if work.give_up is not None and is_last(queued, error, work.retries):
                    await work.give_up(services, payload)
                raise

    queuer.entrypoint(job, on_failure="hold", executor_factory=lambda given: JobExecutor(given, work.retries))(run)


def _register_schedule(queuer: PgQueuer, services: Services, name: str, task: ScheduledTask) -> None:
    async def run(_schedule: Schedule) -> None:
        _bind_log_context(schedule=name)
        begun, outcome = time.perf_counter(), "failed"
        try:
            with calling_as(CallClass.SWEEP):
                await task.run(services)
            outcome = "done"
        finally:
            SCHEDULED.labels(name, outcome).observe(time.perf_counter() - begun)

    queuer.schedule(name, task.cron)(run)


def _bind_log_context(**bound: object) -> None:
    """Set the fields of all further log lines of this task, including those of the engine."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**bound)


async def run_worker(services: Services, dsn: str) -> None:
    """Run jobs until cancelled. Jobs running then may end within SHUTDOWN_GRACE; the others are put back.

    If the queue ends (a lost connection, a failed listener), it restarts after a growing pause.
    """
    pause = 1.0
    while True:
        begun = time.monotonic()
        try:
            async with _connections(dsn) as pool:
                queue = build_queue(services, pool)
                # After a move of the clock, a restart finds the jobs that are due then.
                with services.clock.on_move(queue.shutdown.set):
                    await _until_stopped(queue)
            pause = 1.0
        except Exception as error:
            if time.monotonic() - begun > LONGEST_PAUSE:
                pause = 1.0
            cause = driver_error(error)
            away = isinstance(cause, (OSError, asyncpg.InterfaceError, *CONNECTION_ERRORS))
            why = f"{type(cause).__name__}: {cause}"
            log.warning("the worker restarts", because=why, pause=pause, exc_info=not away)
        await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - no secret
        pause = min(2 * pause, LONGEST_PAUSE)


@contextlib.asynccontextmanager
async def _connections(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    """A small connection pool of the worker, closed at the end in any case."""
    pool = await asyncpg.create_pool(
        dsn, min_size=1, max_size=4, timeout=CONNECT_TIMEOUT, command_timeout=COMMAND_TIMEOUT
    )
    try:
        yield pool
    finally:
        with contextlib.suppress(TimeoutError):  # then the connections are dropped
            async with asyncio.timeout(1):
                await pool.close()


async def _until_stopped(queuer: PgQueuer) -> None:
    """Run the queue until it ends, or until this task is cancelled and the running jobs have ended or been put back."""
    await JobQueue(queuer.connection).delete_other_schedules(queuer.sm.registry)
    # The engine checks its listener with a notification of its own, and may send that before it listens: it would then
    # stop.
    await queuer.connection.add_listener(queuer.channel, lambda _: None)
    running = asyncio.create_task(
        queuer.run(
            dequeue_timeout=POLL_INTERVAL,
            batch_size=MAX_CONCURRENT_JOBS // 4,
            max_concurrent_tasks=MAX_CONCURRENT_JOBS,
            shutdown_on_listener_failure=True,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            log_aggregation_interval=dt.timedelta(),  # the statistics are not used
        ),
        name="jobs",
    )
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        queuer.shutdown.set()
        await asyncio.wait({running}, timeout=SHUTDOWN_GRACE)
        raise
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running}, timeout=1)
