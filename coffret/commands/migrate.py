"""`coffret migrate`: brings the database schema up to date."""

from rich.console import Console

from coffret.commands.environment import database_url, read_settings
from coffret.commands.installation import connect_database
from store.migrations.migrate import current_revision, head_revision
from store.migrations.migrate import migrate as bring_up_to_date
from store.migrations.progress import progress_listener

WORKING = "Bringing the tables up to date…"


async def migrate() -> None:
    """Run all pending migrations. Waits while another process migrates."""
    console = Console(highlight=False)
    with database_url(read_settings()) as url:
        async with connect_database(url) as db:
            before = await current_revision(db)
            with console.status(WORKING) as status:

                def show(table: str, done: int, total: int) -> None:
                    status.update(f"{WORKING} {table}: {done / total:.0%} of {total:,}")

                with progress_listener(show):
                    await bring_up_to_date(db)
    if before == head_revision():
        console.print(f"The tables are at revision {before} already.")
    else:
        console.print(f"The tables went from revision {before or 'none'} to {head_revision()}.")
