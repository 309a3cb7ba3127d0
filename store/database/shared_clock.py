"""The offset of the development clock, shared by all processes of an installation. Production never reads it."""

import asyncio
import datetime as dt

import asyncpg
import structlog
from sqlalchemy import CheckConstraint, Interval, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import Field, SQLModel

from schema.core.errors import Unavailable
from store.core.clock import MAX_AHEAD, Clock
from store.database.db import Database

log = structlog.get_logger(__name__)
FOLLOW_INTERVAL = 0.5
"""Seconds between two reads of the shared offset."""
NOT_MOVED = dt.timedelta()


class DevelopmentClockRow(SQLModel, table=True):
    """The installation's offset from real time: one row, once time was moved."""

    __tablename__ = "development_clock"
    __table_args__ = (CheckConstraint("id = 1", name="only_one"),)
    id: int = Field(default=1, primary_key=True)
    ahead: dt.timedelta = Field(sa_type=Interval)


async def stored_offset(db: Database) -> dt.timedelta:
    """The total stored offset."""
    rows = await db.rows(text("SELECT ahead FROM development_clock"))
    return rows[0][0] if rows else NOT_MOVED


async def advance_clock(db: Database, by: dt.timedelta) -> dt.timedelta:
    """Move time forward for all processes and return the total offset. ValueError for more than ten years."""
    async with db.engine.begin() as connection:
        before = await _lock_offset(connection)
        await _store_offset(connection, before, before + by)
    return before + by


async def follow_clock(db: Database, clock: Clock) -> None:
    """Synchronize a clock with the stored offset. The larger offset wins, as neither ever decreases."""
    ahead, mine = await stored_offset(db), min(clock.ahead, MAX_AHEAD)
    if mine > ahead:
        async with db.engine.begin() as connection:
            ahead = await _lock_offset(connection)
            if mine > ahead:
                await _store_offset(connection, ahead, mine)
    clock.follow(ahead)


async def try_to_follow(db: Database, clock: Clock) -> bool:
    """`follow_clock`, tolerating an outage of the database. False if the database was away."""
    try:
        await follow_clock(db, clock)
    except (OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable) as error:
        log.warning("the shared clock could not be read", error=str(error))
        return False
    return True


async def keep_following(db: Database, clock: Clock) -> None:
    """Follow until cancelled, also through outages of the database."""
    while True:
        there = await try_to_follow(db, clock)
        await asyncio.sleep(FOLLOW_INTERVAL if there else 4 * FOLLOW_INTERVAL)


async def _lock_offset(connection: AsyncConnection) -> dt.timedelta:
    """The stored offset, locked until the transaction ends."""
    nothing = text("INSERT INTO development_clock (id, ahead) VALUES (1, :none) ON CONFLICT (id) DO NOTHING")
    await connection.execute(nothing, {"none": NOT_MOVED})
    result = await connection.execute(text("SELECT ahead FROM development_clock FOR UPDATE"))
    ahead: dt.timedelta = result.scalar_one()
    return ahead


async def _store_offset(connection: AsyncConnection, before: dt.timedelta, ahead: dt.timedelta) -> None:
    """Store the offset, and move queued jobs nearer by as much: the queue uses the database's clock.

    A schedule that falls due several times in between runs once.
    """
    if ahead > MAX_AHEAD:
        raise ValueError(f"Time can be moved {MAX_AHEAD.days} days in all; it was moved {before} so far.")
    for statement in (
        "UPDATE development_clock SET ahead = ahead + CAST(:by AS interval)",
        "UPDATE pgqueuer SET execute_after = execute_after - CAST(:by AS interval) WHERE status = 'queued'",
        "UPDATE pgqueuer_schedules SET next_run = next_run - CAST(:by AS interval)",
    ):
        await connection.execute(text(statement), {"by": ahead - before})
