"""What every test may ask for: an empty migrated database of its own, on a real PostgreSQL."""

import asyncio
import itertools
import os
import pathlib
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from store.clock import clock
from store.db import Database
from store.migrate import migrate

pytest_plugins = ["tests.redis_servers"]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server for this run: `DATABASE_URL` of the environment, or an embedded one."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    from store.embedded import embedded_postgres

    async def opened() -> tuple[object, str]:
        manager = embedded_postgres(pathlib.Path(tmp_path_factory.mktemp("postgres")), fast=True)
        return manager, await manager.__aenter__()

    with asyncio.Runner() as runner:
        manager, url = runner.run(opened())
        yield url.replace("postgresql+asyncpg://", "postgresql://")
        runner.run(manager.__aexit__(None, None, None))  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def template(postgres: str) -> str:
    """The name of a migrated, empty database that others are copied from."""
    name = f"template_{os.getpid()}"

    async def make() -> None:
        await _create(postgres, name)
        db = Database(_named(postgres, name))
        await migrate(db)
        await db.aclose()

    asyncio.run(make())
    return name


@pytest.fixture
async def database_url(postgres: str, template: str) -> AsyncIterator[str]:
    """The address of a fresh, migrated database."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    await _create(postgres, name, template)
    yield _named(postgres, name)
    connection = await asyncpg.connect(postgres)
    await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await connection.close()


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    db = Database(database_url)
    yield db
    await db.aclose()


@pytest.fixture(autouse=True)
def present() -> Iterator[None]:
    """Time that a test moved forward goes back after it."""
    ahead = clock._ahead
    yield
    clock._ahead = ahead


async def _create(server: str, name: str, template: str = "template1") -> None:
    connection = await asyncpg.connect(server)
    await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    await connection.close()


def _named(server: str, name: str) -> str:
    head, _, tail = server.partition("?")
    return head.rsplit("/", 1)[0] + "/" + name + ("?" + tail if tail else "")
