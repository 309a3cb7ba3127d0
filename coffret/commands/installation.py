"""Opens this installation's database for a command. An unusable database raises a CommandError."""

import contextlib
from collections.abc import AsyncIterator

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

from coffret.command_error import CommandError
from coffret.commands.environment import database_url
from schema.core.errors import Unavailable
from store.core.clock import clock
from store.core.settings import Settings
from store.core.telemetry.outages import driver_error
from store.database.db import Database
from store.database.shared_clock import follow_clock
from store.migrations.migrate import current_revision, head_revision, migrate

OLDEST_POSTGRES = 15


@contextlib.asynccontextmanager
async def connect_database(url: str) -> AsyncIterator[Database]:
    """Connect to a database. Raises CommandError with the reason if it does not answer."""
    db = Database(url, pool_size=2, max_overflow=2, quiet=True)
    try:
        try:
            async with db.engine.connect():
                pass
        except (asyncpg.PostgresError, asyncpg.InterfaceError, SQLAlchemyError, Unavailable) as error:
            raise CommandError(unreachable_message(error)) from None
        yield db
    finally:
        await db.aclose()


@contextlib.asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database of this installation. Raises CommandError if its tables are not at this release's revision.

    The embedded database is migrated here, and the settings get its URL. Others are migrated by `coffret migrate` and
    `coffret serve`.
    """
    with database_url(settings) as url:
        async with connect_database(url) as db:
            if not settings.database_url:
                await migrate(db)
            elif (found := await current_revision(db)) != head_revision():
                raise CommandError(
                    f"The database is at revision {found or 'none'}, not {head_revision()}. Run: coffret migrate"
                )
            settings.database_url = url
            if settings.development:
                await follow_clock(db, clock)
            yield db


def unreachable_message(error: Exception) -> str:
    """The reason why the database cannot be used, and a fix. Omits the URL, which may contain a password."""
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
