"""Databases for tests: each looks new, though most were used before, as making one anew takes longer than most tests."""

import contextlib
import itertools
import os
from collections.abc import AsyncIterator

import asyncpg
from sqlalchemy import MetaData

from store.database.db import Database

NOT_EMPTIED = ("alembic_version",)
"""Tables with rows that a migrated database begins with."""
SHAPE = """
    SELECT md5(string_agg(part, ',' ORDER BY part)) FROM (
        SELECT concat('relation', oid, relname, relkind) AS part FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT concat('column', attrelid, attname, atttypid, atttypmod, attnotnull)
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT concat('default', oid, adnum) FROM pg_attrdef
        UNION ALL SELECT concat('constraint', oid, conname, convalidated) FROM pg_constraint
        UNION ALL SELECT concat('trigger', oid, tgenabled) FROM pg_trigger
        UNION ALL SELECT concat('index', indexrelid, indisvalid) FROM pg_index
        UNION ALL SELECT concat('function', oid, md5(prosrc)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT concat('schema', nspname) FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%'
        UNION ALL SELECT concat('setting', setconfig::text) FROM pg_db_role_setting
            WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
        UNION ALL SELECT concat('revision', version_num) FROM alembic_version
    ) parts
"""
DISCONNECT = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
EMPTY = f"""
    DO $$ DECLARE name regclass; BEGIN
        SET LOCAL session_replication_role = replica;  -- without the triggers and the keys
        FOR name IN SELECT oid FROM pg_class
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('{"', '".join(NOT_EMPTIED)}')
            AND pg_relation_size(oid) > 0  -- to open all the others takes as long as all the rest
        LOOP EXECUTE format('DELETE FROM %s', name); END LOOP;
        PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
            FROM pg_sequences WHERE last_value IS NOT NULL;
    END $$
"""  # noqa: S608 - of names in this file


class Databases:
    """The databases of a run, on one server. One that was given back is emptied and used again, under another name: whatever
    a test has left running does not find it any more. One whose tables have changed is dropped.
    """

    _numbers = itertools.count(1)

    def __init__(self, server: str, template: str) -> None:
        self._server, self._template = server, template
        self._free: list[str] = []
        self._shape = ""
        self._extended: dict[MetaData, Databases] = {}

    async def extended(self, tables: MetaData) -> "Databases":
        """Databases that have further tables."""
        if tables not in self._extended:
            template = f"{self._template}_{len(self._extended)}"
            await self._run(f"CREATE DATABASE {template} TEMPLATE {self._template} STRATEGY FILE_COPY")
            db = Database(url_of_database(self._server, template))
            async with db.engine.begin() as connection:
                await connection.run_sync(tables.create_all)
            await db.aclose()
            self._extended[tables] = Databases(self._server, template)
        return self._extended[tables]

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[str]:
        """The address of a migrated database that nobody else has."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        if self._free:
            await self._run(f"ALTER DATABASE {self._free.pop()} RENAME TO {name}")
        else:
            await self._run(f"CREATE DATABASE {name} TEMPLATE {self._template} STRATEGY FILE_COPY")
        address = url_of_database(self._server, name)
        if not self._shape:  # of all of them: a copy has the very numbers of the template
            async with connected(address) as connection:
                self._shape = await connection.fetchval(SHAPE)
        try:
            yield address
        finally:
            if await self._emptied(address):
                self._free.append(name)
            else:
                await self._run(f"DROP DATABASE {name} WITH (FORCE)")

    async def drop(self) -> None:
        """Drop those that wait to be used again."""
        while self._free:
            await self._run(f"DROP DATABASE {self._free.pop()} WITH (FORCE)")
        for databases in self._extended.values():
            await databases.drop()

    async def _run(self, statement: str) -> None:
        async with connected(self._server) as connection:
            await connection.execute(statement)

    async def _emptied(self, address: str) -> bool:
        """Whether it is like new: that takes its tables as they were, and a server that lets us pass by its triggers."""
        try:
            async with connected(address) as connection:
                await connection.execute(DISCONNECT)
                if await connection.fetchval(SHAPE) != self._shape:
                    return False
                await connection.execute(EMPTY)
        except (asyncpg.PostgresError, OSError):
            return False
        return True


@contextlib.asynccontextmanager
async def connected(address: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection, closed afterwards."""
    connection = await asyncpg.connect(address)
    try:
        yield connection
    finally:
        await connection.close()


def url_of_database(server: str, name: str) -> str:
    """The address of a database of a server."""
    head, _, tail = server.partition("?")
    return head.rsplit("/", 1)[0] + "/" + name + ("?" + tail if tail else "")
