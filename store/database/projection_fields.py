"""What is wanted of rows or objects, as data: the keys to write, each with where its value stands and how it is written."""

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from schema.core.field_permission import Guard
from schema.core.field_source import Computed, Relation

if TYPE_CHECKING:
    from store.database.projection import Projection


class _Asking(enum.Enum):
    ASKING = enum.auto()


ASKING: Final = _Asking.ASKING
"""What is loaded to know who asks."""
Loaded: TypeAlias = Relation | Computed | Guard | _Asking
Load: TypeAlias = Callable[[Loaded, Sequence[Any], Sequence[str] | None], Awaitable[Mapping[Any, Any]]]
"""Answers what belongs to each key: related rows, values worked out, owners whose rows are shown (a guard), or who asks."""
Steps: TypeAlias = tuple[str, ...]
Write: TypeAlias = Callable[[Any], Any] | Mapping[Any, Any] | None
"""What makes JSON-ready data of a value that is there: a function, a table of answers, or nothing."""


class CannotCompile(Exception):
    """This selection is for graphql-core; the message says because of what."""


class MissingValue(ValueError):
    """There is nothing where the type promises something."""


class _AsWritten(enum.Enum):
    AS_WRITTEN = enum.auto()


AS_WRITTEN: Final = _AsWritten.AS_WRITTEN


@dataclass(frozen=True)
class Same:
    """The same value for every row."""

    key: str
    value: str | None


@dataclass(frozen=True)
class Leaf:
    """One value. `path` leads to it: `title`, `title.en`, or `shown()` for a method (of objects only).

    `in_rows` is false where only objects have it, as for a Python property.
    """

    key: str
    path: str
    write: Write = None
    required: bool = False
    stored: Write | _AsWritten = AS_WRITTEN
    """How it is written from a row, where the column's type already promises part of what `write` does."""
    in_rows: bool = True


@dataclass(frozen=True)
class Made:
    """One value made of what stands behind several paths, and (`asks`) of whoever asks, who comes first."""

    key: str
    paths: Steps
    make: Callable[..., Any]
    write: Write = None
    required: bool = False
    asks: bool = False
    in_rows: bool = True


@dataclass(frozen=True)
class Cursor:
    """The place of the row in its list."""

    key: str


@dataclass(frozen=True)
class Part:
    """An embedded object: behind `path`, or (None) made of the same row's columns, absent when `presence` is null."""

    key: str
    path: str | None
    wanted: "tuple[Wanted, ...]"
    required: bool = False
    presence: str | None = None
    in_rows: bool = True
    guard: Guard | None = None


@dataclass(frozen=True)
class Each:
    """A list of embedded objects behind `path`; of rows only where that is a JSON column, which `in_rows` says."""

    key: str
    path: str
    wanted: "tuple[Wanted, ...]"
    required: bool = False
    item_required: bool = True
    in_rows: bool = False


@dataclass(frozen=True)
class Link:
    """Related resources, or values worked out, for the whole level at once. `spread`: their keys are written among ours."""

    key: str
    relation: Relation | Computed
    inner: "Projection"
    required: bool = False
    at: Steps = ()
    """The keys under which it is written."""
    owner: Steps = ()
    """The attributes that lead from an object to the one whose relation it is."""
    spread: bool = False


@dataclass(frozen=True)
class Level:
    """A list of embedded objects that want related resources: all of them, whoever holds them, are one level."""

    each: Each
    inner: "Projection"
    at: Steps
    """The keys of the object that it is written into."""
    path: Steps
    """The attributes that lead to it."""


@dataclass(frozen=True)
class Veil:
    """A part that is taken out again of rows that are not the caller's to see."""

    key: str
    guard: Guard
    at: Steps
    owner: Steps


Wanted: TypeAlias = Same | Leaf | Made | Cursor | Part | Each | Link
