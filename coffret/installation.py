"""What every command works on: the settings and the database of this installation, or a sentence that says what is wrong."""

import contextlib
import difflib
import os
from collections.abc import AsyncIterator, Iterator, Mapping

import asyncpg
from pydantic import AliasChoices, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from sqlalchemy.exc import SQLAlchemyError

from coffret.command_error import CommandError
from schema.errors import Unavailable
from store.clock import clock
from store.db import Database, dsn
from store.embedded import EmbeddedPostgres, EmbeddedPostgresError
from store.migrate import current, head, migrate
from store.outages import driver_error
from store.settings import Settings
from store.shared_clock import follow

OLDEST_POSTGRES = 15
OF_COMMANDS = ("COFFRET_TOKEN", "COFFRET_URL")
"""Variables that no setting reads but an option of a command."""


def variable(name: str, field: FieldInfo) -> str:
    """The environment variable that a setting is documented under."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        alias = str(alias.choices[0])
    return str(alias) if alias else f"COFFRET_{name.upper()}"


def read_settings() -> Settings:
    """The settings of the environment. What is wrong with them becomes one CommandError that names each variable.

    In development checkouts are opened over http unless FUNNEL_SCHEME says otherwise: nothing here speaks TLS.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise CommandError("\n".join(complaints(error))) from None
    if settings.development and "funnel_scheme" not in settings.model_fields_set:
        settings.funnel_scheme = "http"
    return settings


def complaints(error: ValidationError) -> list[str]:
    """One sentence for each setting that cannot be used."""
    by_location = {name: (variable(name, field), field) for name, field in Settings.model_fields.items()}
    by_location |= {env: (env, field) for env, field in by_location.values()}
    sentences = []
    for problem in error.errors():
        message = problem["msg"].removeprefix("Value error, ")
        if not problem["loc"]:
            sentences.append(message)
            continue
        env, field = by_location[str(problem["loc"][0])]
        hidden = field.annotation is SecretStr
        given = "" if hidden else f", not {problem['input']!r}"
        for beginning in ("Input should be", "String should"):
            message = message.replace(beginning, "must be" if beginning == "Input should be" else "must")
        sentences.append(f"{env}: {message.partition(', unable')[0]}{given}.")
    return sentences


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """`COFFRET_…` variables that no setting reads, each with the one that was probably meant, or an empty string."""
    known = {f"COFFRET_{name.upper()}": variable(name, field) for name, field in Settings.model_fields.items()}
    known |= {name: name for name in OF_COMMANDS}
    unknown = sorted(name for name in environment if name.startswith("COFFRET_") and name not in known)
    meant = {name: difflib.get_close_matches(name, known, 1, cutoff=0.8) for name in unknown}
    return {name: known[found[0]] if found else "" for name, found in meant.items()}


@contextlib.contextmanager
def database_address(settings: Settings) -> Iterator[str]:
    """The address of the database: `DATABASE_URL`, or that of the embedded server, which runs while the block does."""
    if settings.database_url:
        try:
            yield dsn(settings.database_url)
        except ValueError as error:
            raise CommandError(str(error)) from None
        return
    try:
        server = EmbeddedPostgres(settings.data_dir)
        url = server.start()
    except EmbeddedPostgresError as error:
        raise CommandError(str(error)) from None
    try:
        yield url
    finally:
        server.stop()


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


def export(settings: Settings) -> None:
    """Put what was decided at start into the environment, for the processes we start."""
    os.environ["PORT"] = str(settings.port)
    os.environ["DATABASE_URL"] = settings.database_url
    os.environ["FUNNEL_SCHEME"] = settings.funnel_scheme
    os.environ["COFFRET_HOST"] = settings.host
    os.environ["COFFRET_WORKERS"] = str(settings.workers)
