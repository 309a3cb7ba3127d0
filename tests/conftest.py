"""What every test may ask for: an empty migrated database of its own, on a real PostgreSQL."""

import asyncio
import datetime as dt
import gc
import itertools
import os
import pathlib
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator

import hypothesis
import pytest
import structlog
from argon2 import PasswordHasher
from sqlalchemy import MetaData

from coffret.development.wallet_keys import write_test_keys
from coffret.sandbox import close
from store.account import credentials
from store.core.clock import clock
from store.core.settings import Settings
from store.database import db as pool
from store.database.db import Database
from store.database.embedded_postgres import EmbeddedPostgres
from store.kv import clients, open_kv
from store.migrations.migrate import migrate
from tests.fixtures.activation import Newcomer, open_newcomer
from tests.fixtures.shop import Shop, sandbox_and_provider, services_over, shop_in
from tests.servers import engines
from tests.servers.databases import Databases, connected, url_of_database
from tests.servers.kept_connections import end_all, kept_sockets
from tests.servers.kept_loop import KeptLoop

pytest_plugins = [
    "tests.servers.programs",
    "tests.servers.chromium",
    "tests.servers.coffret_programs",
    "tests.servers.mail_servers",
    "tests.servers.redis_servers",
    "tests.servers.s3_servers",
]

# How long one example takes says nothing on a machine that does other things as well.
# In CI the same examples each time: a new one that fails is for whoever runs the tests at their desk.
hypothesis.settings.register_profile("ours", deadline=None, max_examples=50, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("ours")

engines.share()

# HTTPX tries to import sniffio at each request to an application in this process. Nothing here has it, and the search is slow.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]

# Nor does how long a server of ours takes to answer; tests of servers that hang have short timeouts of their own.
clients.TIMEOUT = dt.timedelta(minutes=1)

# Nor how long two hundred requests at once wait for a connection.
pool.POOL_TIMEOUT = 60.0

# What is slow on purpose, so that nobody tries many, is quick here.
credentials.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

# Structlog's own choice draws each traceback with all variables: seconds, during which nothing else runs.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S"),
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)


WAITING = ("tests/browser/", "tests/coffret/", "tests/store/providers/", "tests/docs/", "tests/servers/")
"""Folders of tests that start programs and browsers, and leave the processor idle while they wait."""


def pytest_xdist_auto_num_workers() -> int | None:
    """One process more than processors: a test that waits for a program makes room for one that computes."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put a file that waits before every two that compute, so that both kinds run side by side to the end."""
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    waiting = [file for file in files if file.startswith(WAITING)]
    computing = iter([file for file in files if not file.startswith(WAITING)])
    order = [name for file in waiting for name in (file, *itertools.islice(computing, 2))]
    items[:] = [item for file in (*order, *computing) for item in files[file]]


def pytest_collection_finish() -> None:
    """Collections of garbage from now on pass over what has been imported and collected, which stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def kept_loop() -> Iterator[KeptLoop]:
    """The event loop of all tests that do not share one of their own with the tests of their file."""
    loop = KeptLoop(kept_sockets)
    yield loop
    end_all()
    loop.end()


@pytest.fixture
def _function_scoped_runner(kept_loop: KeptLoop) -> Iterator[asyncio.Runner]:
    """What pytest-asyncio runs a test and its fixtures with, here always on the same loop."""
    with asyncio.Runner(loop_factory=lambda: kept_loop) as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield runner
        asyncio.set_event_loop(None)


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
def databases(postgres: str) -> Iterator[Databases]:
    """Migrated, empty databases."""
    template = f"template_{os.getpid()}"

    async def make() -> None:
        async with connected(postgres) as connection:
            await connection.execute(f"CREATE DATABASE {template}")
        db = Database(url_of_database(postgres, template))
        await migrate(db)
        await db.aclose()

    asyncio.run(make())
    made = Databases(postgres, template)
    yield made
    asyncio.run(made.close())


@pytest.fixture
def more_tables() -> MetaData | None:
    """Tables that a database begins with beside the program's. Tests that have some say so here: to create them in each
    database takes longer than most tests.
    """
    return None


@pytest.fixture
async def database_url(databases: Databases, more_tables: MetaData | None) -> AsyncIterator[str]:
    """The address of an empty, migrated database."""
    made = databases if more_tables is None else await databases.extended(more_tables)
    async with made.one() as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database."""
    db = Database(database_url)
    yield db
    await db.aclose()


@pytest.fixture
def installation() -> Settings:
    """The settings of the installation that shops and newcomers are of."""
    return Settings(funnel_scheme="http")


@pytest.fixture
def shop_host() -> str:
    """The host of the shop."""
    return "shop.localhost"


@pytest.fixture
async def shop(database: Database, database_url: str, installation: Settings, shop_host: str) -> AsyncIterator[Shop]:
    """A shop to buy from, with everything in this process but PostgreSQL."""
    async with shop_in(database, installation, shop_host, database_url) as opened:
        yield opened


@pytest.fixture
async def newcomer(database: Database, installation: Settings) -> AsyncIterator[Newcomer]:
    """A partner whose payments are not active yet, with everything in this process but PostgreSQL."""
    sandbox, provider = sandbox_and_provider()
    kv = open_kv("", clock)
    yield await open_newcomer(services_over(database, kv, provider, installation), sandbox)
    await provider.aclose()
    await close(sandbox)
    await kv.aclose()


@pytest.fixture(autouse=True)
def present() -> Iterator[None]:
    """Time that a test moved forward goes back after it."""
    before = dict(vars(clock))
    yield
    vars(clock).update(before)


@pytest.fixture(scope="module")
def wallet_dir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with keys for wallet passes."""
    folder = tmp_path_factory.mktemp("wallet")
    write_test_keys(folder)
    return folder
