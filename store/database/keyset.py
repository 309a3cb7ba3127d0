"""Keyset order: where a row stands in a list, and the tests for the rows beyond it.

A page is cut by comparing with the row it follows, never by counting rows off, so page 10,000 costs what page 1 costs. Rows
without a value stand last in ascending and first in descending order, which is how an index on `(column, id)` stores them:
one such index (behind the columns that limit what a caller sees) serves both directions.
"""

import binascii
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import JSON, tuple_
from sqlalchemy.types import TypeDecorator

from store.database.loaders import column
from store.database.statement_cache import Condition

ID_LIMIT = 2**63

Range = list[Condition]
COMPARISONS = {
    (True, False): operator.gt,
    (True, True): operator.ge,
    (False, False): operator.lt,
    (False, True): operator.le,
}


class BadCursor(ValueError):
    """This text is no place in this list."""


@dataclass(frozen=True)
class Position:
    """The place of a row: its value of the order column, and its id, which tells equal ones apart."""

    value: Any
    id: int


@dataclass(frozen=True)
class Order:
    """Rows of a table by one of its columns, then by id; `down` turns both around."""

    table: Any
    by: str
    down: bool = False

    @classmethod
    def parse(cls, table: Any, written: str) -> "Order":
        """`created_on`, or `-created_on` for descending; LookupError or TypeError where that makes no order."""
        order = cls(table, written.lstrip("-"), written.startswith("-"))
        kind = column(table, order.by).type
        if isinstance(kind.impl_instance if isinstance(kind, TypeDecorator) else kind, JSON):
            raise TypeError(f"{order.by!r} holds structured data, which has no order.")
        return order

    @cached_property
    def columns(self) -> tuple[Any, Any]:
        """The order column and the id."""
        return column(self.table, self.by), column(self.table, "id")

    def clauses(self, *, turned: bool = False) -> list[Any]:
        """For ORDER BY; `turned` reads the list from its end."""
        keys = dict.fromkeys(self.columns)
        return [key.desc() if self.down is not turned else key.asc() for key in keys]

    # ---- cursors

    @cached_property
    def _head(self) -> list[str]:
        return [self.table.__tablename__, self.by]

    def cursor(self, value: Any, id: int) -> str:
        """The cursor of a row."""
        return binascii.b2a_base64(orjson.dumps([*self._head, value, id], default=str), newline=False).decode()

    def position(self, cursor: str) -> Position:
        """The place that a cursor of this list tells; BadCursor for any other text."""
        try:
            *head, value, id = orjson.loads(binascii.a2b_base64(cursor, strict_mode=True))
            if head != self._head or type(id) is not int or not 0 <= id < ID_LIMIT:
                raise BadCursor(cursor)
            return Position(self._kind.validate_python(value), id)
        except (ValueError, TypeError, ValidationError) as error:
            raise BadCursor(cursor) from error

    @cached_property
    def _kind(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.table.model_fields[self.by].annotation)

    # ---- tests

    def beyond(self, at: Position, *, before: bool = False, inclusive: bool = False) -> list[Range]:
        """The tests for the rows after (or before) a place: alternatives, each answered by one range of the index."""
        key, id = self.columns
        up = before is self.down
        compare = COMPARISONS[up, inclusive]
        told = (self.table, self.by, up, inclusive)
        beside = Condition.named(("beside", *told), (at.id,), (id.type,), lambda place: compare(id, place))
        if self.by == "id":
            return [[beside]]
        absent = Condition.named(("absent", *told), (), (), lambda: key.is_(None))
        if at.value is None:
            present = Condition.named(("present", *told), (), (), lambda: key.is_not(None))
            return [[absent, beside]] if up else [[absent, beside], [present]]
        ranged = Condition.named(
            ("beyond", *told),
            (at.value, at.id),
            (key.type, id.type),
            lambda value, place: compare(tuple_(key, id), tuple_(value, place)),
        )
        return [[ranged], [absent]] if up and key.nullable else [[ranged]]
