"""The source of a published field: columns of the object, a relation, or a computation."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from schema.core import lazy
from schema.core.field_permission import FieldPermission


@dataclass(frozen=True)
class EmbeddedValue:
    """An embedded value of columns of this object: published name -> column, or another embedded value."""

    kind: type[BaseModel]
    columns: "Mapping[str, str | EmbeddedValue]"
    unless_null: str | None = None
    """The whole value is null if this column is null."""
    field_permission: FieldPermission | None = None

    def read_from(self, row: Any) -> Any:
        if self.unless_null is not None and getattr(row, self.unless_null) is None:
            return None
        read = {
            name: at.read_from(row) if isinstance(at, EmbeddedValue) else getattr(row, at)
            for name, at in self.columns.items()
        }
        return self.kind.model_construct(**read)


@dataclass(frozen=True)
class RowItself:
    """The row itself, such as the `node` of an edge."""


@dataclass(frozen=True)
class Relation:
    """Related resources: the one whose id is in our column `by`, or with `many` all whose column `by` contains our
    id.
    """

    resource: Any
    """The related resource: a type, or its place (`module:Name`) if it is declared later."""
    by: str
    many: bool = False
    order: str = "id"
    """A column of the related rows, or of one of their own relations: `option.ranking`."""
    field_permission: FieldPermission | None = None
    scope_column: str | None = None
    """A column that must be equal on both sides, for ids that were sent by a client."""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: each request looks its relations up."""
        return hash((self.resource, self.by, self.many, self.order, self.field_permission, self.scope_column))

    def key_of(self, owner: Any) -> Any:
        """The key of an object's related rows; None if it has none."""
        held = getattr(owner, "id" if self.many else self.by)
        return held if held is None or self.scope_column is None else (getattr(owner, self.scope_column), held)

    @cached_property
    def target(self) -> Any:
        """The type of the related resource."""
        return lazy.resolve_type(self.resource)


@dataclass(eq=False)
class Computed:
    """A value, or with `many` a list, that a function computes for all objects of a level at once. `@computes` in
    `resolvers/` declares it.
    """

    many: bool = False
    field_permission: FieldPermission | None = None
    is_partial: bool = False
    """True if objects may have no value, also those of the caller."""
    function: Callable[..., Awaitable[Mapping[int, Any]]] | None = None
    """Called with the context, the ids of the objects and the field's arguments; returns id -> value."""

    def called_with(self, arguments: Mapping[str, Any]) -> "Computed | ComputedCall":
        """What is loaded if the field is selected with these arguments."""
        return ComputedCall(self, tuple(arguments.items())) if arguments else self


@dataclass(frozen=True)
class ComputedCall:
    """A computed field that is selected with arguments. Equal ones are computed together."""

    value: Computed
    arguments: tuple[tuple[str, Any], ...]
