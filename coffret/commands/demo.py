"""`coffret demo`: creates the demo data and prints how to use it."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import open_database
from coffret.commands.welcome import DemoSummary, print_demo
from coffret.demo.large import add_large_partner
from coffret.demo.payments import load_demo
from coffret.demo.seed import DemoDataRefused
from coffret.demo.users import LARGE_PARTNER_USER, PARTNER_USERS, PASSWORD, USERNAMES
from coffret.sandbox import close
from coffret.services import make_sandbox, open_container
from coffret.serving.single_server import running_server_port
from resolvers.account.administration import create_token
from schema.core.errors import InvalidInput
from store.core.clock import clock
from store.core.settings import Settings
from store.database.db import Database

LOCKED_OUT = (
    f"The demo data is in this database, and its user {PARTNER_USERS[0]} can no longer log in. "
    "Set COFFRET_DEMO=false to serve the existing data, or name an empty folder in COFFRET_DATA_DIR."
)


async def demo(rows: int = 0) -> None:
    """Create the demo data in this installation's empty database and print how to use it. With `rows`, add a large
    partner.

    Raises CommandError if the database holds other data.
    """
    settings = read_settings()
    settings.port = running_server_port(settings) or settings.port  # shop addresses contain the server's port
    console = Console(highlight=False, soft_wrap=True)
    async with open_database(settings) as db:
        found = await prepare_demo(db, settings)
        if found is not None and rows:
            await _add_large_partner(db, settings, rows, console)
    if found is None:
        raise CommandError(
            "The database already contains marketplaces, and the demo data requires an empty database. "
            "Name another database in DATABASE_URL, or another folder in COFFRET_DATA_DIR."
        )
    print_demo(console, settings, found)


async def _add_large_partner(db: Database, settings: Settings, rows: int, console: Console) -> None:
    """Create the large partner with `rows` vouchers, with a progress bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("Vouchers and gift cards", total=None)
        try:
            large = await add_large_partner(
                db, settings, clock, rows, lambda done, of: progress.update(task, completed=done, total=of)
            )
        except DemoDataRefused as error:
            raise CommandError(str(error)) from None
    console.print(
        f"  {LARGE_PARTNER_USER} has {large.vouchers:,} vouchers ({large.added:,} new) and {large.gift_cards:,} gift cards."
    )
    console.print(
        f"  The network has {large.network_gift_cards:,} gift cards and {large.network_vouchers:,} vouchers sold."
    )


async def prepare_demo(db: Database, settings: Settings) -> DemoSummary | None:
    """Create the demo data if the database is empty.

    Returns it with a new token; None if the database holds other data.
    """
    sandbox = make_sandbox(settings)
    if sandbox is None:
        raise CommandError("The demo data is for development and the sandbox: unset ENVIRONMENT and COFFRET_PROVIDER.")
    try:
        async with open_container(settings, sandbox, synchronous_commit=False) as container:
            found = await load_demo(container.services, sandbox)
    except DemoDataRefused as error:
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
    return DemoSummary(
        found.site_domains,
        USERNAMES,
        PASSWORD,
        token,
        found.cart,
        found.gift_card,
        found.voucher,
        found.network_domain,
        found.network_gift_card,
        found.network_voucher,
    )
