"""A list is a plan: a table, tests, an order, a window. Whoever writes the answer says which columns it wants."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import Field
from sqlalchemy import ARRAY, Boolean, Column, ColumnElement, String, Uuid, any_, exists, func, select
from sqlalchemy.types import TypeDecorator
from sqlmodel import col
from strawberry.utils.str_converters import to_snake_case

from resolvers.core.brute_force import look_up_code
from resolvers.core.context import Caller, Context
from resolvers.core.instrumentation import Reading, planned
from resolvers.core.page_query import Connection, Found, PageInfo, Rows
from resolvers.core.scoping import of_marketplace_with, visible
from schema.core.errors import InvalidInput
from schema.core.permission import Required
from schema.core.resource import Fields, Invalid, TextColumn
from store.core.codes import normal
from store.database.keyset import BadCursor, Order, Position
from store.database.loaders import column, table_of
from store.database.statement_cache import Condition
from store.database.text_search import containing, is_searched, plain, somewhere
from store.partner.partners import MarketplaceRow, PartnerRow

__all__ = [
    "Connection",
    "Filter",
    "Found",
    "Listing",
    "Lookup",
    "OfMarketplace",
    "OfPartner",
    "PageInfo",
    "Rows",
    "Where",
    "Window",
]

T = TypeVar("T")

DEFAULT_PAGE = 20
LARGEST_PAGE = 100
NORMAL_CODE = "normal_code"
"""The column of a code as it is matched."""


def _contains(column: Column[Any], value: str) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        found: ColumnElement[bool] = plain(tested).like(plain(bind), escape="\\")
        return found

    return Condition.on(column, "contains", (somewhere(value),), (String(),), build)


def _says(column: Column[Any], value: str) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        said = func.jsonb_each_text(tested).table_valued("key", "value")
        return exists(select(1).select_from(said).where(plain(said.c.value).like(plain(bind), escape="\\")))

    return Condition.on(column, "says", (somewhere(value),), (String(),), build)


def _at_least(column: Column[Any], value: Any) -> Condition:
    return Condition.on(column, ">=", (value,), (column.type,), lambda tested, bind: tested >= bind)


def _below(column: Column[Any], value: Any) -> Condition:
    return Condition.on(column, "<", (value,), (column.type,), lambda tested, bind: tested < bind)


def _at_most(column: Column[Any], value: Any) -> Condition:
    return Condition.on(column, "<=", (value,), (column.type,), lambda tested, bind: tested <= bind)


def _among(column: Column[Any], values: Any) -> Condition:
    return Condition.on(column, "in", (values,), (ARRAY(column.type),), lambda tested, bind: tested == any_(bind))


def _has(column: Column[Any], values: Any) -> Condition:
    return Condition.on(column, "has", (values,), (column.type,), lambda tested, bind: tested.contains(bind))


def _set(column: Column[Any], value: bool) -> Condition:
    return Condition.on(column, "set", (value,), (Boolean(),), lambda tested, bind: tested.is_not(None) == bind)


def _of_partner(column: Column[Any], uuid: UUID) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        named = select(col(PartnerRow.id)).where(col(PartnerRow.uuid) == bind)
        found: ColumnElement[bool] = tested == named.scalar_subquery()
        return found

    return Condition.on(column, "partner", (uuid,), (Uuid(),), build)


def _of_marketplace(column: Column[Any], uuid: UUID) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        named = select(col(MarketplaceRow.id)).where(col(MarketplaceRow.uuid) == bind)
        return of_marketplace_with(column.table, tested.table.c, named.scalar_subquery())

    return Condition.on(column, "marketplace", (uuid,), (Uuid(),), build)


TESTS: Mapping[str, Callable[[Any, Any], Condition]] = {
    "=": Condition.equal,
    ">=": _at_least,
    "<=": _at_most,
    "<": _below,
    "in": _among,
    "contains": _contains,
    "has": _has,
    "says": _says,
    "set": _set,
    "search": containing,
    "partner": _of_partner,
    "marketplace": _of_marketplace,
}


@lru_cache(maxsize=4096)
def _seen(caller: Caller, table: Any) -> tuple[Condition, ...]:
    """What this very caller sees, worked out once: a caller is remembered for some seconds."""
    return tuple(map(Condition.of, visible(caller, table)))


@dataclass(frozen=True)
class Where:
    """How a filter field tests a column: `=`, `>=`, `<=`, `<`, `in` (a list), `contains` (text, whatever the case and accents), `has` (of a
    list, all of these), `says` (of a translated text, in some language, likewise), `set` (whether it is not null), `search`
    (`contains`, of a column declared by `store.database.text_search.searched`, along its index), `partner` or `marketplace` (whether it leads to the
    one with this uuid)."""

    column: str
    test: str = "="

    def check(self, table: Any) -> None:
        """Refuse what cannot be tested so: LookupError for an unknown column or test, TypeError for a kind of column."""
        if self.test not in TESTS:
            raise LookupError(f"Unknown test {self.test!r}: use one of {', '.join(TESTS)}.")
        kind = column(table, self.column).type
        stored = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
        if self.test == "contains" and not isinstance(stored, String):
            raise TypeError(f"{self.column!r} is no text, so it contains nothing.")
        if self.test == "search" and not is_searched(column(table, self.column)):
            raise TypeError(f"{self.column!r} has no trigrams: declare it with `searched`, or test that it `contains`.")
        if self.test == "has" and not isinstance(stored, ARRAY):
            raise TypeError(f"{self.column!r} is no list, so it has nothing.")
        if self.test == "says" and not isinstance(kind, TextColumn):
            raise TypeError(f"{self.column!r} is no translated text, so it says nothing.")


class Filter(Fields):
    """Each field says, as data, which column it tests and how: `Annotated[str | None, Where("code")]`."""

    @classmethod
    def tests(cls) -> dict[str, Where]:
        """What each field tests."""
        return {n: m for n, f in cls.model_fields.items() for m in f.metadata if isinstance(m, Where)}

    def where(self, table: Any) -> list[Condition]:
        """The tests that were asked for; null asks for nothing."""
        given = ((w, getattr(self, n)) for n, w in self.tests().items())
        return [TESTS[w.test](column(table, w.column), v) for w, v in given if v is not None]


class OfMarketplace(Filter):
    """A filter of rows that a marketplace has."""

    marketplace_uuid: Annotated[UUID | None, Where("marketplace_id", "marketplace")] = Field(
        default=None, description="Those of the marketplace with this uuid."
    )


class OfPartner(Filter):
    """A filter of rows that a partner has."""

    partner_uuid: Annotated[UUID | None, Where("partner_id", "partner")] = Field(
        default=None, description="Those of the partner with this uuid."
    )
    marketplace_uuid: Annotated[UUID | None, Where("partner_id", "marketplace")] = Field(
        default=None, description="Those of the marketplace with this uuid, and of its partners."
    )


@dataclass(frozen=True)
class Window:
    """Which rows: the `first` after a cursor, the `last` before one, or (REST only) a numbered page of `first` rows."""

    first: int | None = None
    after: str | None = None
    page: int | None = None
    last: int | None = None
    before: str | None = None

    def size(self) -> int:
        """How many rows are asked for: 20 unless told, 1 to 100; InvalidInput under the argument that says otherwise."""
        if self.first is not None and self.last is not None:
            raise InvalidInput.at("last", "Ask for `first` or for `last`, not for both.")
        name, size = ("last", self.last) if self.last is not None else ("first", self.first)
        if size is None:
            return DEFAULT_PAGE
        if not 0 < size <= LARGEST_PAGE:
            raise InvalidInput.at(name, f"Ask for 1 to {LARGEST_PAGE}.", "OUT_OF_RANGE")
        return size


def _position(order: Order, name: str, cursor: str | None) -> Position | None:
    if cursor is None:
        return None
    try:
        return order.position(cursor)
    except BadCursor as error:
        raise InvalidInput.at(name, "This cursor belongs to another list.") from error


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list declared as data: the resource, its filter, its orders (an enum of `column` and `-column`, default first)."""

    resource: type[T]
    filter: type[Filter]
    order: type[enum.StrEnum]
    permission: Required
    description: str
    table: Any = field(init=False)
    orders: Mapping[str, Order] = field(init=False)
    name: str = field(init=False)
    """In snake case: `order_list`."""

    def __post_init__(self) -> None:
        table = table_of(self.resource)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "name", f"{to_snake_case(self.resource.__name__)}_list")
        object.__setattr__(self, "orders", {written: Order.parse(table, written) for written in self.order})
        for where in self.filter.tests().values():
            where.check(table)

    @property
    def default_order(self) -> enum.StrEnum:
        """The order of a list that is asked for without one."""
        return next(iter(self.order))

    @planned
    async def __call__(
        self,
        context: Context,
        window: Window,
        filter: Filter | Invalid | None = None,
        order: str | None = None,
        of: Mapping[str, Any] | None = None,
    ) -> Connection[T]:
        """Plan the list for a caller; `of` narrows it to the rows with these column values, such as those of one parent."""
        context.require(self.permission)
        if isinstance(filter, Invalid):
            raise InvalidInput(*filter.problems)
        size, chosen = window.size(), self.orders[order or self.default_order]
        tests = [*_seen(context.asking, self.table), *(filter.where(self.table) if filter else [])]
        tests += [Condition.equal(column(self.table, name), value) for name, value in (of or {}).items()]
        rows: Rows[T] = Rows(
            chosen,
            tuple(tests),
            context.db,
            size,
            reading=Reading(self.name, context),
            turned=window.last is not None,
            after=_position(chosen, "after", window.after),
            before=_position(chosen, "before", window.before),
            offset=((window.page or 1) - 1) * size,
        )
        return Connection(rows=rows)


@dataclass(frozen=True)
class Lookup(Generic[T]):
    """One row by a unique column of it, declared as data: answered by one statement of the columns that are wanted.

    Where `by` is `normal_code` it is looked up by its code, in any spelling, and what is not found counts as guessed.
    """

    resource: type[T]
    by: str
    thing: str
    permission: Required
    description: str
    table: Any = field(init=False)
    order: Order = field(init=False)

    def __post_init__(self) -> None:
        table = table_of(self.resource)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "order", Order(table, "id"))
        column(table, self.by)

    @property
    def name(self) -> str:
        """Its name, in snake case."""
        return self.thing.replace(" ", "_")

    @property
    def argument(self) -> str:
        """What is asked for."""
        return "code" if self.by == NORMAL_CODE else self.by

    @planned
    async def __call__(self, context: Context, value: Any) -> Found[T]:
        """Plan the look-up for a caller; whoever reads the plan gets NotFound when there is no such row for this caller."""
        context.require(self.permission)
        wanted = normal(value) if self.by == NORMAL_CODE else value
        tests = (*_seen(context.asking, self.table), Condition.equal(column(self.table, self.by), wanted))
        rows: Rows[T] = Rows(self.order, tests, context.db, 1, reading=Reading(self.name, context))
        seek = partial(look_up_code, context, self.thing, wanted) if self.by == NORMAL_CODE else None
        return Found(rows, self.thing, seek)
