"""The lists of the API by their names, for work that is not a request: what a port has that reads them.

It is above this floor, since the lists are known by name in the schema only. `Services` has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from resolvers.core.caller import Caller
from schema.core.permission import Permission, RequiredAccess

S_contra = TypeVar("S_contra", contravariant=True)


class CellKind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    NUMBER = "number"
    DECIMAL = "decimal"
    """An exact number, as text."""
    BOOLEAN = "boolean"
    DAY = "day"
    MOMENT = "moment"
    TRANSLATED = "translated"
    """Texts by language."""
    MONEY = "money"
    """An amount with its currency."""
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of a list: a path of single values in its rows."""

    path: str
    kind: CellKind
    is_many: bool = False
    """Whether it has several values in a row."""
    code_permission: Permission | None = None
    """The permission to have the codes that it shows; None if it shows none."""
    is_address: bool = False
    """Whether it is an address, which is of no use in part."""
    is_of_part: bool = False
    """Whether a part of the row has it, such as its buyer, or another object."""

    @property
    def is_code_address(self) -> bool:
        """Whether it is the address of something that shows a code."""
        return self.is_address and self.code_permission is not None


@dataclass(frozen=True, slots=True)
class ListPageRequest:
    """A page of a list."""

    list: str
    columns: Sequence[str]
    """Paths."""
    filter: Mapping[str, Any]
    order_by: str
    first: int
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ListPage:
    """Rows of a list, and the cursor of the last if more follow."""

    rows: Sequence[Sequence[Any]]
    """The values of the columns, as in JSON."""
    cursor: str | None


class ListReader(Protocol[S_contra]):
    """Reads lists as GraphQL does: with the permissions and the tenancy of a caller."""

    def access(self, list: str) -> RequiredAccess | None:
        """What a list requires of its caller; None if there is no such list."""

    def orders(self, list: str) -> Sequence[str]:
        """The orders of a list, its default first."""

    def column(self, list: str, path: str) -> ListColumn | None:
        """The column of a path; None if the rows of a list have no single value there."""

    def columns(self, list: str) -> Sequence[ListColumn]:
        """All columns that the rows of a list have themselves, also in their parts, in the order of the schema."""

    async def count(self, services: S_contra, caller: Caller, list: str, filter: Mapping[str, Any]) -> int:
        """Number of rows of a list. Raises as `read` does."""

    async def read(self, services: S_contra, caller: Caller, page: ListPageRequest) -> ListPage:
        """A page of a list. Raises InvalidInput for the filter, at paths below `filter`, and what the list raises."""
