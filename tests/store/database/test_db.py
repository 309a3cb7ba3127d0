"""The database's address, as hosting platforms write it."""

import asyncio

import asyncpg
import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from store.database.db import Database, dsn


async def test_an_address_may_have_the_options_of_libpq(database_url: str) -> None:
    """`?sslmode=require` ends most addresses of hosted servers; the test's own server knows no TLS."""
    joint = "&" if "?" in database_url else "?"
    db = Database(f"{database_url}{joint}sslmode=prefer&application_name=somebody")
    assert [tuple(row) for row in await db.fetch("SHOW application_name")] == [("somebody",)]
    await db.aclose()


async def test_a_restart_of_the_database_is_noticed_before_anybody_is_disappointed(
    database: Database, postgres: str
) -> None:
    async def read() -> None:
        async with database.sessions() as session:
            await (await session.connection()).execute(text("SELECT pg_sleep(0.01)"))
        await database.fetch("SELECT pg_sleep(0.01)")
        await database.rows(text("SELECT 1"))

    await asyncio.gather(*(read() for _ in range(12)))
    server = await asyncpg.connect(postgres)
    name = (await database.fetch("SELECT current_database()"))[0][0]
    ended = await server.fetch("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    await server.close()
    assert len(ended) >= 12
    await asyncio.sleep(0.2)
    await asyncio.gather(*(read() for _ in range(24)))


async def test_an_error_that_is_logged_names_nobody(database: Database) -> None:
    with pytest.raises(DBAPIError) as failed:
        await database.rows(text("SELECT cast(:email AS integer)").bindparams(email="ada\x00@example.com"))
    assert "ada" not in str(failed.value)


async def test_connections_in_use_are_counted_also_when_they_die(database: Database, postgres: str) -> None:
    def in_use() -> float:
        return REGISTRY.get_sample_value("coffret_database_connections_in_use") or 0

    before = in_use()
    async with database.autocommit_engine.connect(), database.autocommit_engine.connect() as connection:
        assert in_use() == before + 2
        server = await asyncpg.connect(postgres)
        name = (await connection.execute(text("SELECT current_database()"))).scalar_one()
        await server.fetch("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
        await server.close()
        await asyncio.sleep(0.1)
    assert in_use() == before
    await asyncio.gather(*(database.rows(text("SELECT 1")) for _ in range(5)))
    assert in_use() == before


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg"])
def test_any_name_of_the_scheme_will_do(scheme: str) -> None:
    assert dsn(f"{scheme}://u:p@host/db?sslmode=require") == "postgresql://u:p@host/db?sslmode=require"


@pytest.mark.parametrize("url", ["mysql://host/db", "host/db", "", "postgresql"])
def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must start with postgresql://"):
        dsn(url)
