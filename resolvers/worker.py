"""Runs the jobs and the schedules. Any number of workers, one effect."""

import asyncio
import datetime as dt

import asyncpg
import orjson
import structlog
from pgqueuer import DatabaseRetryEntrypointExecutor, PgQueuer
from pgqueuer.domain.models import Context as JobContext
from pgqueuer.domain.models import Job as QueuedJob
from pgqueuer.domain.models import Schedule
from pgqueuer.errors import RetryRequested

from resolvers.context import Services
from resolvers.tasks import HANDLERS, SCHEDULES, Task, Work
from store.jobs import Job

log = structlog.get_logger(__name__)
AT_ONCE = 40
"""How many jobs a worker runs beside each other: they share their connections with the requests of the process."""


class TriedAgain(DatabaseRetryEntrypointExecutor):
    """Runs a job, and puts it back for later when it fails. Each failure is told: the last one alone would come hours later."""

    async def execute(self, job: QueuedJob, context: JobContext) -> None:
        """Run it once."""
        try:
            await super().execute(job, context)
        except RetryRequested as retry:
            log.warning("a job failed and is tried again", job=job.entrypoint, tries=job.attempts + 1, exc_info=retry)
            raise


def queue(services: Services, pool: asyncpg.Pool) -> PgQueuer:
    """The job queue with a handler for every kind of job, and the schedules."""
    made = PgQueuer.from_asyncpg_pool(pool)
    for job, work in HANDLERS.items():
        _handle(made, services, job, work)
    for name, task in SCHEDULES.items():
        _schedule(made, services, name, task)
    return made


def _handle(made: PgQueuer, services: Services, job: Job, work: Work) -> None:
    async def run(queued: QueuedJob) -> None:
        await work.handler(services, orjson.loads(queued.payload or b"{}"))

    made.entrypoint(
        job, executor_factory=lambda parameters: TriedAgain(parameters, max_attempts=work.retries.tries - 1)
    )(run)


def _schedule(made: PgQueuer, services: Services, name: str, task: Task) -> None:
    async def run(_schedule: Schedule) -> None:
        await task.run(services)

    made.schedule(name, task.when)(run)


async def work(services: Services, dsn: str) -> None:
    """Run jobs until cancelled. Whatever ends the queue (a lost connection, a listener that hears nothing), it begins anew."""
    while True:
        try:
            async with asyncpg.create_pool(dsn, min_size=1, max_size=4) as pool:
                patience = dt.timedelta(seconds=5)
                await queue(services, pool).run(
                    dequeue_timeout=patience, max_concurrent_tasks=AT_ONCE, shutdown_on_listener_failure=True
                )
        except Exception:
            log.exception("the worker begins anew")
        await asyncio.sleep(1)
