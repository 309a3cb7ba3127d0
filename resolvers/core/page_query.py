"""Rows not fetched yet, and what is published of them: connections, edges, pages."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, TypeAlias, TypeVar, cast

import asyncpg
import sqlmodel
import strawberry
from sqlalchemy import ColumnElement, Integer, any_, bindparam, exists, func, literal_column, or_, select, union_all

from resolvers.core.instrumentation import Reading
from schema.core.errors import InvalidInput, NotFound
from store.database.filtered_page import MANY, SiftedPage
from store.database.keyset import Order, Position, Range
from store.database.loaders import among, column
from store.database.statement_cache import Condition, Statement
from store.database.transaction_reader import Reads

T = TypeVar("T")
R = TypeVar("R")
Seek: TypeAlias = Callable[[Callable[[], Awaitable[Sequence[Any]]]], Awaitable[Sequence[Any]]]


@dataclass(frozen=True)
class Cut:
    """The rows of one page, in the list's order, and whether there are more in the direction it was read."""

    rows: Sequence[Any]
    more: bool


@dataclass(eq=False)
class Rows(Generic[T]):
    """A page of a list, not fetched yet: whoever writes it says which columns it wants.

    Read from the list's end when `turned`. `offset` is for numbered pages only.
    """

    order: Order
    tests: tuple[Condition, ...]
    db: Reads
    size: int
    turned: bool = False
    after: Position | None = None
    before: Position | None = None
    offset: int = 0
    reading: Reading = field(kw_only=True)
    _objects: "asyncio.Task[Cut] | None" = field(default=None, init=False)

    @property
    def table(self) -> Any:
        """The table they come from."""
        return self.order.table

    async def page(self, columns: Sequence[str]) -> Sequence[Any]:
        """The rows as tuples of plain data: (order column, id, *columns)."""
        return (await self.cut(columns)).rows

    async def cut(self, columns: Sequence[str]) -> Cut:
        """The same with whether there are more."""
        if self._sifts:
            return await self._sifted(columns)
        branches = self._branches

        def build(*conditions: ColumnElement[bool]) -> Statement:
            own, ranges = conditions[: len(self.tests)], iter(conditions[len(self.tests) :])
            wanted = [*self.order.columns, *(column(self.table, name) for name in columns)]
            limit = bindparam("size", type_=Integer)
            ordered = select(*wanted).where(*own).order_by(*self.order.clauses(turned=self.turned)).limit(limit)
            found = [ordered.where(*(next(ranges) for _ in branch)) for branch in branches]
            if self.offset:
                return self._counted_off(wanted, found[0])
            if len(found) == 1:
                return found[0]
            direction = " DESC" if self.order.down is not self.turned else ""
            return union_all(*found).order_by(*(literal_column(f"{n}{direction}") for n in (1, 2))).limit(limit)

        key = ("page", self.order, self.turned, tuple(columns), bool(self.offset), tuple(map(len, branches)))
        values = {"size": self.size + 1} | ({"offset": self.offset} if self.offset else {})
        return self._cut(await self._run(key, build, values, [t for b in branches for t in b]))

    def _counted_off(self, wanted: Sequence[Any], found: Any) -> Statement:
        """A numbered page: the rows before it are passed over in the index, and only its own are read."""
        id = self.order.columns[1]
        ids = found.with_only_columns(id).offset(bindparam("offset", type_=Integer))
        own = select(*wanted).where(id == any_(func.array(ids.scalar_subquery())))
        return own.order_by(*self.order.clauses(turned=self.turned))

    def _cut(self, rows: Sequence[Any]) -> Cut:
        """What was read, as the page that it is: a row more was asked for."""
        kept = rows[: self.size]
        return Cut(kept[::-1] if self.turned else kept, len(rows) > self.size)

    @property
    def _sifts(self) -> bool:
        """Whether nobody knows beforehand if few rows pass the tests or many."""
        return any(test.plain is not None for test in self.tests)

    async def _sifted(self, columns: Sequence[str]) -> Cut:
        """A page of a list of which few rows pass the tests, or many: the planner cannot know which, and need not.

        If many pass, the page is full of those among the next rows of the list. Else they are few enough to fetch and sort.
        """
        wanted = [*self.order.columns, *(column(self.table, name) for name in columns)]
        page = SiftedPage(self.order, wanted, self.turned, self.size + 1, self.offset)
        near = await self._near(page)
        if len(near) > self.size:
            return self._cut(near)
        branches = tuple(map(len, self._branches))
        build = partial(page.among_all, len(self.tests), branches)
        tests = [*self.tests, *(test for branch in self._branches for test in branch)]
        return self._cut(await self._ran(("far", page.key, branches), build, page.values, tests))

    async def _near(self, page: SiftedPage) -> Sequence[Any]:
        """The page among the next rows of the list, whole or in part."""
        if len(self._branches) > 1:  # they are two ranges of the index: between values and nulls
            return ()
        inside = [*(test for test in self.tests if not test.is_movable), *self._branches[0]]
        outside = [test.of_rows(page.next_rows) for test in self.tests if test.is_movable]
        build = partial(page.among_next, len(inside))
        return await self._ran(("near", page.key, len(inside)), build, page.values, [*inside, *outside])

    @cached_property
    def _branches(self) -> list[Range]:
        """The ranges of the order that the window spans."""
        if self.after is None and self.before is None:
            return [[]]
        after = [[]] if self.after is None else self.order.beyond(self.after)
        before = [[]] if self.before is None else self.order.beyond(self.before, before=True)
        return [[*a, *b] for a in after for b in before]

    async def _run(
        self, key: Any, build: Any, values: dict[str, Any], ranges: Sequence[Condition] = ()
    ) -> Sequence[Any]:
        return await self._ran(key, build, values, (*self.tests, *ranges))

    async def _ran(self, key: Any, build: Any, values: dict[str, Any], tests: Sequence[Condition]) -> Sequence[Any]:
        try:
            with self.reading.begin():
                return await self.db.kept.rows(key, build, values, tests)
        except asyncpg.DataError as error:
            raise InvalidInput.at((), "A value of the filter or cursor is beyond what is stored.") from error

    async def objects(self) -> Sequence[T]:
        """The rows as objects, for whoever cannot name columns; fetched once however often it is asked."""
        return (await self.fetched()).rows

    async def fetched(self) -> Cut:
        """The same with whether there are more."""
        if self._objects is None:
            self._objects = asyncio.ensure_future(self._fetch())
        return await self._objects

    async def _fetch(self) -> Cut:
        cut = await self.cut(())
        ids = [row[1] for row in cut.rows]
        async with self.db.sessions() as session:
            found = (await session.exec(sqlmodel.select(self.table).where(among(column(self.table, "id"), ids)))).all()
        by_id = {row.id: row for row in found}
        return Cut([by_id[id] for id in ids if id in by_id], cut.more)

    async def count(self) -> int:
        """How many rows the whole list has."""

        def build(*conditions: ColumnElement[bool]) -> Statement:
            return select(func.count()).select_from(self.table).where(*conditions)

        tests = self.tests
        if self._sifts:
            sample = SiftedPage(self.order, self.order.columns, self.turned, MANY, 0)
            if len(await self._near(sample)) == MANY:
                tests = tuple(test.plain or test for test in tests)
        return int((await self._ran(("count", self.table), build, {}, tests))[0][0])

    async def has_next(self, more: bool) -> bool:
        """Whether any row of the list follows the page; `more` is what fetching the page told."""
        return (more and not self.turned) or (self.before is not None and await self._any(self.before, before=False))

    async def has_previous(self, more: bool) -> bool:
        """Whether any row of the list precedes the page."""
        if self.offset or (more and self.turned):
            return True
        return self.after is not None and await self._any(self.after, before=True)

    async def _any(self, at: Position, *, before: bool) -> bool:
        ranges = self.order.beyond(at, before=before, inclusive=True)

        def build(*conditions: ColumnElement[bool]) -> Statement:
            own, rest = conditions[: len(self.tests)], iter(conditions[len(self.tests) :])
            rows: Any = select(literal_column("1")).select_from(self.table).where(*own)
            return select(or_(*(exists(rows.where(*(next(rest) for _ in branch))) for branch in ranges)))

        key = ("any", self.order, before, tuple(map(len, ranges)))
        return bool((await self._run(key, build, {}, [t for r in ranges for t in r]))[0][0])

    def cursor_of(self, row: Any) -> str:
        """The cursor of one of the objects."""
        return self.order.cursor(*self.place_of(row))

    def place_of(self, row: Any) -> tuple[Any, int]:
        """What one of the objects is ordered by, and its id."""
        return getattr(row, self.order.by), row.id


@dataclass(eq=False)
class Found(Generic[T]):
    """One row, not fetched yet."""

    rows: Rows[T]
    thing: str
    seek: Seek | None = None
    """What looks for it in the place of looking at once: a look-up that counts what is not found."""

    async def page(self, columns: Sequence[str]) -> Any:
        """It as a tuple of plain data: (id, id, *columns); NotFound when the caller may see no such row."""
        return await self._one(partial(self.rows.page, columns))

    async def object(self) -> T:
        """It as an object; NotFound when the caller may see no such row."""
        found: T = await self._one(self.rows.objects)
        return found

    async def _one(self, look: Callable[[], Awaitable[Sequence[Any]]]) -> Any:
        rows = await (look() if self.seek is None else self.seek(look))
        if not rows:
            raise NotFound(thing=self.thing)
        return rows[0]


def published(description: str) -> Callable[[Callable[[Any], R]], R]:
    """Publish what a method answers, described for the readers of the schema."""
    made: Callable[[Callable[[Any], R]], R] = strawberry.field(description=description)
    return made


@strawberry.type(description="Where a page stands in its list.")
class PageInfo:
    """Where a page stands in its list."""

    rows: strawberry.Private[Rows[Any]]

    @published("Whether the list goes on after this page.")
    async def has_next_page(self) -> bool:
        """Whether the list goes on after this page."""
        return await self.rows.has_next((await self.rows.fetched()).more)

    @published("Whether the list begins before this page.")
    async def has_previous_page(self) -> bool:
        """Whether the list begins before this page."""
        return await self.rows.has_previous((await self.rows.fetched()).more)

    @published("The cursor of the page's first row, to go back `before`; null on an empty page.")
    async def start_cursor(self) -> str | None:
        """The cursor of the first row."""
        found = await self.rows.objects()
        return self.rows.cursor_of(found[0]) if found else None

    @published("The cursor of the page's last row, to go on `after`; null on an empty page.")
    async def end_cursor(self) -> str | None:
        """The cursor of the last row."""
        found = await self.rows.objects()
        return self.rows.cursor_of(found[-1]) if found else None


@strawberry.type(description="A row of a list, and its place there.")
class Edge(Generic[T]):
    """A row of a list, and its place there."""

    node: T = strawberry.field(description="The row.")
    cursor: str = strawberry.field(description="Its place, for `after` and `before`.")


@strawberry.type(description="One page of a list.")
class Connection(Generic[T]):
    """One page of a list. Its resolvers are the plain path; the compiled executor reads `rows` itself."""

    rows: strawberry.Private[Rows[T]]

    @published("The rows of the page with their cursors.")
    async def edges(self) -> list[Edge[T]]:
        """The rows with their cursors."""
        return [Edge(node=row, cursor=self.rows.cursor_of(row)) for row in await self.rows.objects()]

    @published("The rows of the page.")
    async def nodes(self) -> list[T]:
        """The rows."""
        return list(await self.rows.objects())

    @published("Where the page stands in the list.")
    def page_info(self) -> PageInfo:
        """Where the page stands."""
        return PageInfo(rows=cast("Rows[Any]", self.rows))

    @published("How many rows the whole list has, counted only when this is asked for.")
    async def total_count(self) -> int:
        """How many rows the whole list has."""
        return await self.rows.count()
