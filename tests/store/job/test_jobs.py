"""Jobs belong to the transaction that wants them."""

from sqlalchemy import text

from store.database.db import Database
from store.database.driver import driver_of
from store.job.jobs import JobKind, enqueue_job


async def waiting(database: Database) -> int:
    return int((await database.rows(text("SELECT count(*) FROM pgqueuer")))[0][0])


async def test_a_job_of_a_transaction_that_rolls_back_is_gone(database: Database) -> None:
    async with database.sessions() as db:
        await db.begin()
        await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": "a"})
        await db.rollback()
    assert await waiting(database) == 0


async def test_a_job_is_there_after_the_commit_and_only_once(database: Database) -> None:
    for _ in range(2):
        async with database.sessions() as db, db.begin():
            await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": "a"}, unique_key="a")
            assert await waiting(database) in (0, 1)
    assert await waiting(database) == 1


async def test_in_a_transaction_that_has_begun_a_job_is_one_statement(database: Database) -> None:
    seen: list[str] = []
    async with database.sessions() as db, db.begin():
        await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": "a"})
        with (await driver_of(db)).query_logger(lambda record: seen.append(record.query)):
            await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": "b"})
    assert len(seen) == 1
    assert await waiting(database) == 2
