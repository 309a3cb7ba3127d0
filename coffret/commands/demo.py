"""`coffret demo`: the demo data, and what a newcomer is told of it."""

from rich.console import Console

from coffret.command_error import CommandError
from coffret.commands.welcome import Demo, tell
from coffret.installation import opened, read_settings
from coffret.services import make_sandbox
from resolvers.accounts import create_token
from store.clock import clock
from store.db import Database
from store.demo.seed import PARTNER_USERS, PASSWORD, USERNAMES, DemoRefused, seed
from store.providers.sandbox import close
from store.settings import Settings


async def demo() -> None:
    """Lay the demo data into this installation's empty database, and tell how to use it."""
    settings = read_settings()
    async with opened(settings) as db:
        found = await prepared(db, settings)
    if found is None:
        raise CommandError(
            "The database holds marketplaces already, and the demo data is laid into an empty one only. "
            "Name another database in DATABASE_URL, or another folder in COFFRET_DATA_DIR."
        )
    tell(Console(highlight=False, soft_wrap=True), settings, found)


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
    async with db.sessions() as session, session.begin():
        _, token = await create_token(session, PARTNER_USERS[0], "demo", clock)
    return Demo(found.site_domains, USERNAMES, PASSWORD, token, found.cart, found.gift_card, found.voucher)
