"""How far development has moved time, for all processes of an installation. Production never looks at it."""

import asyncio
import datetime as dt

import asyncpg
import structlog
from sqlalchemy import CheckConstraint, Interval, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import Field, SQLModel

from schema.core.errors import Unavailable
from store.core.clock import FURTHEST, Clock
from store.database.db import Database

log = structlog.get_logger(__name__)
EVERY = 0.5
"""Seconds between two looks at how far another process has moved time."""
NOT_MOVED = dt.timedelta()


class DevelopmentClockRow(SQLModel, table=True):
    """How far ahead of the real time this installation is: one row, once time was moved."""

    __tablename__ = "development_clock"
    __table_args__ = (CheckConstraint("id = 1", name="only_one"),)
    id: int = Field(default=1, primary_key=True)
    ahead: dt.timedelta = Field(sa_type=Interval)


async def stored(db: Database) -> dt.timedelta:
    """How far time was moved in all."""
    found = await db.rows(text("SELECT ahead FROM development_clock"))
    return found[0][0] if found else NOT_MOVED


async def advance(db: Database, by: dt.timedelta) -> dt.timedelta:
    """Move time forward for everybody; tells how far it was moved in all. ValueError for more than ten years."""
    async with db.engine.begin() as connection:
        before = await _locked(connection)
        await _move(connection, before, before + by)
    return before + by


async def follow(db: Database, clock: Clock) -> None:
    """Bring a clock and what is stored together: the one that is further ahead leads, as neither ever goes back."""
    ahead, mine = await stored(db), min(clock.ahead, FURTHEST)
    if mine > ahead:
        async with db.engine.begin() as connection:
            ahead = await _locked(connection)
            if mine > ahead:
                await _move(connection, ahead, mine)
    clock.follow(ahead)


async def try_to_follow(db: Database, clock: Clock) -> bool:
    """The same, where the database may be away: tells whether it was not."""
    try:
        await follow(db, clock)
    except (OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable) as error:
        log.warning("the time of the other processes is not known", error=str(error))
        return False
    return True


async def keep_following(db: Database, clock: Clock) -> None:
    """Follow until cancelled, whatever happens to the database meanwhile."""
    while True:
        there = await try_to_follow(db, clock)
        await asyncio.sleep(EVERY if there else 4 * EVERY)


async def _locked(connection: AsyncConnection) -> dt.timedelta:
    """How far time was moved, while nobody else moves it."""
    nothing = text("INSERT INTO development_clock (id, ahead) VALUES (1, :none) ON CONFLICT (id) DO NOTHING")
    await connection.execute(nothing, {"none": NOT_MOVED})
    found = await connection.execute(text("SELECT ahead FROM development_clock FOR UPDATE"))
    ahead: dt.timedelta = found.scalar_one()
    return ahead


async def _move(connection: AsyncConnection, before: dt.timedelta, ahead: dt.timedelta) -> None:
    """Write down how far time is moved, and bring what is queued as much nearer: the queue lives by the database's clock.

    What falls due several times on the way is done once.
    """
    if ahead > FURTHEST:
        raise ValueError(f"Time can be moved {FURTHEST.days} days in all; it was moved {before} so far.")
    for statement in (
        "UPDATE development_clock SET ahead = ahead + CAST(:by AS interval)",
        "UPDATE pgqueuer SET execute_after = execute_after - CAST(:by AS interval) WHERE status = 'queued'",
        "UPDATE pgqueuer_schedules SET next_run = next_run - CAST(:by AS interval)",
    ):
        await connection.execute(text(statement), {"by": ahead - before})
