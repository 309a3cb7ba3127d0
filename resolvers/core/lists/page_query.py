"""Lazy pages and rows of lists: they are fetched when the columns are known."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Generic, TypeAlias, TypeVar

import asyncpg
import sqlmodel
from sqlalchemy import ColumnElement, Integer, any_, bindparam, exists, func, literal_column, or_, select, union_all

from resolvers.core.instrumentation import ReadTimer
from schema.core.errors import InvalidInput, NotFound
from store.database.filtered_page import MANY_MATCHES, FilteredPage
from store.database.keyset import KeysetOrder, Position, RangeConditions
from store.database.loaders import column, is_any_of
from store.database.projection_fields import LoadFunction, RelatedRows, RowColumns
from store.database.related_rows import (
    KeyedRows,
    join_related,
    load_first_from,
    related_column,
    split_joined,
    split_related,
)
from store.database.statement_cache import Condition, Statement
from store.database.transaction_reader import DatabaseReader
from store.tables import table_of

T = TypeVar("T")
R = TypeVar("R")
FetchGuard: TypeAlias = Callable[[Callable[[], Awaitable[Sequence[Any]]]], Awaitable[Sequence[Any]]]


@dataclass(frozen=True)
class PageSlice:
    """The rows of one page in the list's order, and whether more follow in the direction of reading."""

    rows: Sequence[Any]
    has_more: bool
    related: KeyedRows = field(default_factory=dict)
    """The rows related to them that were read with them."""

    def load_missing(self, load: LoadFunction) -> LoadFunction:
        """`load` that already has what was read with the rows."""
        return load_first_from(self.related, load)


@dataclass(eq=False)
class PageQuery(Generic[T]):
    """A page of a list that is fetched later, with the columns that the transport selects.

    With `reverse` it is read from the end of the list. `offset` is for numbered pages only.
    """

    order: KeysetOrder
    tests: tuple[Condition, ...]
    db: DatabaseReader
    size: int
    reverse: bool = False
    after: Position | None = None
    before: Position | None = None
    offset: int = 0
    fetch_guard: FetchGuard | None = None
    """Runs each statement, and counts one without rows as a miss for the brute-force protection. None: they run directly."""
    instrumentation: ReadTimer = field(kw_only=True)
    _objects_task: "asyncio.Task[PageSlice] | None" = field(default=None, init=False)

    @property
    def table(self) -> Any:
        return self.order.table

    async def page(self, columns: Sequence[str]) -> Sequence[Any]:
        """The rows as tuples: (order column, id, *columns)."""
        return (await self.fetch_slice(columns)).rows

    async def fetch_slice(self, columns: Sequence[str], joined: Sequence[RelatedRows] = ()) -> PageSlice:
        """The rows, and whether there are more. Rows of `joined` are read with them, but if the page is filtered."""
        if self._needs_filtered_page:
            return await self._fetch_filtered(columns)
        wanted, branches, joined = (self.order.by, "id", *columns), self._branches, tuple(joined)

        def build(*conditions: ColumnElement[bool]) -> Statement:
            if not joined:
                return self._page_statement(wanted, conditions)
            rows = self._page_statement(dict.fromkeys((*self.order.keys, *columns)), conditions).subquery("page")
            order = self.order.clauses(backwards=self.reverse, rows=rows)
            return join_related(rows, wanted, joined, table_of).order_by(*order)

        key = ("page", self.order, self.reverse, tuple(columns), joined, bool(self.offset), tuple(map(len, branches)))
        values = {"size": self.size + 1} | ({"offset": self.offset} if self.offset else {})
        found = await self._execute_with_tests(key, build, values, [t for b in branches for t in b])
        if not joined:
            return self._slice_of(found)
        rows, related = split_joined(found, columns, joined)
        return replace(self._slice_of(rows), related=related)

    def _page_statement(self, names: Iterable[str], conditions: Sequence[ColumnElement[bool]]) -> Statement:
        """These columns of the page, which begin with those that order it."""
        selected = [column(self.table, name) for name in names]
        own, ranges = conditions[: len(self.tests)], iter(conditions[len(self.tests) :])
        limit = bindparam("size", type_=Integer)
        ordered = select(*selected).where(*own).order_by(*self.order.clauses(backwards=self.reverse)).limit(limit)
        statements = [ordered.where(*(next(ranges) for _ in branch)) for branch in self._branches]
        if self.offset:
            return self._offset_page(selected, statements[0])
        if len(statements) == 1:
            return statements[0]
        direction = " DESC" if self.order.descending is not self.reverse else ""
        return union_all(*statements).order_by(*(literal_column(f"{n}{direction}") for n in (1, 2))).limit(limit)

    async def fetch_with_related(self, selection: RowColumns) -> tuple[Sequence[Any], KeyedRows]:
        """The rows as tuples, and the rows related to them, all from one statement. For a single row."""
        columns, related = tuple(selection.columns), selection.related

        def build(*conditions: ColumnElement[bool]) -> Statement:
            own = [*self.order.columns, *(column(self.table, name) for name in columns)]
            wanted = [*own, *(related_column(each, self.table.__table__, table_of) for each in related)]
            return select(*wanted).where(*conditions)

        rows = await self._execute(("row", self.order, columns, related), build, {}, self.tests)
        return split_related(rows, columns, related)

    def _offset_page(self, columns: Sequence[Any], rows: Any) -> Statement:
        """A numbered page. The rows before it are skipped in the index; only its own rows are read."""
        id = self.order.columns[1]
        ids = rows.with_only_columns(id).offset(bindparam("offset", type_=Integer))
        own = select(*columns).where(id == any_(func.array(ids.scalar_subquery())))
        return own.order_by(*self.order.clauses(backwards=self.reverse))

    def _slice_of(self, rows: Sequence[Any]) -> PageSlice:
        """The page without the extra row that was read to see whether there are more."""
        page_rows = rows[: self.size]
        return PageSlice(page_rows[::-1] if self.reverse else page_rows, len(rows) > self.size)

    @property
    def _needs_filtered_page(self) -> bool:
        """Whether the share of rows that pass the tests is unknown."""
        return any(test.fallback is not None for test in self.tests)

    async def _fetch_filtered(self, columns: Sequence[str]) -> PageSlice:
        """A page of a list whose tests few rows pass, or many: PostgreSQL's planner cannot know which.

        If many rows pass, those among the next rows of the list fill the page. Otherwise they are few enough to fetch
        and sort.
        """
        selected = [*self.order.columns, *(column(self.table, name) for name in columns)]
        page = FilteredPage(self.order, selected, self.reverse, self.size + 1, self.offset)
        near = await self._scan_first(page)
        if len(near) > self.size:
            return self._slice_of(near)
        branches = tuple(map(len, self._branches))
        build = partial(page.filter_first, len(self.tests), branches)
        tests = [*self.tests, *(test for branch in self._branches for test in branch)]
        return self._slice_of(await self._execute(("far", page.cache_key, branches), build, page.values, tests))

    async def _scan_first(self, page: FilteredPage) -> Sequence[Any]:
        """The matching rows among the next rows of the list: a full page or fewer rows."""
        if len(self._branches) > 1:  # the page spans two ranges of the index: values and nulls
            return ()
        inside = [*(test for test in self.tests if not test.is_rebindable), *self._branches[0]]
        outside = [test.for_rows(page.next_rows) for test in self.tests if test.is_rebindable]
        build = partial(page.scan_first, len(inside))
        return await self._execute(("near", page.cache_key, len(inside)), build, page.values, [*inside, *outside])

    @cached_property
    def _branches(self) -> list[RangeConditions]:
        """The ranges of the index that the page spans."""
        if self.after is None and self.before is None:
            return [[]]
        after = [[]] if self.after is None else self.order.conditions_beyond(self.after)
        before = [[]] if self.before is None else self.order.conditions_beyond(self.before, before=True)
        return [[*a, *b] for a in after for b in before]

    async def _execute_with_tests(
        self, key: Any, build: Any, values: dict[str, Any], ranges: Sequence[Condition] = ()
    ) -> Sequence[Any]:
        return await self._execute(key, build, values, (*self.tests, *ranges))

    async def _execute(self, key: Any, build: Any, values: dict[str, Any], tests: Sequence[Condition]) -> Sequence[Any]:
        async def fetch() -> Sequence[Any]:
            with self.instrumentation.start():
                return await self.db.statements.rows(key, build, values, tests)

        try:
            return await (fetch() if self.fetch_guard is None else self.fetch_guard(fetch))
        except asyncpg.DataError as error:
            raise InvalidInput.at((), "A value of the filter or cursor is beyond what is stored.") from error

    async def objects(self) -> Sequence[T]:
        """The rows as objects, for callers that cannot name columns. They are fetched once."""
        return (await self.objects_slice()).rows

    async def objects_slice(self) -> PageSlice:
        """The rows, and whether there are more."""
        if self._objects_task is None:
            self._objects_task = asyncio.ensure_future(self._fetch_objects())
        return await self._objects_task

    async def _fetch_objects(self) -> PageSlice:
        cut = await self.fetch_slice(())
        ids = [row[1] for row in cut.rows]
        async with self.db.read_sessions() as session:
            objects = (
                await session.exec(sqlmodel.select(self.table).where(is_any_of(column(self.table, "id"), ids)))
            ).all()
        by_id = {row.id: row for row in objects}
        return PageSlice([by_id[id] for id in ids if id in by_id], cut.has_more)

    async def count(self) -> int:
        """Number of rows in the whole list."""

        def build(*conditions: ColumnElement[bool]) -> Statement:
            return (
                select(func.count())
                .select_from(self.table)
                .where(*conditions)
                .having(func.count() > literal_column("0"))
            )

        tests = self.tests
        if self._needs_filtered_page:
            sample = FilteredPage(self.order, self.order.columns, self.reverse, MANY_MATCHES, 0)
            if len(await self._scan_first(sample)) == MANY_MATCHES:
                tests = tuple(test.fallback or test for test in tests)
        counted = await self._execute(("count", self.table), build, {}, tests)
        return int(counted[0][0]) if counted else 0

    async def has_next(self, more: bool) -> bool:
        """Whether a row of the list follows the page; `more` is `has_more` of the page."""
        return (more and not self.reverse) or (
            self.before is not None and await self._exists_beyond(self.before, before=False)
        )

    async def has_previous(self, more: bool) -> bool:
        """Whether a row of the list precedes the page; `more` is `has_more` of the page."""
        if self.offset or (more and self.reverse):
            return True
        return self.after is not None and await self._exists_beyond(self.after, before=True)

    async def _exists_beyond(self, at: Position, *, before: bool) -> bool:
        ranges = self.order.conditions_beyond(at, before=before, inclusive=True)

        def build(*conditions: ColumnElement[bool]) -> Statement:
            own, rest = conditions[: len(self.tests)], iter(conditions[len(self.tests) :])
            rows: Any = select(literal_column("1")).select_from(self.table).where(*own)
            return select(literal_column("1")).where(
                or_(*(exists(rows.where(*(next(rest) for _ in branch))) for branch in ranges))
            )

        key = ("any", self.order, before, tuple(map(len, ranges)))
        return bool(await self._execute_with_tests(key, build, {}, [t for r in ranges for t in r]))

    def cursor_of(self, row: Any) -> str:
        """The cursor of a row object."""
        return self.order.cursor(*self.position_of(row))

    def position_of(self, row: Any) -> tuple[Any, int]:
        """The order value of a row object, and its id."""
        return getattr(row, self.order.by), row.id


@dataclass(eq=False)
class LazyRow(Generic[T]):
    """One row that is fetched later."""

    rows: PageQuery[T]
    thing: str
    fetch_guard: FetchGuard | None = None
    """Runs the query of the row, and counts a miss for the brute-force protection. None: the query runs directly."""

    async def fetch(self, selection: RowColumns, load: LoadFunction) -> tuple[Any, LoadFunction]:
        """The row as a tuple (id, id, *columns), and `load` that already has what is related to it.

        Raises NotFound if the caller may see no such row.
        """
        related: KeyedRows = {}

        async def look() -> Sequence[Any]:
            rows, by_relation = await self.rows.fetch_with_related(selection)
            related.update(by_relation)
            return rows

        return await self._fetch_one(look), load_first_from(related, load)

    async def require(self) -> None:
        """Raise NotFound if the caller may see no such row."""
        await self._fetch_one(lambda: self.rows.page(()))

    async def object(self) -> T:
        """The row as an object. Raises NotFound if the caller may see no such row."""
        row: T = await self._fetch_one(self.rows.objects)
        return row

    async def _fetch_one(self, look: Callable[[], Awaitable[Sequence[Any]]]) -> Any:
        rows = await (look() if self.fetch_guard is None else self.fetch_guard(look))
        if not rows:
            raise NotFound(thing=self.thing)
        return rows[0]
