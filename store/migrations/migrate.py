"""Migrates the database. The program does this at start, one process at a time."""

import pathlib

from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.queries import Queries
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from store.database.db import Database
from store.job.rows import CREATE_VIEW
from store.ledger.positions import keep_positions_growing

FOLDER = pathlib.Path(__file__).parent
LOCK = 0x636F6666  # any fixed number: the process that holds this lock migrates, the others wait


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
                from store.migrations.alembic_runs import upgrade  # most starts have nothing to upgrade

                await connection.run_sync(upgrade)
            await connection.commit()
            await keep_positions_growing(connection)
            await connection.commit()
            raw = (await connection.get_raw_connection()).driver_connection
            await _upgrade_queue(Queries(AsyncpgDriver(raw)))
        finally:
            await connection.rollback()
            await connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": LOCK})
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
