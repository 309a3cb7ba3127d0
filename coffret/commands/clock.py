"""`coffret clock …`: what time it is for this installation, and moving it."""

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console

from coffret.commands.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import opened
from store.core import shared_clock
from store.core.clock import clock, duration
from store.database.db import Database


@asynccontextmanager
async def development() -> AsyncIterator[Database]:
    """The database of this installation, unless it is one for production."""
    settings = read_settings()
    if not settings.development:
        raise CommandError("Time moves in development only, and this is a production installation (ENVIRONMENT).")
    async with opened(settings) as db:
        yield db


async def show() -> None:
    """Say what time it is."""
    async with development():
        tell(clock.ahead)


async def advance(by: str) -> None:
    """Move time forward, for whatever runs and for whatever starts later."""
    try:
        length = duration(by)
        async with development() as db:
            ahead = await shared_clock.advance(db, length)
    except ValueError as error:
        raise CommandError(str(error)) from None
    clock.follow(ahead)
    tell(ahead)


def tell(ahead: dt.timedelta) -> None:
    """Print the time, and how far it was moved."""
    moved = f"{ahead} ahead of the real time" if ahead else "the real time"
    Console(highlight=False, soft_wrap=True).print(f"It is {clock.now():%Y-%m-%d %H:%M:%S} UTC, {moved}.")
