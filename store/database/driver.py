"""The driver's own connection of a session, for statements that SQLAlchemy only slows down."""

from collections.abc import Sequence
from typing import Any

import asyncpg
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.telemetry import tracing


async def driver_of(db: AsyncSession) -> asyncpg.Connection:
    """The driver's connection of a session, in the session's transaction. What the session has not flushed, it does not
    see.
    """
    connection = await db.connection()
    driver = (await connection.get_raw_connection()).driver_connection
    if driver is None:
        raise RuntimeError("The session has lost its connection.")
    if not driver.is_in_transaction():
        # The transaction begins with SQLAlchemy's first statement. A statement before that would commit by itself.
        await connection.execute(text("SELECT 1"))
    return driver


async def fetch(db: AsyncSession, sql: str, *arguments: Any) -> Sequence[Any]:
    """All rows of one statement of the driver (`$1`, plain values), in the session's transaction."""
    driver = await driver_of(db)
    with tracing.statement_span(sql):
        rows: Sequence[Any] = await driver.fetch(sql, *arguments)
    return rows
