"""The GraphQL types of connections, edges and page info."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import strawberry

from resolvers.core.lists.page_query import PageQuery
from resolvers.core.lists.read_page import ReadPage

T = TypeVar("T")
R = TypeVar("R")


def described_field(description: str) -> Callable[[Callable[[Any], R]], R]:
    """Publish a method as a field with a description."""
    decorator: Callable[[Callable[[Any], R]], R] = strawberry.field(description=description)
    return decorator


@strawberry.type(description="The position of a page in its list.")
class PageInfo:
    rows: strawberry.Private[PageQuery[Any]]

    @described_field("True if the list has rows after this page.")
    async def has_next_page(self) -> bool:
        return await self.rows.has_next((await self.rows.objects_slice()).has_more)

    @described_field("True if the list has rows before this page.")
    async def has_previous_page(self) -> bool:
        return await self.rows.has_previous((await self.rows.objects_slice()).has_more)

    @described_field("Cursor of the first row of the page, for `before`; null on an empty page.")
    async def start_cursor(self) -> str | None:
        rows = await self.rows.objects()
        return self.rows.cursor_of(rows[0]) if rows else None

    @described_field("Cursor of the last row of the page, for `after`; null on an empty page.")
    async def end_cursor(self) -> str | None:
        rows = await self.rows.objects()
        return self.rows.cursor_of(rows[-1]) if rows else None


@strawberry.type(description="A row of a list, with its cursor.")
class Edge(Generic[T]):
    node: T = strawberry.field(description="The row.")
    cursor: str = strawberry.field(description="Cursor of the row, for `after` and `before`.")


@strawberry.type(description="One page of a list.")
class Connection(Generic[T]):
    """One page of a list. graphql-core uses these resolvers; the compiled executor reads `rows` itself."""

    rows: strawberry.Private[PageQuery[T]]

    @classmethod
    def of_read(cls, page: ReadPage[T]) -> "Connection[T]":
        """A page of a list that no table holds. Only GraphQL shows such lists, and graphql-core reads them."""
        return cls(rows=cast("PageQuery[T]", page))

    @described_field("The rows of the page with their cursors.")
    async def edges(self) -> list[Edge[T]]:
        return [Edge(node=row, cursor=self.rows.cursor_of(row)) for row in await self.rows.objects()]

    @described_field("The rows of the page.")
    async def nodes(self) -> list[T]:
        return list(await self.rows.objects())

    @described_field("The position of the page in the list.")
    def page_info(self) -> PageInfo:
        return PageInfo(rows=self.rows)

    @described_field("Number of rows in the whole list; counted only if selected.")
    async def total_count(self) -> int:
        return await self.rows.count()
