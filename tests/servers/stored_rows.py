"""Copies the rows of one database into others: filling each row by row takes longer than most tests."""

import asyncpg

from tests.servers.databases import NOT_EMPTIED, connected

TABLES = f"""
    SELECT relname, array_agg(quote_ident(attname) ORDER BY attnum)
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('{"', '".join(NOT_EMPTIED)}')
    AND pg_relation_size(pg_class.oid) > 0 AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    GROUP BY relname
"""  # noqa: S608 - of names in this file
INSERT = """
    SELECT format('INSERT INTO %1$I ({0}) OVERRIDING SYSTEM VALUE SELECT {0} FROM unnest(%2$L::%1$I[]);',
        '{1}', array_agg(t ORDER BY ctid)) FROM {1} t HAVING count(*) > 0
"""
SEQUENCES = """
    SELECT string_agg(format('SELECT setval(%L, %s);', format('%I.%I', schemaname, sequencename), last_value), '')
    FROM pg_sequences WHERE last_value IS NOT NULL
"""


async def dump_rows(address: str) -> str:
    """A script that puts all rows of a database, with their ids, into an empty one. Triggers do not run again, so only a
    superuser can execute it: the script is empty for others.
    """
    async with connected(address) as connection:
        if await connection.fetchval("SHOW is_superuser") != "on":
            return ""
        tables = await connection.fetch(TABLES)
        inserts = [await _insert(connection, name, columns) for name, columns in tables]
        sequences = await connection.fetchval(SEQUENCES)
    return f"BEGIN; SET LOCAL session_replication_role = replica; {' '.join(inserts)} {sequences or ''} COMMIT"


async def insert_rows(address: str, script: str) -> None:
    """Execute a script of `dump_rows`."""
    async with connected(address) as connection:
        await connection.execute(script)


async def _insert(connection: asyncpg.Connection, name: str, columns: list[str]) -> str:
    return await connection.fetchval(INSERT.format(", ".join(columns), name)) or ""
