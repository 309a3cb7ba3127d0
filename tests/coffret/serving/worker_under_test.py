"""`coffret worker`, whose one kind of job notes an effect under a unique key: what tests start as processes, and kill."""

import asyncio
import datetime as dt
import os

from sqlalchemy import text

from coffret.commands import worker as command
from resolvers.core.context import Services
from resolvers.job import worker
from resolvers.job.registry import Payload, Work
from store.job.jobs import Job, Retries

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
    policy = Retries(first=dt.timedelta(seconds=1), longest=dt.timedelta(seconds=1), lasting=dt.timedelta(minutes=5))
    worker.HANDLERS = {Job.DROP_CART: Work(add, policy)}  # type: ignore[attr-defined]
    worker.SCHEDULES = {}  # type: ignore[attr-defined]
    worker.AT_ONCE = 8
    worker.DEAD_AFTER = dt.timedelta(seconds=float(os.environ["DEAD_AFTER"]))
    worker.LOOKS_EVERY = dt.timedelta(seconds=0.5)
    worker.GRACE = float(os.environ["GRACE"])
    asyncio.run(command.work())
