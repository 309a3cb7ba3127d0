"""Lists of lines that no table holds, such as those of a payout request: a statement of their own reads each page."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

import strawberry
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.lists.connection import Connection
from resolvers.core.lists.listing import PageArguments, position_at
from resolvers.core.lists.page_query import PageSlice
from resolvers.core.lists.read_page import ReadPage
from store.database.keyset import KeysetOrder
from store.database.transaction_reader import DatabaseReader

L = TypeVar("L")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
First: TypeAlias = Annotated[
    int | None, strawberry.argument(description="How many lines to return: 1 to 100. Default: 20.")
]
After: TypeAlias = Annotated[str | None, strawberry.argument(description="Return the lines after this cursor.")]


def method_field(description: str) -> Callable[[F], F]:
    """Publish a method as a field with a description. It may take `info`, and arguments."""
    decorator: Callable[[F], F] = strawberry.field(description=description)
    return decorator


@dataclass
class ReadOnce(Generic[T]):
    """What several fields of an object tell of. It is read once, and only if one of them is selected."""

    read: Callable[[AsyncSession], Awaitable[T]]
    _task: "asyncio.Task[T] | None" = field(default=None, init=False)

    async def value(self, db: DatabaseReader) -> T:
        """What was read, or is read now."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._read(db))
        return await self._task

    async def _read(self, db: DatabaseReader) -> T:
        async with db.read_sessions() as session:
            return await self.read(session)


@dataclass(frozen=True)
class PagedLines(Generic[L, T]):
    """A list of lines, oldest first."""

    order: KeysetOrder
    read: Callable[..., Awaitable[Sequence[L]]]
    """Called with a session, `after` and `most`: at most so many lines after a position, or from the beginning."""
    count: Callable[[DatabaseReader], Awaitable[int]]
    position: Callable[[L], tuple[Any, int]]
    """The place of a line in the order: its value there, and an id."""
    publish: Callable[[L], T]

    async def page(self, db: DatabaseReader, first: int | None, after: str | None) -> Connection[T]:
        """A page of it. Raises InvalidInput for the argument that is wrong."""
        size = PageArguments(None if first is strawberry.UNSET else first).size()
        at = position_at(self.order, "after", None if after is strawberry.UNSET else after)
        async with db.read_sessions() as session:
            lines = await self.read(session, after=at, most=size + 1)
        rows = [self.publish(line) for line in lines[:size]]
        cursors = {id(row): self.order.cursor(*self.position(line)) for row, line in zip(rows, lines, strict=False)}
        page: ReadPage[T] = ReadPage(
            PageSlice(rows, len(lines) > size),
            lambda row: cursors[id(row)],
            partial(self.count, db),
            is_first=at is None,
        )
        return Connection.of_read(page)
