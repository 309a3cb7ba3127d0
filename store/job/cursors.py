"""How far lists of other systems were read, so that reading is resumed where it ended."""

import datetime as dt

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column

PROVIDER_EVENTS = "provider_events"
"""The event list of the payment provider."""


class CursorRow(SQLModel, table=True):
    """Everything before `read_until` was read."""

    __tablename__ = "read_cursor"
    name: str = Field(primary_key=True, max_length=50)
    read_until: dt.datetime = datetime_column("The start of the last complete reading.")


async def read_until(db: AsyncSession, name: str) -> dt.datetime | None:
    """Until when a list was read; None if it never was."""
    return (await db.exec(select(CursorRow.read_until).where(col(CursorRow.name) == name))).one_or_none()


async def advance_cursor(db: AsyncSession, name: str, moment: dt.datetime) -> None:
    """Note that a list was read until `moment`. A cursor never goes back, also if processes overtake each other."""
    statement = insert(CursorRow).values(name=name, read_until=moment)
    later = {"read_until": statement.excluded.read_until}
    await db.exec(
        statement.on_conflict_do_update(
            index_elements=[col(CursorRow.name)], set_=later, where=col(CursorRow.read_until) < moment
        )
    )
