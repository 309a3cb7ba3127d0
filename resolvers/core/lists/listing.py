"""Lists and look-ups, declared as data and planned for a caller. The transport selects the columns to read."""

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

import strawberry
from strawberry.types import get_object_definition
from strawberry.utils.str_converters import to_snake_case

from resolvers.core.brute_force import throttled_code_lookup, throttled_lookup
from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.core.instrumentation import ReadTimer, instrumented_plan
from resolvers.core.lists.connection import Connection
from resolvers.core.lists.filters import Filter, Where
from resolvers.core.lists.page_query import LazyRow, PageQuery
from resolvers.core.scoping import visible_conditions
from schema.core.errors import InvalidInput
from schema.core.inputs import RejectedInput
from schema.core.message_names import TemplatedMessage
from schema.core.permission import RequiredAccess
from store.core.codes import normalize
from store.database.keyset import InvalidCursor, KeysetOrder, Position
from store.database.loaders import column
from store.database.statement_cache import Condition
from store.tables import table_of

T = TypeVar("T")

DEFAULT_PAGE = 20
LARGEST_PAGE = 100
NORMAL_CODE = "normal_code"
"""The column with the normalized code."""
ARGUMENTS = {NORMAL_CODE: "code", "key": "id"}
"""Names of arguments that differ from the column's."""
LONG_ID = re.compile(r"[0-9]{1,18}")
NO_ROW = -1


@lru_cache(maxsize=4096)
def _visible_conditions(caller: Caller, table: Any) -> tuple[Condition, ...]:
    """The conditions of the rows that a caller sees, cached: authentication reuses a caller object for some seconds."""
    return tuple(map(Condition.from_expression, visible_conditions(caller, table)))


@dataclass(frozen=True)
class PageArguments:
    """A page: the `first` rows after a cursor, the `last` rows before one, or (REST only) a numbered page of `first`
    rows.
    """

    first: int | None = None
    after: str | None = None
    page: int | None = None
    last: int | None = None
    before: str | None = None

    def size(self) -> int:
        """The page size: 1 to 100, default 20. Raises InvalidInput for the argument that is wrong."""
        if self.first is not None and self.last is not None:
            raise InvalidInput.at("last", "Ask for `first` or for `last`, not for both.")
        name, size = ("last", self.last) if self.last is not None else ("first", self.first)
        if size is None:
            return DEFAULT_PAGE
        if not 0 < size <= LARGEST_PAGE:
            raise InvalidInput.at(name, TemplatedMessage("Ask for 1 to {most}.", most=LARGEST_PAGE), "OUT_OF_RANGE")
        return size


def position_at(order: KeysetOrder, name: str, cursor: str | None) -> Position | None:
    """The position of a cursor. Raises InvalidInput for the argument of this name if it is one of another list."""
    if cursor is None:
        return None
    try:
        return order.position(cursor)
    except InvalidCursor as error:
        raise InvalidInput.at(name, "This cursor belongs to another list.") from error


@dataclass(frozen=True)
class GuardedArgument:
    """An argument of a list that only holders know: an e-mail address, matched ignoring case."""

    name: str
    where: Where
    description: str


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list declared as data: its resource, filter and orders (an enum of `column` and `-column`, default first).

    `guarded` is an argument that only holders know, such as an e-mail address: a page that it leaves empty counts as a miss
    for the brute-force protection.
    """

    resource: type[T]
    filter: type[Filter]
    order: type[enum.StrEnum]
    permission: RequiredAccess
    description: str
    guarded: GuardedArgument | None = None
    always: Filter | None = None
    """What all of its rows have, whatever they are filtered by."""
    table: Any = field(init=False)
    orders: Mapping[str, KeysetOrder] = field(init=False)
    name: str = field(init=False)
    """In snake case: `order_list`."""

    def __post_init__(self) -> None:
        table = table_of(self.resource)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "name", f"{to_snake_case(self.resource.__name__)}_list")
        object.__setattr__(self, "orders", {written: KeysetOrder.parse(table, written) for written in self.order})
        for where in self.filter.tests().values():
            where.check(table)

    @property
    def default_order(self) -> enum.StrEnum:
        """The order that applies if none is requested: the first one."""
        return next(iter(self.order))

    def order_of(self, written: str) -> KeysetOrder:
        """The order by one or several of the list's orders, separated by commas."""
        first, *others = (self.orders[each] for each in written.split(","))
        return replace(first, then=tuple(others)) if others else first

    @instrumented_plan
    async def __call__(
        self,
        context: Context,
        page: PageArguments,
        filter: Filter | RejectedInput | None = None,
        order: str | None = None,
        of: Mapping[str, Any] | None = None,
        guarded: str | None = None,
    ) -> Connection[T]:
        """Plan the list for a caller. `of` restricts it to rows with these values, such as those of one parent, and
        `guarded` to those with this value of the guarded argument.

        `order` is one of the list's orders, or for numbered pages several of them, separated by commas.
        """
        context.require(self.permission)
        if isinstance(filter, RejectedInput):
            raise InvalidInput(*filter.problems)
        size, chosen = page.size(), self.order_of(order or self.default_order)
        caller = context.required_caller
        tests = [
            *_visible_conditions(caller, self.table),
            *(filter.where(self.table, caller) if filter else []),
            *(self.always.where(self.table, caller) if self.always else []),
        ]
        tests += [Condition.equal(column(self.table, name), value) for name, value in (of or {}).items()]
        if guarded is not None and self.guarded is not None:
            tests.append(self.guarded.where.condition(self.table, guarded.strip().lower()))
        rows: PageQuery[T] = PageQuery(
            chosen,
            tuple(tests),
            context.db,
            size,
            instrumentation=ReadTimer(self.name, context),
            reverse=page.last is not None,
            after=position_at(chosen, "after", page.after),
            before=position_at(chosen, "before", page.before),
            offset=((page.page or 1) - 1) * size,
            fetch_guard=None if guarded is None else partial(throttled_lookup, context, self.thing),
        )
        return Connection(rows=rows)

    @property
    def thing(self) -> str:
        """One of its rows in words, such as `network gift card`."""
        return self.name.removesuffix("_list").replace("_", " ")


@dataclass(frozen=True)
class Lookup(Generic[T]):
    """One row by a unique column, declared as data. It is read with one statement of the selected columns.

    If `by` is `normal_code`, codes match in any spelling, and a miss counts for the brute-force protection. `visible` are
    the conditions of the rows that a caller sees, if who knows the exact value sees more than lists show.
    """

    resource: type[T]
    by: str
    thing: str
    permission: RequiredAccess
    description: str
    visible: Callable[[Caller, Any], tuple[Condition, ...]] = _visible_conditions
    table: Any = field(init=False)
    order: KeysetOrder = field(init=False)

    def __post_init__(self) -> None:
        table = table_of(self.resource)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "order", KeysetOrder(table, "id"))
        column(table, self.by)

    @property
    def name(self) -> str:
        """The name in snake case."""
        return self.thing.replace(" ", "_")

    @property
    def argument(self) -> str:
        """The name of its argument."""
        return ARGUMENTS.get(self.by, self.by)

    @property
    def argument_type(self) -> Any:
        """The type of its argument: that of the column, or `ID` where the resource publishes it as one."""
        published = get_object_definition(self.resource, strict=True).get_field(self.by)
        is_id = published is not None and published.type is strawberry.ID
        return strawberry.ID if is_id else self.table.model_fields[self.by].annotation

    @instrumented_plan
    async def __call__(self, context: Context, value: Any) -> LazyRow[T]:
        """Plan the look-up for a caller. Reading it raises NotFound if the caller may see no such row."""
        context.require(self.permission)
        key = self._key_of(value)
        tests = (
            *self.visible(context.required_caller, self.table),
            Condition.equal(column(self.table, self.by), key),
        )
        rows: PageQuery[T] = PageQuery(self.order, tests, context.db, 1, instrumentation=ReadTimer(self.name, context))
        seek = partial(throttled_code_lookup, context, self.thing, key) if self.by == NORMAL_CODE else None
        return LazyRow(rows, self.thing, seek)

    def _key_of(self, value: Any) -> Any:
        """The value of the column; one that no row has for an `ID` that cannot be one."""
        if self.by == NORMAL_CODE:
            return normalize(value)
        if self.argument_type is not strawberry.ID or isinstance(value, int):
            return value
        return int(value) if LONG_ID.fullmatch(value) else NO_ROW
