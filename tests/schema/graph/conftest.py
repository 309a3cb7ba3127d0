"""The example cards, filled, and what is logged about it."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import structlog
from sqlalchemy import MetaData, text

from store.database.db import Database
from tests.example_cards import METADATA, fill
from tests.schema.graph.clients import Client, application
from tests.statements import record_statements


@pytest.fixture(autouse=True)
def logs() -> Iterator[list[Any]]:
    """What the test logs."""
    with structlog.testing.capture_logs() as captured:
        yield captured


@pytest.fixture
def more_tables() -> MetaData:
    """The tables of the example."""
    return METADATA


@pytest.fixture
async def db(database: Database) -> Database:
    """The example with 60 cards of its own."""
    await fill(database, 60)
    return database


@pytest.fixture
async def holed(db: Database) -> Database:
    """The example with nulls where the types promise something, and a use whose issuer is gone."""
    async with db.engine.begin() as connection:
        await connection.execute(text("UPDATE example_issuer SET name = NULL WHERE id = 5"))
        await connection.execute(text("UPDATE example_card SET balance_amount = NULL WHERE id % 17 = 0"))
        await connection.execute(text("UPDATE example_card SET issuer_id = 99 WHERE id % 23 = 0"))
        await connection.execute(text("UPDATE example_use SET issuer_id = 99 WHERE id % 29 = 0"))
    return db


@pytest.fixture
async def statements(db: Database) -> AsyncIterator[list[str]]:
    """Every statement that reaches PostgreSQL, whoever sends it."""
    with record_statements(db) as seen:
        yield seen


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """A client of the endpoint without a database, for what is refused before or needs none."""
    async with Client(application(None)) as made:
        yield made


@pytest.fixture
async def cards_client(db: Database) -> AsyncIterator[Client]:
    """A client of the whole example."""
    async with Client(application(db)) as made:
        yield made
