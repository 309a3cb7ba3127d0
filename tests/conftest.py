"""What every test may ask for: an empty migrated database of its own, on a real PostgreSQL."""

import asyncio
import contextlib
import itertools
import os
import pathlib
import tempfile
from collections.abc import AsyncIterator, Iterator

import asyncpg
import hypothesis
import pytest
import structlog

from store.clock import clock
from store.db import Database
from store.embedded import EmbeddedPostgres
from store.kv import open_kv
from store.migrate import migrate
from store.providers.sandbox import close
from tests.activation_world import Newcomer, open_newcomer
from tests.shop_world import Shop, open_shop, sandbox_and_provider, services_over

pytest_plugins = ["tests.programs", "tests.chromium", "tests.mail_servers", "tests.redis_servers"]

# How long one example takes says nothing on a machine that does other things as well.
hypothesis.settings.register_profile("ours", deadline=None)
hypothesis.settings.load_profile("ours")

# Structlog's own choice draws each traceback with all variables: seconds, during which nothing else runs.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S"),
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server for this run: `TEST_DATABASE_URL` of the environment, or an embedded one."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    with (
        tempfile.TemporaryDirectory(prefix="coffret-tests-", ignore_cleanup_errors=True) as folder,
        EmbeddedPostgres(pathlib.Path(folder), fast=True) as url,
    ):
        yield url.replace("postgresql+asyncpg://", "postgresql://")


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


@contextlib.asynccontextmanager
async def fresh_database(postgres: str, template: str) -> AsyncIterator[str]:
    """The address of a migrated database that nobody else has; dropped afterwards."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    await _create(postgres, name, template)
    yield _named(postgres, name)
    connection = await asyncpg.connect(postgres)
    await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await connection.close()


@pytest.fixture
async def database_url(postgres: str, template: str) -> AsyncIterator[str]:
    """The address of a fresh, migrated database."""
    async with fresh_database(postgres, template) as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    db = Database(database_url)
    yield db
    await db.aclose()


@pytest.fixture
async def shop(database: Database) -> AsyncIterator[Shop]:
    """A shop to buy from, with everything in this process but PostgreSQL."""
    sandbox, provider = sandbox_and_provider()
    kv = open_kv("", clock)
    yield await open_shop(services_over(database, kv, provider), sandbox)
    await provider.aclose()
    await close(sandbox)
    await kv.aclose()


@pytest.fixture
async def newcomer(database: Database) -> AsyncIterator[Newcomer]:
    """A partner whose payments are not active yet, with everything in this process but PostgreSQL."""
    sandbox, provider = sandbox_and_provider()
    kv = open_kv("", clock)
    yield await open_newcomer(services_over(database, kv, provider), sandbox)
    await provider.aclose()
    await close(sandbox)
    await kv.aclose()


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
