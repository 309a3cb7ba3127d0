"""Bringing the database up to date: run by the program at start, one process at a time."""

import io
import pathlib
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.queries import Queries
from sqlalchemy import Connection, text

from store.database.db import Database
from store.job.rows import VIEW

FOLDER = pathlib.Path(__file__).parent
LOCK = 0x636F6666  # any fixed number: whoever holds it migrates, the others wait


def config(connection: Connection | None = None, folder: pathlib.Path = FOLDER) -> Config:
    """Alembic's settings, for this connection."""
    made = Config(stdout=io.StringIO())
    made.set_main_option("script_location", str(folder))
    made.attributes["connection"] = connection
    return made


def head(folder: pathlib.Path = FOLDER) -> str | None:
    """The newest revision this program knows."""
    return ScriptDirectory.from_config(config(folder=folder)).get_current_head()


async def current(db: Database) -> str | None:
    """The revision the database is at; None when it is empty."""
    async with db.engine.connect() as connection:
        return await connection.run_sync(lambda c: MigrationContext.configure(c).get_current_revision())


async def migrate(db: Database) -> None:
    """Bring tables and the job queue to what this program needs. Waits while another process does the same."""
    async with db.engine.connect() as connection:
        await connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
        await connection.commit()
        try:
            await connection.run_sync(_upgrade)
            await connection.commit()
            raw = (await connection.get_raw_connection()).driver_connection
            await _upgrade_queue(Queries(AsyncpgDriver(raw)))
        finally:
            await connection.rollback()
            await connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": LOCK})
            await connection.commit()


async def _upgrade_queue(queue: Queries) -> None:
    """PgQueuer's own tables, and our view of them, which would stand in the way of a change."""
    if not await queue.schema_is_installed():
        await queue.install()
    elif (await queue.plan_upgrade()).statements:
        await queue.driver.execute("DROP VIEW IF EXISTS job")
        await queue.apply_upgrade()
    await queue.driver.execute(VIEW)


def _upgrade(connection: Connection) -> None:
    command.upgrade(config(connection), "head")


async def revise(
    db: Database, message: str, revision: str | None = None, *, folder: pathlib.Path = FOLDER
) -> pathlib.Path | None:
    """Write the revision from a database that is up to date to what the tables have become; for maintainers.

    It is numbered after the newest one. None, and nothing written, when the tables have not changed.
    """

    def unless_empty(_context: Any, _revision: Any, made: list[Any]) -> None:
        if made[0].upgrade_ops.is_empty():
            made.clear()

    def write(connection: Connection) -> pathlib.Path | None:
        script = command.revision(
            config(connection, folder),
            message,
            autogenerate=True,
            rev_id=revision or f"{int(head(folder) or 0) + 1:04}",
            process_revision_directives=unless_empty,
        )
        return pathlib.Path(script.path) if isinstance(script, Script) else None

    async with db.engine.connect() as connection:
        return await connection.run_sync(write)
