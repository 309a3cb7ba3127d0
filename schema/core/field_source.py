"""Where a published field stands, as data: in the object itself, in related ones, or worked out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from schema.core import lazy
from schema.core.field_permission import Guard


@dataclass(frozen=True)
class Inline:
    """An embedded value made of this object's own columns: published name -> column, or another such value."""

    kind: type[BaseModel]
    columns: "Mapping[str, str | Inline]"
    unless_null: str | None = None
    """The whole value is null where this column is."""
    guard: Guard | None = None

    def of(self, row: Any) -> Any:
        """The value that a row holds."""
        if self.unless_null is not None and getattr(row, self.unless_null) is None:
            return None
        read = {name: at.of(row) if isinstance(at, Inline) else getattr(row, at) for name, at in self.columns.items()}
        return self.kind.model_construct(**read)


@dataclass(frozen=True)
class Itself:
    """The row itself, as an edge's node is."""


@dataclass(frozen=True)
class Relation:
    """Related resources: the one whose id our column `by` holds, or (`many`) all whose column `by` holds our id."""

    resource: Any
    """What is related; of what is declared later, its place."""
    by: str
    many: bool = False
    order: str = "id"
    """A column of the related rows, or of what each is related to in turn: `option.ranking`."""
    guard: Guard | None = None
    within: str | None = None
    """A column that both must have the same value in, where our id alone is no more than what somebody sent."""

    def key_of(self, owner: Any) -> Any:
        """What an object holds to find its related ones by; None where that is nothing."""
        held = getattr(owner, "id" if self.many else self.by)
        return held if held is None or self.within is None else (getattr(owner, self.within), held)

    @cached_property
    def to(self) -> Any:
        """The resource itself."""
        return lazy.found(self.resource)


@dataclass(frozen=True, eq=False)
class Computed:
    """A value, or `many`, that a function of `resolvers/` works out, for all objects of a level at once."""

    many: bool = False
    guard: Guard | None = None
