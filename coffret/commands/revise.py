"""`coffret revise`: writes a migration for changed table definitions. For maintainers."""

import pathlib
import tempfile

from rich.console import Console

from coffret.commands.installation import connect_database
from store.database.embedded_postgres import embedded_postgres
from store.migrations.alembic_runs import write_revision
from store.migrations.migrate import migrate


async def revise(message: str) -> None:
    """Compare the declared tables with those of the revisions, in a temporary database, and write the difference."""
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="coffret-revise-", ignore_cleanup_errors=True) as folder:
        async with embedded_postgres(pathlib.Path(folder), fast=True) as url, connect_database(url) as db:
            with console.status("Creating the current tables…"):
                await migrate(db)
            written = await write_revision(db, message)
    if written is None:
        console.print("The revisions already create these tables: nothing was written.")
    else:
        console.print(
            "Review it and correct what cannot be detected, such as renamed columns and the values of old rows: "
            f"{written}",
            soft_wrap=True,
        )
