"""Runs the jobs and the schedules. Any number of workers, one effect."""

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

from resolvers.core.context import Services
from resolvers.job.registry import HANDLERS, SCHEDULES, Task, Work
from store.core import tracing
from store.core.outages import ABSENT, driver_error
from store.database.db import CONNECTS_WITHIN
from store.job.jobs import Again, GiveUp, Job, Retries
from store.job.queue import NotFailed, Queue

log = structlog.get_logger(__name__)
AT_ONCE = 40
"""How many jobs a worker runs beside each other: they share their connections with the requests of the process."""
DEAD_AFTER = dt.timedelta(seconds=20)
"""A worker that is not heard of for so long counts as dead, and others run its jobs. It is heard of twice in that time, so
one whose process stands still for ten seconds keeps its jobs, and those of one that was killed wait half a minute at most."""
LOOKS_EVERY = dt.timedelta(seconds=5)
"""Jobs are told of when they are enqueued; those of the dead, and those told of while nobody listened, are looked for."""
GRACE = 7.0
"""Seconds that running jobs may take to end when the worker is to stop: with what follows less than the ten that containers
are given. What takes longer is put back, and run by the next worker."""
LONGEST_PAUSE = 30.0
"""Seconds at most between two tries to reach a database that is away."""
ANSWERS_WITHIN = 30.0
"""Seconds. A connection on which the database is not heard of for longer is given up."""
SPREAD = 0.1
"""Pauses differ by so much of themselves, so that what failed together is not all tried again together."""

SECONDS = Histogram(
    "coffret_job_seconds",
    "Time to run a job, by how it ended: done, again (by its own wish), retried, failed (for good), released (at stop).",
    ["kind", "outcome"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300),
)
FAILURES = Counter("coffret_job_failures", "Times that a job failed, whether it is tried again or not.", ["kind"])
SCHEDULED = Histogram("coffret_schedule_seconds", "Time to run what is on a schedule.", ["schedule", "outcome"])


@dataclass
class Tried(EntrypointExecutor):
    """Runs a job once, and says what becomes of it. Each failure is told: the last one alone would come hours later."""

    retries: Retries

    async def execute(self, job: QueuedJob, context: JobContext) -> None:
        """Run it, its log lines marked with the request that wanted it."""
        asked = (job.headers or {}).get("request_id")
        _mark(job=job.entrypoint, job_id=job.id, **({} if asked is None else {"request_id": asked}))
        begun, outcome = time.perf_counter(), "done"
        try:
            with tracing.working(f"job {job.entrypoint}", job.headers or {}, **{"coffret.job_id": job.id}):
                await super().execute(job, context)
        except (Exception, asyncio.CancelledError) as error:
            outcome, verdict = self.verdict(job, error)
            raise verdict from error
        finally:
            SECONDS.labels(job.entrypoint, outcome).observe(time.perf_counter() - begun)

    def verdict(self, job: QueuedJob, error: BaseException) -> tuple[str, Exception]:
        """How a run that raised something ended, and what tells the engine."""
        if isinstance(error, Again):
            return "again", NotFailed(error.after)
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():  # at stop
            return "released", NotFailed()  # the engine would take the job for cancelled, and delete it
        FAILURES.labels(job.entrypoint).inc()
        failures, why = job.attempts + 1, f"{type(error).__name__}: {error}"
        if isinstance(error, GiveUp) or failures >= self.retries.tries:
            return "failed", GiveUp(str(error) if isinstance(error, GiveUp) else why)
        pause = self.retries.pause(failures) * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 - no secret
        log.warning("a job failed and is tried again", failures=failures, pause=str(pause), exc_info=error)
        return "retried", RetryRequested(pause, why)


def queue(services: Services, pool: asyncpg.Pool) -> PgQueuer:
    """The job queue with a handler for every kind of job, and the schedules."""
    driver = AsyncpgPoolDriver(pool)
    made = PgQueuer(driver, queries=Queue(driver))
    for job, work in HANDLERS.items():
        _handle(made, services, job, work)
    for name, task in SCHEDULES.items():
        _schedule(made, services, name, task)
    return made


def _handle(made: PgQueuer, services: Services, job: Job, work: Work) -> None:
    async def run(queued: QueuedJob) -> None:
        await work.handler(services, orjson.loads(queued.payload or b"{}"))

    made.entrypoint(job, on_failure="hold", executor_factory=lambda given: Tried(given, work.retries))(run)


def _schedule(made: PgQueuer, services: Services, name: str, task: Task) -> None:
    async def run(_schedule: Schedule) -> None:
        _mark(schedule=name)
        begun, outcome = time.perf_counter(), "failed"
        try:
            await task.run(services)
            outcome = "done"
        finally:
            SCHEDULED.labels(name, outcome).observe(time.perf_counter() - begun)

    made.schedule(name, task.when)(run)


def _mark(**bound: object) -> None:
    """What all log lines of this task carry from now on, those of the engine included."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**bound)


async def work(services: Services, dsn: str) -> None:
    """Run jobs until cancelled; those that run then may end within `GRACE`, and the others are put back.

    Whatever ends the queue (a lost connection, a listener that hears nothing), it begins anew, after a pause that grows.
    """
    pause = 1.0
    while True:
        begun = time.monotonic()
        try:
            async with _connections(dsn) as pool:
                made = queue(services, pool)
                with services.clock.telling(made.shutdown.set):  # time was moved: beginning anew shows what is due now
                    await _until_stopped(made)
            pause = 1.0
        except Exception as error:
            if time.monotonic() - begun > LONGEST_PAUSE:
                pause = 1.0
            cause = driver_error(error)
            away = isinstance(cause, (OSError, asyncpg.InterfaceError, *ABSENT))
            why = f"{type(cause).__name__}: {cause}"
            log.warning("the worker begins anew", because=why, pause=pause, exc_info=not away)
        await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - no secret
        pause = min(2 * pause, LONGEST_PAUSE)


@contextlib.asynccontextmanager
async def _connections(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    """A few connections of the worker's own, closed in any case."""
    pool = await asyncpg.create_pool(
        dsn, min_size=1, max_size=4, timeout=CONNECTS_WITHIN, command_timeout=ANSWERS_WITHIN
    )
    try:
        yield pool
    finally:
        with contextlib.suppress(TimeoutError):  # what cannot be closed in order is cut off
            async with asyncio.timeout(1):
                await pool.close()


async def _until_stopped(made: PgQueuer) -> None:
    """Run the queue until it ends, or this task is cancelled and the running jobs have ended or been put back."""
    await Queue(made.connection).forget_other_schedules(made.sm.registry)
    # The engine asks itself through the database whether it hears, and may ask before it listens: it would end in vain.
    await made.connection.add_listener(made.channel, lambda _: None)
    running = asyncio.create_task(
        made.run(
            dequeue_timeout=LOOKS_EVERY,
            batch_size=AT_ONCE // 4,
            max_concurrent_tasks=AT_ONCE,
            shutdown_on_listener_failure=True,
            heartbeat_timeout=DEAD_AFTER,
            log_aggregation_interval=dt.timedelta(),  # nothing reads the statistics it would make
        ),
        name="jobs",
    )
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        made.shutdown.set()
        await asyncio.wait({running}, timeout=GRACE)
        raise
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running}, timeout=1)
