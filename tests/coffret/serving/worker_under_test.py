"""`coffret worker`, whose one kind of job notes an effect under a unique key: what tests start as processes, and kill."""

import asyncio
import datetime as dt
import os

from sqlalchemy import text

from coffret.commands import worker as command
from resolvers.core.services import Services
from resolvers.job import worker
from resolvers.job.registry import JobHandler, Payload
from store.core.retries import RetryPolicy
from store.job.jobs import JobKind

NOTE = text("""
    WITH noted AS (INSERT INTO effect (key) VALUES (:key) ON CONFLICT DO NOTHING RETURNING 1)
    UPDATE total SET amount = amount + (SELECT count(*) FROM noted)
""")
"""The effect is the amount: without the key a job that is run twice would count twice."""


async def add(services: Services, payload: Payload) -> None:
    """Count one, once for each key."""
    await asyncio.sleep(payload["before"])
    async with services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(NOTE, {"key": payload["key"]})
    await asyncio.sleep(payload["after"])


if __name__ == "__main__":
    policy = RetryPolicy(
        first_pause=dt.timedelta(seconds=1),
        longest_pause=dt.timedelta(seconds=1),
        total_duration=dt.timedelta(minutes=5),
    )
    worker.HANDLERS = {JobKind.DROP_CART: JobHandler(add, policy)}  # type: ignore[attr-defined]
    worker.SCHEDULES = {}  # type: ignore[attr-defined]
    worker.MAX_CONCURRENT_JOBS = 8
    worker.HEARTBEAT_TIMEOUT = dt.timedelta(seconds=float(os.environ["DEAD_AFTER"]))
    worker.POLL_INTERVAL = dt.timedelta(seconds=0.5)
    worker.SHUTDOWN_GRACE = float(os.environ["GRACE"])
    asyncio.run(command.work())
