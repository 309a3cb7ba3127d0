"""How many jobs there are and how late they are, as Prometheus reads it. The database is asked, so any process tells the same."""

import asyncio
import time
from weakref import WeakKeyDictionary

import structlog
from prometheus_client import Gauge
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from schema.errors import Unavailable
from schema.job import JobState
from store.db import Database
from store.job_queue import COUNTS
from store.jobs import Job

log = structlog.get_logger(__name__)
FRESH = 5.0
"""Seconds for which what was read is told again: however many ask, the database is asked as often as that."""
PATIENCE = 2.0
"""Seconds. Prometheus gives a scrape ten, and all else is told without the database."""

DEPTH = Gauge(
    "coffret_jobs",
    "Jobs in the queue, by state: queued, running, failed (and kept).",
    ["kind", "state"],
    multiprocess_mode="mostrecent",
)
LATE = Gauge(
    "coffret_job_oldest_due_seconds",
    "How long the oldest job that could run has been waiting.",
    ["kind"],
    multiprocess_mode="mostrecent",
)
READ = Gauge(
    "coffret_job_queue_read",
    "1: the queue could be read. 0: it could not, and nothing is told about it.",
    multiprocess_mode="mostrecent",
)

_asked: WeakKeyDictionary[Database, float] = WeakKeyDictionary()


async def measure(db: Database) -> None:
    """Bring the gauges up to date. What cannot be read within two seconds is not told; nothing is raised."""
    now = time.monotonic()
    if now - _asked.get(db, -FRESH) < FRESH:
        return
    _asked[db] = now
    try:
        async with asyncio.timeout(PATIENCE):
            rows = await db.rows(text(COUNTS))
    except (TimeoutError, SQLAlchemyError, Unavailable) as error:
        log.warning("the job queue could not be read", error=f"{type(error).__name__}: {error}")
        rows = None
    DEPTH.clear()  # nobody reads between this and the end
    LATE.clear()
    READ.set(0 if rows is None else 1)
    if rows is None:
        return
    for kind in Job:
        LATE.labels(kind).set(0)
        for state in JobState:
            DEPTH.labels(kind, state.name.lower()).set(0)
    for kind, status, count, late in rows:
        DEPTH.labels(kind, JobState(status).name.lower()).set(count)
        if late is not None:
            LATE.labels(kind).set(late)
