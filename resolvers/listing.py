"""A list is a plan: a table, tests, an order, a window. Whoever writes the answer says which columns it wants."""

import asyncio
import binascii
import dataclasses
import datetime as dt
import enum
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson
import strawberry
from sqlalchemy import ColumnElement, func, tuple_
from sqlmodel import select

from resolvers.context import Context
from resolvers.tenancy import visible
from schema.errors import InvalidInput
from schema.permission import Permission
from schema.values import Fields, Invalid, Itself
from store.db import Database
from store.rows import column, table_of

T = TypeVar("T")

TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, ">=": operator.ge, "<=": operator.le, "in": lambda c, v: c.in_(v),
}  # fmt: skip


@dataclass(frozen=True)
class Where:
    column: str
    test: str = "="


class Filter(Fields):
    """Each field says, as data, which column it tests and how: `Annotated[str | None, Where("code")]`."""

    @classmethod
    def tests(cls) -> dict[str, Where]:
        return {n: m for n, f in cls.model_fields.items() for m in f.metadata if isinstance(m, Where)}

    def where(self, table: Any) -> list[ColumnElement[bool]]:
        given = ((w, getattr(self, n)) for n, w in self.tests().items())
        return [TESTS[w.test](getattr(table, w.column), v) for w, v in given if v is not None]


@strawberry.type
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


def cursor(by: str, value: Any, id: int) -> str:
    return binascii.b2a_base64(orjson.dumps([by, value, id], default=str), newline=False).decode()


@dataclass(eq=False)
class Rows(Generic[T]):
    """Rows not fetched yet: whoever writes them says which columns it wants; siblings share the one statement."""

    table: Any
    tests: list[ColumnElement[bool]]
    order: str
    after: list[Any] | None
    offset: int
    first: int
    db: Database
    edges: bool = False
    begun: "dict[Any, asyncio.Task[Sequence[Any]]]" = field(default_factory=dict)

    @property
    def by(self) -> str:
        return self.order.lstrip("-")

    async def run(self, columns: Sequence[str] | None) -> Sequence[Any]:
        keys, down = [column(self.table, self.by), column(self.table, "id")], self.order[0] == "-"
        what = [self.table] if columns is None else [*keys, *(column(self.table, c) for c in columns)]
        query: Any = select(*what).where(*self.tests).order_by(*(k.desc() if down else k for k in keys))
        if self.after:
            query = query.where(tuple_(*keys) < self.after if down else tuple_(*keys) > self.after)
        query = query.offset(self.offset or None).limit(self.first + 1)
        if columns is not None:
            return await self.db.rows(query)
        async with self.db.sessions() as session:
            found: Sequence[Any] = (await session.exec(query)).all()
        return found

    async def fetch(self, columns: Sequence[str] | None) -> Sequence[Any]:
        key = None if columns is None else tuple(columns)
        if key not in self.begun:
            self.begun[key] = asyncio.ensure_future(self.run(columns))
        return await self.begun[key]

    async def page(self, columns: Sequence[str] | None) -> Sequence[Any]:
        return (await self.fetch(columns))[: self.first]

    async def objects(self) -> list[Any]:
        rows = await self.page(None)
        return (
            [Edge(node=r, cursor=cursor(self.by, getattr(r, self.by), r.id)) for r in rows]
            if self.edges
            else list(rows)
        )

    async def count(self) -> int:
        found = await self.db.rows(select(func.count()).select_from(self.table).where(*self.tests))
        return int(found[0][0])


@strawberry.type
class Edge(Generic[T]):
    node: T = strawberry.field(metadata={"compiled": Itself()})
    cursor: str = strawberry.field(metadata={"compiled": "<cursor>"})


@strawberry.type
class Connection(Generic[T]):
    rows: strawberry.Private[Rows[T]]

    @strawberry.field
    def edges(self) -> list[Edge[T]]:
        self.rows.edges = True
        return dataclasses.replace(self.rows)  # type: ignore[return-value]  # the executor fetches what is wanted

    @strawberry.field
    def nodes(self) -> list[T]:
        return dataclasses.replace(self.rows, edges=False)  # type: ignore[return-value]

    @strawberry.field
    async def page_info(self) -> PageInfo:
        await asyncio.sleep(0)  # a sibling that fetches these rows has begun by now
        rows = self.rows
        key = next(iter(rows.begun), ())
        found = await rows.fetch(key)
        page, by = found[: rows.first], rows.by
        ends = (
            [cursor(by, *((r[0], r[1]) if key is not None else (getattr(r, by), r.id))) for r in (page[0], page[-1])]
            if page
            else [None, None]
        )
        return PageInfo(
            has_next_page=len(found) > rows.first,
            has_previous_page=bool(rows.after),
            start_cursor=ends[0],
            end_cursor=ends[1],
        )

    @strawberry.field
    async def total_count(self) -> int:
        return await self.rows.count()


def position(cursor: str, by: str, kind: Any) -> list[Any]:
    try:
        ordered, value, id = orjson.loads(binascii.a2b_base64(cursor))
        parse: Callable[[Any], Any] = {dt.datetime: dt.datetime.fromisoformat}.get(kind, kind)
        if ordered == by:
            return [parse(value), int(id)]
    except (ValueError, TypeError):
        pass
    raise InvalidInput.at("after", "This cursor belongs to another list.")


@dataclass(frozen=True)
class Window:
    """Which rows: a keyset after a cursor, or (REST only) a numbered page."""

    first: int = 20
    after: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list declared as data: the resource, its filter, its orders (an enum of '-column')."""

    resource: type[T]
    filter: type[Filter]
    order: type[enum.StrEnum]
    permission: Permission
    description: str
    table: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", table_of(self.resource))
        for column in [w.column for w in self.filter.tests().values()] + [o.lstrip("-") for o in self.order]:
            getattr(self.table, column)  # a wrong name stops the start

    @property
    def default_order(self) -> enum.StrEnum:
        return next(iter(self.order))

    async def __call__(
        self, context: Context, window: Window, filter: Filter | Invalid | None = None, order: str | None = None
    ) -> Connection[T]:
        context.require(self.permission)
        if isinstance(filter, Invalid):
            raise InvalidInput(*filter.problems)
        if not 0 < window.first <= 100:
            raise InvalidInput.at("first", "Ask for 1 to 100.")
        order = order or self.default_order
        by, table = order.lstrip("-"), self.table
        at = position(window.after, by, table.model_fields[by].annotation) if window.after else None
        offset = ((window.page or 1) - 1) * window.first
        tests = visible(context.asking, table) + (filter.where(table) if filter else [])
        return Connection(rows=Rows(table, tests, order, at, offset, window.first, context.services.db))
