"""Workers with handlers of a test, on a database of its own: what tests of the job queue start from."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.core.services import Services
from resolvers.job import worker
from resolvers.job.registry import Handler, JobHandler, ScheduledTask
from store.core.retries import RetryPolicy
from store.database.db import Database, dsn
from store.job.jobs import JobKind, enqueue_job
from tests.example_cards import services

AT_ONCE = RetryPolicy(first_pause=dt.timedelta(), longest_pause=dt.timedelta(), total_duration=dt.timedelta())
"""One try."""
THRICE = RetryPolicy(
    first_pause=dt.timedelta(milliseconds=1),
    longest_pause=dt.timedelta(seconds=1),
    total_duration=dt.timedelta(milliseconds=3),
)


@contextlib.asynccontextmanager
async def working(services: Services, url: str, number: int = 1) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Workers on one database, stopped at the end as a process that ends stops its own."""
    tasks = [asyncio.create_task(worker.run_worker(services, dsn(url))) for _ in range(number)]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Queued:
    """A job queue, and the workers that a test starts."""

    def __init__(self, database: Database, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.database = database
        self.services: Services = services(database)
        self.dsn = dsn(url)
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(worker, "SCHEDULES", {})
        monkeypatch.setattr(worker, "POLL_INTERVAL", dt.timedelta(seconds=0.2))

    def does(self, handler: Handler, retries: RetryPolicy = THRICE, give_up: Handler | None = None) -> None:
        """What workers do for `Job.DROP_CART`; they do nothing else."""
        work = JobHandler(handler, retries, give_up=give_up)
        self._monkeypatch.setattr(worker, "HANDLERS", {JobKind.DROP_CART: work})

    def schedules(self, **tasks: ScheduledTask) -> None:
        """What is on a schedule."""
        self._monkeypatch.setattr(worker, "SCHEDULES", tasks)

    def sets(self, **values: object) -> None:
        """Change constants of the worker."""
        for name, value in values.items():
            self._monkeypatch.setattr(worker, name, value)

    async def put(self, *payloads: dict[str, Any], once: str | None = None, after: dt.timedelta | None = None) -> None:
        """Enqueue jobs."""
        async with self.database.sessions() as db, db.begin():
            for payload in payloads:
                await enqueue_job(db, JobKind.DROP_CART, payload, unique_key=once, after=after)

    async def rows(self, statement: str) -> list[Any]:
        """What the database says."""
        return [tuple(row) for row in await self.database.rows(text(statement))]

    async def until(self, statement: str, expected: object, seconds: float = 60) -> None:
        """Wait until the database says so."""
        found: object = None
        try:
            async with asyncio.timeout(seconds):
                while (found := (await self.rows(statement))[0][0]) != expected:
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pytest.fail(f"{statement}: {found!r}, not {expected!r}")

    async def until_empty(self) -> None:
        """Wait until all is done."""
        await self.until("SELECT count(*) FROM pgqueuer", 0)

    def workers(self, number: int = 1) -> contextlib.AbstractAsyncContextManager[list[asyncio.Task[None]]]:
        """Workers, stopped at the end as a process that ends stops its own."""
        return working(self.services, self.dsn, number)


async def waited(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def queued(database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Queued:
    """An empty queue, and no workers yet."""
    return Queued(database, database_url, monkeypatch)
