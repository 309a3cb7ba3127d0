"""`coffret migrate`: bring the database up to date."""

from rich.console import Console

from coffret.commands.environment import database_address, read_settings
from coffret.commands.installation import connected
from store.migrations.migrate import current, head
from store.migrations.migrate import migrate as bring_up_to_date


async def migrate() -> None:
    """Run every migration that is missing; waits while another process does the same."""
    console = Console(highlight=False)
    with database_address(read_settings()) as url:
        async with connected(url) as db:
            before = await current(db)
            with console.status("Bringing the tables up to date…"):
                await bring_up_to_date(db)
    if before == head():
        console.print(f"The tables are at revision {before} already.")
    else:
        console.print(f"The tables went from revision {before or 'none'} to {head()}.")
