"""A page of a list that no table holds, such as the lines of a payout request: a statement of its own reads the rows."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from resolvers.core.lists.page_query import PageSlice

T = TypeVar("T")


@dataclass(frozen=True)
class ReadPage(Generic[T]):
    """The rows of a page that were read forwards."""

    cut: PageSlice
    cursor: Callable[[T], str]
    total: Callable[[], Awaitable[int]]
    """Counts the whole list."""
    is_first: bool

    async def objects(self) -> Sequence[T]:
        """The rows."""
        return self.cut.rows

    async def objects_slice(self) -> PageSlice:
        """The rows, and whether there are more."""
        return self.cut

    async def has_next(self, more: bool) -> bool:
        """Whether a row follows the page; `more` is `has_more` of the page."""
        return more

    async def has_previous(self, more: bool) -> bool:  # noqa: ARG002 - as other pages
        """Whether a row precedes the page: that of the cursor does."""
        return not self.is_first

    def cursor_of(self, row: T) -> str:
        """The cursor of a row."""
        return self.cursor(row)

    async def count(self) -> int:
        """Number of rows in the whole list."""
        return await self.total()
