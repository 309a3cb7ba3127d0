"""Prometheus gauges of the job queue. They are read from the database, so every process reports the same values."""

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
from store.job.jobs import JobKind
from store.job.queue import COUNTS

log = structlog.get_logger(__name__)
CACHE_SECONDS = 5.0
"""Seconds for which the values are cached, so that frequent scrapes do not load the database."""
READ_TIMEOUT = 2.0
"""Seconds. A scrape has ten seconds in all, and the other metrics do not need the database."""


class QueueGauges(Collector):
    """The gauges last read. Every process reports the same values, so they must not be summed over processes."""

    def __init__(self) -> None:
        self.rows: Sequence[Any] | None = None

    def collect(self) -> Iterator[Metric]:
        """The gauges; if the queue could not be read, only `coffret_job_queue_read`."""
        yield GaugeMetricFamily(
            "coffret_job_queue_read", "Whether the job queue could be read: 1 or 0.", 0 if self.rows is None else 1
        )
        if self.rows is None:
            return
        depth = {(str(job), state.name.lower()): 0 for job in JobKind for state in JobState}
        late = {str(job): 0 for job in JobKind}
        for kind, status, count, seconds in self.rows:
            depth[kind, JobState(status).name.lower()] = count
            late |= {} if seconds is None else {kind: seconds}
        jobs = GaugeMetricFamily(
            "coffret_jobs", "Jobs, by state: queued, running, failed (until deleted).", labels=["kind", "state"]
        )
        oldest = GaugeMetricFamily(
            "coffret_job_oldest_due_seconds",
            "Waiting time of the oldest job that is due.",
            labels=["kind"],
        )
        for names, count in depth.items():
            jobs.add_metric(names, count)
        for kind, seconds in late.items():
            oldest.add_metric([kind], seconds)
        yield from (jobs, oldest)


QUEUE = QueueGauges()
REGISTRY.register(QUEUE)
_read_at: WeakKeyDictionary[Database, float] = WeakKeyDictionary()


async def refresh_queue_gauges(db: Database) -> None:
    """Read the queue for the gauges. After two seconds, or on an error, the gauges are left out; nothing is raised."""
    now = time.monotonic()
    if now - _read_at.get(db, -CACHE_SECONDS) < CACHE_SECONDS:
        return
    _read_at[db] = now
    try:
        async with asyncio.timeout(READ_TIMEOUT):
            QUEUE.rows = await db.rows(text(COUNTS))
    except (TimeoutError, SQLAlchemyError, Unavailable) as error:
        QUEUE.rows = None
        log.warning("the job queue could not be read", error=f"{type(error).__name__}: {error}")
