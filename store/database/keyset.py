"""Keyset order: a row's position in a list, and the conditions for the rows beyond it.

A page is cut by comparison with the row before it, never by an offset, so page 10,000 costs what page 1 costs. Rows
without a value come last in ascending and first in descending order, as an index on `(column, id)` stores them. One
such index, after the columns that limit what a caller sees, serves both directions.
"""

import binascii
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import orjson
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import JSON, FromClause, tuple_
from sqlalchemy.types import TypeDecorator

from store.database.loaders import column
from store.database.statement_cache import Condition

ID_LIMIT = 2**63

RangeConditions = list[Condition]
COMPARISONS = {
    (True, False): operator.gt,
    (True, True): operator.ge,
    (False, False): operator.lt,
    (False, True): operator.le,
}


class InvalidCursor(ValueError):
    """The text is not a cursor of this list."""


@dataclass(frozen=True)
class Position:
    """The position of a row: its value of the order column, and its id as the tie-breaker."""

    value: Any
    id: int | UUID


@dataclass(frozen=True)
class KeysetOrder:
    """Rows of a table by one of its columns, then by id; `descending` reverses both.

    `then` are further orders between the two, for numbered pages: cursors do not know them.
    """

    table: Any
    by: str
    descending: bool = False
    then: "tuple[KeysetOrder, ...]" = ()

    @classmethod
    def parse(cls, table: Any, written: str) -> "KeysetOrder":
        """Parse `created_on`, or `-created_on` for descending order.

        LookupError for an unknown column, TypeError for one with structured data.
        """
        order = cls(table, written.lstrip("-"), written.startswith("-"))
        kind = column(table, order.by).type
        if isinstance(kind.impl_instance if isinstance(kind, TypeDecorator) else kind, JSON):
            raise TypeError(f"{order.by!r} holds structured data, which cannot be ordered.")
        return order

    @cached_property
    def columns(self) -> tuple[Any, Any]:
        """The order column and the id."""
        return column(self.table, self.by), column(self.table, "id")

    @cached_property
    def keys(self) -> dict[str, bool]:
        """The names of the columns that order the rows, and whether each descends."""
        keys = {order.by: order.descending for order in (self, *self.then)}
        keys.setdefault("id", self.descending)
        return keys

    def clauses(self, *, backwards: bool = False, rows: FromClause | None = None) -> list[Any]:
        """The terms of ORDER BY, of the table or of `rows` that have its columns; `backwards` reads the list from its
        end.
        """
        named = self.table.__table__.c if rows is None else rows.c
        return [named[name].desc() if down is not backwards else named[name].asc() for name, down in self.keys.items()]

    # ---- cursors

    @cached_property
    def _cursor_prefix(self) -> list[str]:
        return [self.table.__tablename__, self.by]

    def cursor(self, value: Any, id: int | UUID) -> str:
        return binascii.b2a_base64(orjson.dumps([*self._cursor_prefix, value, id], default=str), newline=False).decode()

    def position(self, cursor: str) -> Position:
        """Parse a cursor of this list. InvalidCursor for any other text."""
        try:
            *head, value, id = orjson.loads(binascii.a2b_base64(cursor, strict_mode=True))
            if head != self._cursor_prefix or self.then:
                raise InvalidCursor(cursor)
            return Position(self._value_adapter.validate_python(value), self._valid_id(id))
        except (ValueError, TypeError, AttributeError, ValidationError) as error:
            raise InvalidCursor(cursor) from error

    def _valid_id(self, id: Any) -> int | UUID:
        """The id of a cursor. Raises ValueError if no row of the table can have it."""
        if self.table.model_fields["id"].annotation is UUID:
            return UUID(id)
        if type(id) is not int or not 0 <= id < ID_LIMIT:
            raise ValueError(id)
        return id

    @cached_property
    def _value_adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.table.model_fields[self.by].annotation)

    # ---- tests

    def conditions_beyond(
        self, at: Position, *, before: bool = False, inclusive: bool = False
    ) -> list[RangeConditions]:
        """The conditions for the rows after (or before) a position: alternatives, each answered by one index range."""
        key, id = self.columns
        up = before is self.descending
        compare = COMPARISONS[up, inclusive]
        cache_key = (self.table, self.by, up, inclusive)
        beside = Condition.parametrized(("beside", *cache_key), (at.id,), (id.type,), lambda place: compare(id, place))
        if self.by == "id":
            return [[beside]]
        absent = Condition.parametrized(("absent", *cache_key), (), (), lambda: key.is_(None))
        if at.value is None:
            present = Condition.parametrized(("present", *cache_key), (), (), lambda: key.is_not(None))
            return [[absent, beside]] if up else [[absent, beside], [present]]
        ranged = Condition.parametrized(
            ("beyond", *cache_key),
            (at.value, at.id),
            (key.type, id.type),
            lambda value, place: compare(tuple_(key, id), tuple_(value, place)),
        )
        return [[ranged], [absent]] if up and key.nullable else [[ranged]]
