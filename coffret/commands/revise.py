"""`coffret revise`: a migration of what the tables have become, for maintainers."""

import pathlib
import tempfile

from rich.console import Console

from coffret.commands.installation import connected
from store.database.embedded_postgres import embedded_postgres
from store.migrations.migrate import migrate
from store.migrations.migrate import revise as write_revision


async def revise(message: str) -> None:
    """Compare the tables that the code declares with those that the revisions make, in a database made for this."""
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="coffret-revise-", ignore_cleanup_errors=True) as folder:
        async with embedded_postgres(pathlib.Path(folder), fast=True) as url, connected(url) as db:
            with console.status("Making the tables there were…"):
                await migrate(db)
            written = await write_revision(db, message)
    if written is None:
        console.print("The revisions make these tables already: nothing was written.")
    else:
        console.print(f"Read it, and change what it cannot know, such as renamed columns: {written}", soft_wrap=True)
