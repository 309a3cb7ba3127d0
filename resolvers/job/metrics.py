"""How many jobs there are and how late they are, as Prometheus reads it. The database is asked, so any process tells the same."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from prometheus_client import REGISTRY, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from schema.core.errors import Unavailable
from schema.job import JobState
from store.database.db import Database
from store.job.jobs import Job
from store.job.queue import COUNTS

log = structlog.get_logger(__name__)
FRESH = 5.0
"""Seconds for which what was read is told again: however many ask, the database is asked as often as that."""
PATIENCE = 2.0
"""Seconds. Prometheus gives a scrape ten, and all else is told without the database."""


class QueueGauges(Collector):
    """What was last read of the queue. It is the same in each process, so processes that count together do not add it up."""

    def __init__(self) -> None:
        self.rows: Sequence[Any] | None = None

    def collect(self) -> Iterator[Metric]:
        """The gauges; of a queue that could not be read only that."""
        yield GaugeMetricFamily(
            "coffret_job_queue_read", "Whether the job queue could be read: 1 or 0.", 0 if self.rows is None else 1
        )
        if self.rows is None:
            return
        depth = {(str(job), state.name.lower()): 0 for job in Job for state in JobState}
        late = {str(job): 0 for job in Job}
        for kind, status, count, seconds in self.rows:
            depth[kind, JobState(status).name.lower()] = count
            late |= {} if seconds is None else {kind: seconds}
        jobs = GaugeMetricFamily(
            "coffret_jobs", "Jobs, by state: queued, running, failed (and kept).", labels=["kind", "state"]
        )
        oldest = GaugeMetricFamily(
            "coffret_job_oldest_due_seconds",
            "How long the oldest job that could run has been waiting.",
            labels=["kind"],
        )
        for names, count in depth.items():
            jobs.add_metric(names, count)
        for kind, seconds in late.items():
            oldest.add_metric([kind], seconds)
        yield from (jobs, oldest)


QUEUE = QueueGauges()
REGISTRY.register(QUEUE)
_asked: WeakKeyDictionary[Database, float] = WeakKeyDictionary()


async def measure(db: Database) -> None:
    """Read the queue for the gauges. What cannot be read within two seconds is not told; nothing is raised."""
    now = time.monotonic()
    if now - _asked.get(db, -FRESH) < FRESH:
        return
    _asked[db] = now
    try:
        async with asyncio.timeout(PATIENCE):
            QUEUE.rows = await db.rows(text(COUNTS))
    except (TimeoutError, SQLAlchemyError, Unavailable) as error:
        QUEUE.rows = None
        log.warning("the job queue could not be read", error=f"{type(error).__name__}: {error}")
