"""`coffret demo`: the demo data, and what a newcomer is told of it."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from coffret.commands.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import opened
from coffret.commands.welcome import Demo, tell
from coffret.demo.large import enlarge
from coffret.demo.large_shelf import USERNAME
from coffret.demo.seed import PARTNER_USERS, PASSWORD, USERNAMES, DemoRefused, seed
from coffret.sandbox import close
from coffret.services import make_sandbox
from coffret.serving.single_server import served_at
from resolvers.account.administration import create_token
from schema.core.errors import InvalidInput
from store.core.clock import clock
from store.core.settings import Settings
from store.database.db import Database

LOCKED_OUT = (
    f"The demo data is in this database, and its user {PARTNER_USERS[0]} may not log in any more. "
    "Set COFFRET_DEMO=false to serve what there is, or name an empty folder in COFFRET_DATA_DIR."
)


async def demo(rows: int = 0) -> None:
    """Lay the demo data into this installation's empty database, and tell how to use it; with rows, a large partner too."""
    settings = read_settings()
    settings.port = served_at(settings) or settings.port  # shops are named after the server that they are at
    console = Console(highlight=False, soft_wrap=True)
    async with opened(settings) as db:
        found = await prepared(db, settings)
        if found is not None and rows:
            await _enlarge(db, settings, rows, console)
    if found is None:
        raise CommandError(
            "The database holds marketplaces already, and the demo data is laid into an empty one only. "
            "Name another database in DATABASE_URL, or another folder in COFFRET_DATA_DIR."
        )
    tell(console, settings, found)


async def _enlarge(db: Database, settings: Settings, rows: int, console: Console) -> None:
    """Have a partner with so many vouchers, and show how far that is."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("Vouchers and gift cards", total=None)
        try:
            large = await enlarge(
                db, settings, clock, rows, lambda done, of: progress.update(task, completed=done, total=of)
            )
        except DemoRefused as error:
            raise CommandError(str(error)) from None
    console.print(
        f"  {USERNAME} has {large.vouchers:,} vouchers ({large.added:,} new) and {large.gift_cards:,} gift cards."
    )


async def prepared(db: Database, settings: Settings) -> Demo | None:
    """The demo data, laid now where there was nothing, with a fresh token; None where other data is in its place."""
    sandbox = make_sandbox(settings)
    if sandbox is None:
        raise CommandError("The demo data is for development and the sandbox: unset ENVIRONMENT and COFFRET_PROVIDER.")
    try:
        found = await seed(db, settings, clock, sandbox)
    except DemoRefused as error:
        raise CommandError(str(error)) from None
    finally:
        await close(sandbox)
    if found is None:
        return None
    try:
        async with db.sessions() as session, session.begin():
            _, token = await create_token(session, PARTNER_USERS[0], "demo", clock)
    except InvalidInput:
        raise CommandError(LOCKED_OUT) from None
    return Demo(found.site_domains, USERNAMES, PASSWORD, token, found.cart, found.gift_card, found.voucher)
