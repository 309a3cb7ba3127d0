"""Selected fields as data: the keys to write, where each value is read from, and how it is serialized."""

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias

from schema.core.field_permission import FieldPermission
from schema.core.field_source import Computed, Relation


class _Context(enum.Enum):
    CONTEXT = enum.auto()


CONTEXT: Final = _Context.CONTEXT
"""Loads the caller's context."""
LoadSource: TypeAlias = Relation | Computed | FieldPermission | _Context
LoadFunction: TypeAlias = Callable[[LoadSource, Sequence[Any], Sequence[str] | None], Awaitable[Mapping[Any, Any]]]
"""Returns the value of each key: related rows, computed values, visible owners (for a field permission), or the
context."""
FieldPath: TypeAlias = tuple[str, ...]
ValueSerializer: TypeAlias = Callable[[Any], Any] | Mapping[Any, Any] | None
"""Converts a value other than None to JSON-ready data: a function, a mapping, or None for no conversion."""


class CannotCompile(Exception):
    """The selection must be executed by graphql-core; the message names the reason."""


class MissingValue(ValueError):
    """A required value is missing."""


def raise_missing(key: str) -> Any:
    """Raise `MissingValue`, from within an expression."""
    raise MissingValue(key)


class _SameSerializer(enum.Enum):
    SAME_SERIALIZER = enum.auto()


SAME_SERIALIZER: Final = _SameSerializer.SAME_SERIALIZER


@dataclass(frozen=True)
class ConstantField:
    """The same value for every row."""

    key: str
    value: str | bool | None


@dataclass(frozen=True)
class ScalarField:
    """One value. `path` leads to it: `title`, `title.en`, or `shown()` for a method (of objects only).

    `in_rows` is false if only objects have the value, as for a Python property.
    """

    key: str
    path: str
    serialize: ValueSerializer = None
    required: bool = False
    serialize_stored: ValueSerializer | _SameSerializer = SAME_SERIALIZER
    """The serializer for rows, if the column's type already does part of what `serialize` does."""
    in_rows: bool = True


@dataclass(frozen=True)
class ComputedField:
    """One value computed from the values at several paths. With `needs_context`, the context is the first argument."""

    key: str
    paths: FieldPath
    compute: Callable[..., Any]
    serialize: ValueSerializer = None
    required: bool = False
    needs_context: bool = False
    in_rows: bool = True


@dataclass(frozen=True)
class CursorField:
    """The cursor of the row in its list."""

    key: str


@dataclass(frozen=True)
class ObjectField:
    """An embedded object: at `path`, or (None) built from columns of the same row, and null if `presence` is null."""

    key: str
    path: str | None
    fields: "tuple[SelectedField, ...]"
    required: bool = False
    presence: str | None = None
    in_rows: bool = True
    field_permission: FieldPermission | None = None


@dataclass(frozen=True)
class ListField:
    """A list of embedded objects at `path`. Rows have it only if that is a JSON column, which `in_rows` says."""

    key: str
    path: str
    fields: "tuple[SelectedField, ...]"
    required: bool = False
    item_required: bool = True
    in_rows: bool = False


@dataclass(frozen=True)
class RelatedRows:
    """The rows of a relation, read in the statement of the rows that they are related to."""

    relation: Relation
    key_column: str
    """The column of the owner with the key of its related rows."""
    columns: tuple[str, ...]
    related: "tuple[RelatedRows, ...]"
    """The rows that are related to these."""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: it is part of the key of a statement, which each request looks up."""
        return hash((self.relation, self.key_column, self.columns, self.related))


class RowColumns(Protocol):
    """What a compiled selection reads."""

    columns: list[str]

    @property
    def related(self) -> tuple[RelatedRows, ...]:
        """The related rows that the statement of a single row can read with it."""

    @property
    def joined(self) -> tuple[RelatedRows, ...]:
        """The single related rows that the statement of a page can read with its rows."""


class Compiled(Protocol):
    """A compiled selection that a relation renders: a `Projection`."""

    @property
    def rows(self) -> RowColumns | None:
        """The columns of its rows; None if it can only be read from objects."""

    def render(self, source: Sequence[Any], load: LoadFunction, columns: bool = False) -> Awaitable[list[Any]]:
        """Serialize rows (with `columns`) or objects."""


@dataclass(frozen=True)
class RelationField:
    """Related resources or computed values, loaded for the whole level at once.

    With `merge_keys`, the keys of the related object are written into the object itself.
    """

    key: str
    relation: Relation | Computed
    projection: Compiled
    required: bool = False
    at: FieldPath = ()
    """The keys that lead to the object it is written into."""
    owner: FieldPath = ()
    """The attributes that lead from an object to the owner of the relation."""
    merge_keys: bool = False


@dataclass(frozen=True)
class NestedList:
    """A list of embedded objects with related resources. All such objects of a level are rendered together."""

    list_field: ListField
    projection: Compiled
    at: FieldPath
    """The keys that lead to the object it is written into."""
    path: FieldPath
    """The attributes that lead to the list."""


@dataclass(frozen=True)
class MaskedField:
    """A part that becomes null in rows that the caller may not see."""

    key: str
    field_permission: FieldPermission
    at: FieldPath
    owner: FieldPath


SelectedField: TypeAlias = (
    ConstantField | ScalarField | ComputedField | CursorField | ObjectField | ListField | RelationField
)
