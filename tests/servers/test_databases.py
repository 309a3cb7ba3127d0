"""A database that is used again is like new, and one whose definitions have changed is not used again."""

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from store.database.db import Database
from store.partner.partners import MarketplaceRow
from tests.servers.databases import Databases, connected

OID = "SELECT oid FROM pg_database WHERE datname = current_database()"


async def number_of_new_marketplace(url: str) -> int:
    db = Database(url)
    try:
        async with db.sessions() as session, session.begin():
            row = MarketplaceRow(name="Market")
            session.add(row)
        return row.id
    finally:
        await db.aclose()


async def test_a_used_database_is_empty_and_counts_from_the_beginning(databases: Databases) -> None:
    numbers, oids, urls = [], [], []
    for _ in range(2):
        async with databases.one() as url:
            urls.append(url)
            async with connected(url) as connection:
                oids.append(await connection.fetchval(OID))
                assert await connection.fetchval("SELECT count(*) FROM marketplace") == 0
            numbers.append(await number_of_new_marketplace(url))
    assert oids[0] == oids[1]
    assert numbers[0] == numbers[1]
    with pytest.raises(DBAPIError, match="has ended"):
        await number_of_new_marketplace(urls[0])


async def test_the_next_test_gets_the_connections_as_new_ones(databases: Databases) -> None:
    state = """SELECT pg_backend_pid(), current_setting('search_path'), to_regclass('pg_temp.extra'),
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
        (SELECT count(*) FROM pg_listening_channels())"""
    async with databases.one() as url:
        db = Database(url)
        async with db.engine.connect() as one, db.engine.connect() as other:
            await one.execute(text("SELECT 1"))
            await other.execute(text("SELECT 1"))
        await db.aclose()
    found = []
    for _ in range(2):
        async with databases.one() as url:
            db = Database(url)
            async with db.autocommit_engine.connect() as connection:
                found.append((await connection.execute(text(state))).one())
                for statement in ("SET search_path = extra", "SELECT pg_advisory_lock(1)", "LISTEN extra"):
                    await connection.execute(text(statement))
            await db.aclose()
    assert found[0] == found[1]


async def test_whoever_has_closed_a_connection_cannot_use_it(databases: Databases) -> None:
    async with databases.one() as url:
        db = Database(url)
        async with db.engine.connect() as connection:
            driver = (await connection.get_raw_connection()).driver_connection
        await db.aclose()
        assert driver is not None
        assert driver.is_closed()
        with pytest.raises(asyncpg.InterfaceError):
            await driver.fetch("SELECT 1")


async def test_a_database_that_another_program_used_to_the_end_gets_another_name(databases: Databases) -> None:
    async with databases.one() as url:
        left = await asyncpg.connect(url)
    async with databases.one() as other:
        assert other != url
        with pytest.raises(asyncpg.InvalidCatalogNameError):
            await asyncpg.connect(url)
    left.terminate()


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE extra (id int)",
        "ALTER TABLE marketplace ADD COLUMN extra int",
        "ALTER TABLE marketplace ALTER COLUMN name DROP NOT NULL",
        "ALTER TABLE marketplace DISABLE TRIGGER ALL",
        "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_pkey CASCADE",
        "CREATE INDEX extra ON marketplace (name)",
        "CREATE FUNCTION extra() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE SCHEMA extra",
        "UPDATE alembic_version SET version_num = 'extra'",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 1024', current_database()); END $$",
    ],
)
async def test_a_database_with_other_definitions_is_dropped(databases: Databases, change: str) -> None:
    async with databases.one() as url, connected(url) as connection:
        changed = await connection.fetchval(OID)
        await connection.execute(change)
    async with databases.one() as url, connected(url) as connection:
        assert await connection.fetchval(OID) != changed
        assert await connection.fetchval("SELECT count(*) FROM pg_database WHERE oid = $1", changed) == 0
