"""Migrates the database. The program does this at start, one process at a time."""

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
from store.job.rows import CREATE_VIEW
from store.migrations.old_rows import rewriter

FOLDER = pathlib.Path(__file__).parent
LOCK = 0x636F6666  # any fixed number: the process that holds this lock migrates, the others wait


def alembic_config(connection: Connection | None = None, folder: pathlib.Path = FOLDER) -> Config:
    config = Config(stdout=io.StringIO())
    config.set_main_option("script_location", str(folder))
    config.attributes["connection"] = connection
    return config


def head_revision(folder: pathlib.Path = FOLDER) -> str | None:
    """The newest revision that this program contains."""
    return ScriptDirectory.from_config(alembic_config(folder=folder)).get_current_head()


async def current_revision(db: Database) -> str | None:
    """The revision of the database; None if it is empty."""
    async with db.engine.connect() as connection:
        return await connection.run_sync(lambda c: MigrationContext.configure(c).get_current_revision())


async def migrate(db: Database) -> None:
    """Upgrade the tables and the job queue to this program's version. Waits while another process does the same."""
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
    """Upgrade PgQueuer's own tables.

    Our view of them is dropped before and created after, as it would block changes.
    """
    if not await queue.schema_is_installed():
        await queue.install()
    elif (await queue.plan_upgrade()).statements:
        await queue.driver.execute("DROP VIEW IF EXISTS job")
        await queue.apply_upgrade()
    await queue.driver.execute(CREATE_VIEW)


def _upgrade(connection: Connection) -> None:
    command.upgrade(alembic_config(connection), "head")


async def write_revision(
    db: Database, message: str, revision: str | None = None, *, folder: pathlib.Path = FOLDER
) -> pathlib.Path | None:
    """Write the revision from an up-to-date database to the declared tables, for maintainers.

    By default its number follows the newest revision. Returns None and writes nothing if the tables have not changed.
    """

    def unless_empty(context: Any, revision: Any, changes: list[Any]) -> None:
        if changes[0].upgrade_ops.is_empty():
            changes.clear()
        else:
            rewriter(context, revision, changes)

    def write(connection: Connection) -> pathlib.Path | None:
        script = command.revision(
            alembic_config(connection, folder),
            message,
            autogenerate=True,
            rev_id=revision or f"{int(head_revision(folder) or 0) + 1:04}",
            process_revision_directives=unless_empty,
        )
        return pathlib.Path(script.path) if isinstance(script, Script) else None

    async with db.engine.connect() as connection:
        return await connection.run_sync(write)
