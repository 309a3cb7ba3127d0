"""Statements that are kept: safe between callers, sound after cancellations and lost connections."""

import asyncio
from typing import Any

import asyncpg
import pytest
from sqlalchemy import BindParameter, MetaData, bindparam, select

from store.database.db import MAX_IDLE_CONNECTIONS, Database
from store.database.loaders import column
from store.database.statement_cache import Condition, PreparedStatement
from tests.example_cards import METADATA, CardRow, fill

codes = column(CardRow, "code")
ids = column(CardRow, "id")


@pytest.fixture
def more_tables() -> MetaData:
    """The tables of the example."""
    return METADATA


@pytest.fixture
async def db(database: Database) -> Database:
    await fill(database, 10)
    return database


async def test_a_kept_statement_brings_no_value_of_another_request(db: Database) -> None:
    for id in (3, 4):
        found = await db.statements.rows(
            "by id", lambda test: select(codes).where(test), {}, [Condition.from_expression(ids == id)]
        )
        assert found[0][0] == f"C0000{id - 1}"
    assert len(db.statements.cache) == 1


async def test_conditions_of_another_shape_are_another_statement(db: Database) -> None:
    for condition in (ids == 3, ids >= 3, codes == "C00002"):
        await db.statements.rows(
            "one", lambda test: select(ids).where(test), {}, [Condition.from_expression(condition)]
        )
    assert len(db.statements.cache) == 3


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (select(ids).where(ids == 3), "neither named nor part of a test"),
        (select(ids).where(ids.in_([1, 2])), "any_"),
        (select(ids).where(ids == bindparam("other", 1)), "neither named nor part of a test"),
    ],
)
def test_a_value_from_nowhere_is_refused(db: Database, statement: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        PreparedStatement.compile(statement, {"size": 1}, [BindParameter(None, 3)], db.engine.dialect)


async def test_a_cancelled_statement_leaves_a_good_connection(db: Database) -> None:
    for _ in range(3):
        task = asyncio.ensure_future(db.fetch("SELECT pg_sleep(10)"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await db.fetch("SELECT 1"))[0][0] == 1


async def test_a_failed_statement_leaves_a_good_connection(db: Database) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        await db.fetch("SELECT 1 / 0")
    assert (await db.fetch("SELECT 1"))[0][0] == 1


async def test_a_lost_connection_is_replaced(db: Database) -> None:
    (own,) = await db.fetch("SELECT pg_backend_pid()")
    async with db.engine.connect() as other:
        await other.exec_driver_sql(f"SELECT pg_terminate_backend({own[0]})")
    await asyncio.sleep(0.1)
    (another,) = await db.fetch("SELECT pg_backend_pid()")
    assert another[0] != own[0]


async def test_many_at_once_keep_few_connections(db: Database) -> None:
    await asyncio.gather(*(db.fetch("SELECT pg_sleep(0.01)") for _ in range(30)))
    assert len(db._idle_connections) == MAX_IDLE_CONNECTIONS
    await db.aclose()
    assert not db._idle_connections
