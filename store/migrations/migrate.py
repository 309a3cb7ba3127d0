"""Migrates the database. The program does this at start, one process at a time, while older ones may go on selling.

Each revision is a transaction. It waits for a lock of a table less than a second, since all that comes after it waits behind it:
then it lets go of its own locks, and is tried again. In a cycle with a sale it is so the revision that gives way.
"""

import asyncio
import datetime as dt
import pathlib

import structlog
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.queries import Queries
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from store.core.retries import RetryPolicy
from store.database.db import Database
from store.job.rows import CREATE_VIEW
from store.ledger.positions import keep_positions_growing

log = structlog.get_logger(__name__)
FOLDER = pathlib.Path(__file__).parent
LOCK = 0x636F6666  # any fixed number: the process that holds this lock migrates, the others wait
LOCK_TIMEOUT = dt.timedelta(milliseconds=800)
"""Less than the second after which PostgreSQL looks for deadlocks (`deadlock_timeout`)."""
TRIES = RetryPolicy(dt.timedelta(seconds=0.2), dt.timedelta(seconds=5), dt.timedelta(minutes=10))
BUSY = frozenset({"55P03", "40P01"})
"""SQL states: a lock was not free in time, and a deadlock."""


def head_revision(folder: pathlib.Path = FOLDER) -> str | None:
    """The newest revision that this program contains: the highest number of a file."""
    return max((path.name.partition("_")[0] for path in (folder / "versions").glob("[0-9]*.py")), default=None)


async def current_revision(db: Database) -> str | None:
    """The revision of the database; None if it is empty."""
    async with db.engine.connect() as connection:
        return await _current_revision(connection)


async def migrate(db: Database) -> None:
    """Upgrade the tables and the job queue to this program's version. Waits while another process does the same."""
    async with db.engine.connect() as connection:
        await connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
        await connection.commit()
        try:
            if await _current_revision(connection) != head_revision():
                await _upgrade(connection)
            await connection.commit()
            await keep_positions_growing(connection)
            await connection.commit()
            raw = (await connection.get_raw_connection()).driver_connection
            await _upgrade_queue(Queries(AsyncpgDriver(raw)))
        finally:
            await connection.rollback()
            await connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": LOCK})
            await connection.commit()


async def _upgrade(connection: AsyncConnection) -> None:
    """Run what the database lacks, revision by revision. One that finds a table busy is tried again, for ten minutes."""
    from store.migrations.alembic_runs import upgrade  # most starts have nothing to upgrade

    wait = text("SELECT set_config('lock_timeout', :wait, false)")
    failures = 0
    while True:
        await connection.execute(wait, {"wait": f"{LOCK_TIMEOUT // dt.timedelta(milliseconds=1)}ms"})
        await connection.commit()  # a revision begins its own transaction only outside of one
        try:
            await connection.run_sync(upgrade)
            break
        except DBAPIError as error:
            await connection.rollback()
            failures += 1
            if getattr(error.orig, "sqlstate", None) not in BUSY or failures >= TRIES.max_tries:
                raise
            log.info("a migration waits for tables in use", tries=failures)
            await asyncio.sleep(TRIES.pause(failures).total_seconds())
        finally:
            await connection.rollback()
            await connection.execute(text("RESET lock_timeout"))
            await connection.commit()


async def _upgrade_queue(queue: Queries) -> None:
    """Upgrade PgQueuer's own tables.

    Our view of them is dropped before and created after, as it would block changes.
    """
    if not await queue.schema_is_installed():
        await queue.install()
    elif (await queue.plan_upgrade()).statements:
        await queue.driver.execute("DROP VIEW IF EXISTS job")
        await queue.apply_upgrade()
    await queue.driver.execute(CREATE_VIEW)


async def _current_revision(connection: AsyncConnection) -> str | None:
    if (await connection.execute(text("SELECT to_regclass('alembic_version')"))).scalar_one() is None:
        return None
    found: str | None = (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar_one_or_none()
    return found
