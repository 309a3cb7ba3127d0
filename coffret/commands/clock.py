"""`coffret clock …`: shows and advances the clock of a development installation."""

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import open_database
from store.core.clock import clock, parse_duration
from store.database import shared_clock
from store.database.db import Database


@asynccontextmanager
async def development_database() -> AsyncIterator[Database]:
    """The database of this installation. Raises CommandError in production."""
    settings = read_settings()
    if not settings.development:
        raise CommandError("Time moves in development only, and this is a production installation (ENVIRONMENT).")
    async with open_database(settings) as db:
        yield db


async def show() -> None:
    async with development_database():
        print_clock(clock.ahead)


async def advance(by: str) -> None:
    """Advance the clock of running and future processes. Raises CommandError for an invalid duration."""
    try:
        length = parse_duration(by)
        async with development_database() as db:
            ahead = await shared_clock.advance_clock(db, length)
    except ValueError as error:
        raise CommandError(str(error)) from None
    clock.follow(ahead)
    print_clock(ahead)


def print_clock(ahead: dt.timedelta) -> None:
    """Print the time and its offset from the real time."""
    moved = f"{ahead} ahead of the real time" if ahead else "the real time"
    Console(highlight=False, soft_wrap=True).print(f"It is {clock.now():%Y-%m-%d %H:%M:%S} UTC, {moved}.")
