"""What is asked for while a job of its name waits or runs: it is done after that was asked, once, and by nobody beside it."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator

import pytest
import structlog
from sqlalchemy import text

from resolvers.core.services import Services
from resolvers.job.registry import Payload
from store.core.retries import PermanentFailure, RetryPolicy
from store.database.db import Database
from store.job.jobs import JobKind, enqueue_job
from tests.resolvers.job.workers import AT_ONCE, Queued, queued, waited

__all__ = ["queued"]
SLOWLY = RetryPolicy(
    first_pause=dt.timedelta(hours=1), longest_pause=dt.timedelta(hours=1), total_duration=dt.timedelta(days=1)
)


class Reader:
    """A handler that reads a number from the database, and then does not end before it is let go."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.running = self.at_once = 0
        self.go = asyncio.Semaphore(0)
        self.errors: list[Exception] = []

    async def __call__(self, services: Services, _payload: Payload) -> None:
        """Run the job."""
        self.running += 1
        self.at_once = max(self.at_once, self.running)
        self.numbers.append((await services.db.rows(text("SELECT n FROM told")))[0][0])
        await self.go.acquire()
        self.running -= 1
        if self.errors:
            raise self.errors.pop()

    async def has_read(self, times: int) -> None:
        """Wait until so many have read."""
        await waited(lambda: len(self.numbers) == times)


@pytest.fixture
async def reader(queued: Queued) -> Reader:
    """What workers do: nothing was told yet."""
    async with queued.database.engine.begin() as connection:
        await connection.execute(text("CREATE TABLE told (n int)"))
        await connection.execute(text("INSERT INTO told VALUES (0)"))
    made = Reader()
    queued.does(made, AT_ONCE)
    return made


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    """Another process' connections."""
    made = Database(database_url)
    yield made
    await made.aclose()


async def tell(database: Database, number: int) -> None:
    """Change something, and have it looked at."""
    async with database.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE told SET n = :n"), {"n": number})
        await enqueue_job(db, JobKind.DROP_CART, {}, unique_key="it")


async def told_twice(queued: Queued, reader: Reader, other: Database) -> None:
    """Tell a number, tell another while the first is looked at, and wait until nothing is left to look at."""
    await tell(other, 1)
    async with queued.workers():
        await reader.has_read(1)
        await tell(other, 2)
        reader.go.release()
        await reader.has_read(2)
        reader.go.release()
        await queued.until_empty()


@pytest.mark.parametrize("workers", [1, 3])
async def test_what_is_told_while_it_is_looked_at_is_looked_at_once_more(
    queued: Queued, reader: Reader, other: Database, workers: int
) -> None:
    await tell(other, 1)
    async with queued.workers(workers):
        await reader.has_read(1)
        for number in (2, 3, 4):
            await tell(other, number)
        reader.go.release()
        await reader.has_read(2)
        reader.go.release()
        await queued.until_empty()
    assert reader.numbers == [1, 4]
    assert reader.at_once == 1


async def test_what_is_told_of_a_job_that_waits_is_there_when_it_is_read(
    queued: Queued, reader: Reader, other: Database
) -> None:
    """A worker that read before the commit would have nobody to tell it again."""
    await tell(other, 1)
    async with other.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE told SET n = 2"))
        await enqueue_job(db, JobKind.DROP_CART, {}, unique_key="it")
        async with queued.workers():
            await queued.put({"another": True})
            await reader.has_read(1)  # the other job: workers have looked at the queue
            reader.go.release()
            await queued.until("SELECT count(*) FROM pgqueuer", 1)
            await db.commit()
            reader.go.release()
            await queued.until_empty()
    assert reader.numbers == [1, 2]


async def test_what_is_taken_back_is_not_looked_at(queued: Queued, reader: Reader, other: Database) -> None:
    await tell(other, 1)
    async with queued.workers():
        await reader.has_read(1)
        async with other.sessions() as db:
            await db.begin()
            await enqueue_job(db, JobKind.DROP_CART, {}, unique_key="it")
            await db.rollback()
        reader.go.release()
        await queued.until_empty()
    assert reader.numbers == [1]


async def test_an_end_that_is_noted_while_it_is_told_again_waits_for_that(
    queued: Queued, reader: Reader, other: Database
) -> None:
    await tell(other, 1)
    async with queued.workers():
        await reader.has_read(1)
        async with other.sessions() as db, db.begin():
            await (await db.connection()).execute(text("UPDATE told SET n = 2"))
            await enqueue_job(db, JobKind.DROP_CART, {}, unique_key="it")
            reader.go.release()
            waits = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            await queued.until(waits, 1)
        await reader.has_read(2)
        reader.go.release()
        await queued.until_empty()
    assert reader.numbers == [1, 2]


@pytest.mark.parametrize("error", [ValueError("away"), PermanentFailure("no")])
async def test_it_is_looked_at_again_however_the_first_look_ended(
    queued: Queued, reader: Reader, other: Database, error: Exception
) -> None:
    reader.errors.append(error)
    await told_twice(queued, reader, other)
    assert reader.numbers == [1, 2]


async def test_it_is_looked_at_again_at_once_where_it_would_be_tried_later(
    queued: Queued, reader: Reader, other: Database
) -> None:
    queued.does(reader, SLOWLY)
    reader.errors.append(ValueError("away"))
    await told_twice(queued, reader, other)
    assert reader.numbers == [1, 2]


async def test_it_carries_the_request_that_asked_again(queued: Queued, reader: Reader, other: Database) -> None:
    with structlog.contextvars.bound_contextvars(request_id="first"):
        await tell(other, 1)
    async with queued.workers():
        await reader.has_read(1)
        with structlog.contextvars.bound_contextvars(request_id="second"):
            await tell(other, 2)
        reader.go.release()
        await reader.has_read(2)
        assert await queued.rows("SELECT headers ->> 'request_id', headers ? 'again' FROM pgqueuer") == [
            ("second", False)
        ]
        reader.go.release()
        await queued.until_empty()
