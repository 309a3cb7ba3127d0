"""Rows of durable calls to the payment provider: stored before the call, and checked until they are final.

`resolvers/core/provider/process.py` runs them.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, inspect
from sqlalchemy.orm import defer
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column
from store.core.typed_json import TypedJson

KEY_LIFE = dt.timedelta(hours=23)
"""How long a call can be repeated with its key. The provider forgets keys after a day."""
OUTCOME_LIFE = dt.timedelta(days=1)
"""After this time the outcome of a call cannot be looked up by its key any more."""


class CheckedRow(SQLModel):
    """A row whose state the worker checks at the provider until it is final."""

    check_on: dt.datetime | None = datetime_column(
        "When the worker checks it next; null: never.", default=None, nullable=True
    )


class LeasedRow(CheckedRow):
    """A checked row for which one request at a time calls the provider. The worker and hints read its state besides."""

    busy_until: dt.datetime | None = datetime_column(
        "End of the lease of the process that calls the provider for it.", default=None, nullable=True
    )

    def is_leased(self, at: dt.datetime) -> bool:
        """True while a process calls the provider for it. The lease of a process that died expires."""
        return self.busy_until is not None and at < self.busy_until


class ReferencedRow(SQLModel):
    """A row with the id of its object at the provider; empty until the first answer is recorded."""

    provider_id: str = Field(default="", max_length=128)


C = TypeVar("C", bound=CheckedRow)


@dataclass(frozen=True)
class CheckIntervals:
    """The pauses between checks: short at first, then ever longer."""

    by_age: Sequence[tuple[dt.timedelta, dt.timedelta]]
    """(age, pause): the pause between checks up to this age."""
    longest: dt.timedelta

    def after(self, since: dt.datetime, now: dt.datetime) -> dt.datetime:
        """When to check next, of what began at `since`."""
        return now + next((pause for age, pause in self.by_age if now - since < age), self.longest)


async def due_rows(
    db: AsyncSession, table: type[C], now: dt.datetime, most: int, *conditions: ColumnElement[bool]
) -> Sequence[C]:
    """At most `most` rows that are due, locked, the longest due first. Rows locked by another worker are skipped.

    Their typed JSON is not read: a value that this program cannot read must not keep the other rows from their checks.
    """
    columns = inspect(table).column_attrs
    unread = [defer(each.class_attribute, raiseload=True) for each in columns if _is_typed_json(each.columns[0])]
    query = select(table).where(col(table.check_on) <= now, *conditions).order_by(col(table.check_on)).limit(most)
    return (await db.exec(query.options(*unread).with_for_update(skip_locked=True))).all()


def _is_typed_json(column: ColumnElement[Any]) -> bool:
    return isinstance(column.type, TypedJson)
