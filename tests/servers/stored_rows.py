"""Copies the rows of one database into others: filling each row by row takes longer than most tests."""

import pickle
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from store.core.clock import clock
from tests.servers.databases import NOT_EMPTIED, superuser

R = TypeVar("R")

TABLES = f"""
    SELECT relname, array_agg(quote_ident(attname) ORDER BY attnum)
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('{"', '".join(NOT_EMPTIED)}')
    AND pg_relation_size(pg_class.oid) > 0 AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    GROUP BY relname
"""  # noqa: S608 - of names in this file
INSERT = """
    SELECT format('INSERT INTO %1$I ({0}) OVERRIDING SYSTEM VALUE SELECT {0} FROM unnest(%2$L::public.%1$I[]);',
        '{1}', array_agg(t ORDER BY ctid)) FROM {1} t HAVING count(*) > 0
"""
"""Of `public`, as PostgreSQL has a type `box` of its own."""
SEQUENCES = """
    SELECT string_agg(format('SELECT setval(%L, %s);', format('%I.%I', schemaname, sequencename), last_value), '')
    FROM pg_sequences WHERE last_value IS NOT NULL
"""


_stored: dict[str, tuple[bytes, str]] = {}
"""What this process has filled a database with, by name: what the test holds of the rows, and the script of them."""


async def fill_once(name: str, address: str, fill: Callable[[], Awaitable[R]]) -> R:
    """Fill an empty database; answers what `fill` does. It is called once in a process, its rows are copied from then on."""
    if name in _stored:
        held, script = _stored[name]
        await insert_rows(address, script)
        again: R = pickle.loads(held)  # noqa: S301 - our own
        return again
    filled = await fill()
    if not clock.ahead and (script := await dump_rows(address)):  # rows of a moved time are of no use to others
        _stored[name] = pickle.dumps(filled), script
    return filled


async def dump_rows(address: str) -> str:
    """A script that puts all rows of a database, with their ids, into an empty one. Triggers do not run again, so only a
    superuser can execute it: the script is empty for others.
    """
    async with superuser(address) as connection:
        if await connection.fetchval("SHOW is_superuser") != "on":
            return ""
        tables = await connection.fetch(TABLES)
        inserts = [await _insert(connection, name, columns) for name, columns in tables]
        sequences = await connection.fetchval(SEQUENCES)
    return f"BEGIN; SET LOCAL session_replication_role = replica; {' '.join(inserts)} {sequences or ''} COMMIT"


async def insert_rows(address: str, script: str) -> None:
    """Execute a script of `dump_rows`."""
    async with superuser(address) as connection:
        await connection.execute(script)


async def _insert(connection: asyncpg.Connection, name: str, columns: list[str]) -> str:
    return await connection.fetchval(INSERT.format(", ".join(columns), name)) or ""
