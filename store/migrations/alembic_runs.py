"""What Alembic does: it runs the revisions and writes new ones. Few processes import it: most find the tables up to date."""

import io
import pathlib
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import Script
from sqlalchemy import Connection

from store.database.db import Database
from store.migrations.migrate import FOLDER, head_revision
from store.migrations.old_rows import rewriter


def alembic_config(connection: Connection | None = None, folder: pathlib.Path = FOLDER) -> Config:
    config = Config(stdout=io.StringIO())
    config.set_main_option("script_location", str(folder))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection) -> None:
    """Run all revisions that the database lacks."""
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
