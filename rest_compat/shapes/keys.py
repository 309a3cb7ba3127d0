"""Declares the keys of a shape: the path that each is read from, and its writer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from rest_compat.shapes import writers
from rest_compat.shapes.writers import Schema, ValueWriter
from schema.validation.languages import LANGUAGES


class ShapeError(LookupError):
    """A documented key does not fit the types. The program does not start."""


@dataclass(frozen=True)
class FieldKey:
    """The path that a documented key is read from, and its writer (None: the default writer of its type)."""

    path: str
    writer: ValueWriter | None = None
    nullable: bool = False
    """True if the key is documented as a string or null. Other strings are empty if there is no value; other types are
    null.
    """
    description: str = ""
    """Replaces the description of the field that is read."""
    is_public: bool = False
    """True if it is documented for whoever sees the row, though the relation that it is read through is limited to its
    owner.
    """


@dataclass(frozen=True)
class ScalarList:
    """A documented array with one value per related row: `ScalarList("prototype_links.voucher_prototype_id")`."""

    path: str
    description: str = ""
    """Replaces the description of the relation."""


@dataclass(frozen=True)
class ComputedKey:
    """A documented value computed from several fields, all of the same resource or behind the same relation.

    `compute` receives the stored value of each path: an enum in its stored form, None if there is no value.
    """

    paths: tuple[str, ...]
    compute: Callable[..., Any]
    schema: Schema
    description: str

    @property
    def path(self) -> str:
        """The first of the paths."""
        return self.paths[0]


@dataclass(frozen=True)
class ConstantKey:
    """A documented key with the same value in every row."""

    value: str | bool | None
    schema: Schema
    description: str
    path: ClassVar[str] = ""
    """It reads nothing."""


def same(*names: str) -> dict[str, str]:
    """Keys with the names of the fields that they are read from."""
    return dict(zip(names, names, strict=True))


def decimal_string(path: str) -> FieldKey:
    """An amount as `"100.00"`."""
    return FieldKey(path, writers.DECIMAL_STRING)


def number(path: str) -> FieldKey:
    """An amount as an exact JSON number: `10.00` stays `10.00`."""
    return FieldKey(path, writers.NUMBER)


def or_null(path: str, writer: ValueWriter | None = None) -> FieldKey:
    """A string that is documented as null if there is no value."""
    return FieldKey(path, writer, nullable=True)


def per_language(key: str, path: str | None = None, *, nullable: bool = False) -> dict[str, FieldKey]:
    """One key per language for a translated text: `name_en`, `name_fr`, …."""
    return {f"{key}_{at}": FieldKey(f"{path or key}.{at}", nullable=nullable) for at in LANGUAGES}
