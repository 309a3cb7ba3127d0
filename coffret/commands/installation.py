"""The database that every command works on, or a sentence that says what is wrong with it."""

import contextlib
from collections.abc import AsyncIterator

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

from coffret.commands.command_error import CommandError
from coffret.commands.environment import database_address
from schema.core.errors import Unavailable
from store.core.clock import clock
from store.core.outages import driver_error
from store.core.settings import Settings
from store.core.shared_clock import follow
from store.database.db import Database
from store.migrations.migrate import current, head, migrate

OLDEST_POSTGRES = 15


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Database]:
    """The database at an address, once it has answered; a CommandError says why if it does not."""
    db = Database(url, pool_size=2, max_overflow=2, quiet=True)
    try:
        try:
            async with db.engine.connect():
                pass
        except (asyncpg.PostgresError, asyncpg.InterfaceError, SQLAlchemyError, Unavailable) as error:
            raise CommandError(unreachable(error)) from None
        yield db
    finally:
        await db.aclose()


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Database]:
    """The database of this installation, with the tables that this release wants.

    The embedded one is brought up to date by itself; another is so by `coffret migrate` and by `coffret serve`.
    """
    with database_address(settings) as url:
        async with connected(url) as db:
            if not settings.database_url:
                await migrate(db)
            elif (found := await current(db)) != head():
                raise CommandError(f"The database is at revision {found or 'none'}, not {head()}. Run: coffret migrate")
            if settings.development:
                await follow(db, clock)
            yield db


def unreachable(error: Exception) -> str:
    """Why the database cannot be used, and what to do, without the address, which may hold a password."""
    cause = driver_error((error.__cause__ if isinstance(error, Unavailable) else None) or error)
    kind = type(cause).__name__
    told = " ".join(str(cause).split()) or kind
    hints = {
        "gaierror": "Its host has no address: correct the host in DATABASE_URL.",
        "ConnectionRefusedError": "Nothing listens there: start PostgreSQL, or correct host and port in DATABASE_URL.",
        "InvalidPasswordError": "Correct user and password in DATABASE_URL.",
        "InvalidAuthorizationSpecificationError": "Correct user and password in DATABASE_URL.",
        "InvalidCatalogNameError": "Create it with createdb, or correct the name at the end of DATABASE_URL.",
        "TooManyConnectionsError": "Raise max_connections of the server, or start fewer workers.",
    }
    hint = next(
        (hints[name] for name in (c.__name__ for c in type(cause).__mro__) if name in hints), "Correct DATABASE_URL."
    )
    return f"The database cannot be reached: {told.removesuffix('.')}. {hint}"
