"""Databases for tests: each looks new, though most were used before, as making one anew takes longer than most tests."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import MetaData

from store.database.db import Database
from tests.servers.kept_connections import KeptConnection, KeptConnections, kept_connections
from tests.servers.kept_loop import KeptLoop

R = TypeVar("R")
NOT_EMPTIED = ("alembic_version",)
"""Tables with rows that a migrated database begins with."""
CATALOGUES = (
    "pg_class", "pg_attribute", "pg_attrdef", "pg_constraint", "pg_trigger", "pg_index", "pg_proc", "pg_namespace",
)  # fmt: skip
SHAPE = f"""
    SELECT concat_ws(',',
        (SELECT string_agg(version_num, ' ') FROM alembic_version),
        (SELECT string_agg(setconfig::text, ' ') FROM pg_db_role_setting
            WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())),
        {
    ", ".join(
        f"(SELECT concat(count(*), ' ', count(*) FILTER (WHERE age(xmin) < age($1::xid))) FROM {name})"
        for name in CATALOGUES
    )
}
    )
"""  # noqa: S608 - of names in this file
"""How many rows each catalogue has, and how many were written after a transaction: any other definition is another row."""
DISCONNECT = """
    SELECT array_agg(pid) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_get_activity(NULL)
    WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND pid <> pg_backend_pid() AND pid <> ALL($1::int[])
"""
"""Ends all connections but some, and tells which."""
EMPTY = f"""
    DO $$ DECLARE
        name regclass;
        folder text := (SELECT concat('base/', oid, '/') FROM pg_database WHERE datname = current_database());
    BEGIN
        SET LOCAL session_replication_role = replica;  -- without the triggers and the keys
        FOR name IN SELECT oid FROM pg_class
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('{"', '".join(NOT_EMPTIED)}')
            AND (pg_stat_file(folder || relfilenode)).size > 0  -- pg_relation_size opens the table, which takes longer
        LOOP EXECUTE format('DELETE FROM %s', name); END LOOP;
        PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
            FROM pg_sequences WHERE last_value IS NOT NULL;
    END $$
"""  # noqa: S608 - of names in this file


class ServerConnection:
    """One connection to a server for all tests. It lives in a thread of its own, as each test has another event loop."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._thread = ThreadPoolExecutor(1)
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection | None = None

    async def execute(self, statement: str) -> None:
        """Execute a statement."""
        await self._run(self._execute(statement))

    async def fetch_value(self, statement: str) -> Any:
        """The only value of a statement."""
        return await self._run(self._fetch_value(statement))

    async def close(self) -> None:
        """Close it for good."""
        await self._run(self._close())
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()

    async def _run(self, work: Coroutine[Any, Any, R]) -> R:
        return await asyncio.wrap_future(self._thread.submit(self._runner.run, work))

    async def _open(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._server)
        return self._connection

    async def _execute(self, statement: str) -> None:
        await (await self._open()).execute(statement)

    async def _fetch_value(self, statement: str) -> Any:
        return await (await self._open()).fetchval(statement)

    async def _close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class Databases:
    """The databases of a run, on one server. One that was given back is emptied and used again: with its connections by the
    next test of this process, unless another process was connected. Then it gets another name, so that whatever a test has
    left running does not find it any more. One whose tables have changed is dropped.
    """

    _numbers = itertools.count(1)

    def __init__(self, server: str, template: str, connection: ServerConnection | None = None) -> None:
        self._server, self._template = server, template
        self._connection = connection or ServerConnection(server)
        self._free: list[str] = []
        self._shape, self._since = "", 0
        self._extended: dict[MetaData, Databases] = {}
        self._kept_database: KeptConnections | None = None

    async def extended(self, tables: MetaData) -> "Databases":
        """Databases that have further tables."""
        if tables not in self._extended:
            template = f"{self._template}_{len(self._extended)}"
            await self._connection.execute(f"CREATE DATABASE {template} TEMPLATE {self._template} STRATEGY FILE_COPY")
            db = Database(url_of_database(self._server, template))
            async with db.engine.begin() as connection:
                await connection.run_sync(tables.create_all)
            await db.aclose()
            self._extended[tables] = Databases(self._server, template, self._connection)
        return self._extended[tables]

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[str]:
        """The address of a migrated database that nobody else has."""
        keeps = isinstance(asyncio.get_running_loop(), KeptLoop) and (
            self._kept_database is None or not self._kept_database.is_lending
        )
        async with self._kept_one() if keeps else self._new_one() as address:
            yield address

    @contextlib.asynccontextmanager
    async def _new_one(self) -> AsyncIterator[str]:
        """One with a name that no other had."""
        name, address = await self._make_one()
        if not self._shape:
            async with connected(address) as connection:
                await self._learn_shape(connection)
        try:
            yield address
        finally:
            try:
                async with connected(address) as connection:
                    await connection.fetchval(DISCONNECT, [])
                    is_like_new = await self._empty(connection)
            except (asyncpg.PostgresError, OSError):
                is_like_new = False
            await self._take_back(name, is_like_new=is_like_new)

    @contextlib.asynccontextmanager
    async def _kept_one(self) -> AsyncIterator[str]:
        """One that has its name and connections from the tests before."""
        kept = self._kept_database = self._kept_database or await self._keep()
        kept.is_lending = True
        try:
            yield kept.address
        finally:
            stay, left = kept.collect()
            is_like_new, ended = False, None
            with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                ended = await kept.control.fetchval(DISCONNECT, stay) or []
                is_like_new = await self._empty(kept.control)
            if not is_like_new or ended is None or set(ended) - set(left):
                # Another process, which may come back, must not find it again under this name.
                self._kept_database = None
                kept.end()
                await self._take_back(kept.name, is_like_new=is_like_new)

    async def _make_one(self) -> tuple[str, str]:
        """The name and the address of a database, used before or new."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        if self._free:
            await self._connection.execute(f"ALTER DATABASE {self._free.pop()} RENAME TO {name}")
        else:
            await self._connection.execute(f"CREATE DATABASE {name} TEMPLATE {self._template} STRATEGY FILE_COPY")
        return name, url_of_database(self._server, name)

    async def _keep(self) -> KeptConnections:
        name, address = await self._make_one()
        control = await asyncpg.connect(address, connection_class=KeptConnection)
        if not self._shape:
            await self._learn_shape(control)
        return KeptConnections(name, address, control)

    async def _take_back(self, name: str, *, is_like_new: bool) -> None:
        """Have a database without connections for another test, or drop it."""
        if is_like_new:
            self._free.append(name)
        else:
            await self._connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    async def _learn_shape(self, connection: asyncpg.Connection) -> None:
        """Learn the shape of all of them: a copy has the very numbers of the template."""
        self._since = await self._connection.fetch_value("SELECT pg_current_xact_id()::xid")
        self._shape = await connection.fetchval(SHAPE, self._since)

    async def _empty(self, connection: asyncpg.Connection) -> bool:
        """Whether it is like new now: that takes its tables as they were, and a server that lets us pass by its triggers."""
        if await connection.fetchval(SHAPE, self._since) != self._shape:
            return False
        await connection.execute(EMPTY)
        return True

    async def close(self) -> None:
        """Drop those that wait to be used again, and the connection to the server."""
        await self.drop()
        await self._connection.close()

    async def drop(self) -> None:
        """Drop those that wait to be used again."""
        if self._kept_database is not None:
            self._kept_database.end()
            self._free.append(self._kept_database.name)
            self._kept_database = None
        while self._free:
            await self._connection.execute(f"DROP DATABASE {self._free.pop()} WITH (FORCE)")
        for databases in self._extended.values():
            await databases.drop()


@contextlib.asynccontextmanager
async def connected(address: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection, closed afterwards."""
    connection = await asyncpg.connect(address)
    try:
        yield connection
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def superuser(address: str) -> AsyncIterator[asyncpg.Connection]:
    """The tests' own connection to a database; a new one if there is none."""
    if (kept := kept_connections(address)) is not None and kept.is_lending:
        yield kept.control
    else:
        async with connected(address) as connection:
            yield connection


def url_of_database(server: str, name: str) -> str:
    """The address of a database of a server."""
    head, _, tail = server.partition("?")
    return head.rsplit("/", 1)[0] + "/" + name + ("?" + tail if tail else "")
