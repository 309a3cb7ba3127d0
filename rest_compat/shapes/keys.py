"""The keys of a shape: the path each is read from, and how it is written."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rest_compat.shapes import writers
from rest_compat.shapes.writers import Schema, Writer
from schema.validation.languages import LANGUAGES

if TYPE_CHECKING:
    from rest_compat.shapes.shape import Shape


class ShapeError(LookupError):
    """A documented key cannot be read from the types as they are: the program does not start."""


@dataclass(frozen=True)
class Key:
    """Where a documented key is read from, and how it is written (None: by its type)."""

    path: str
    writer: Writer | None = None
    nullable: bool = False
    """Documented as a string "or null". Other strings are empty where there is nothing; what is no string is null."""
    description: str = ""
    """What it is, where the description of the field that is read does not fit."""


@dataclass(frozen=True)
class Nested:
    """A documented object, or array of objects, in a shape of its own. With no path it is made of the same resource's fields."""

    path: str
    shape: "Shape"


@dataclass(frozen=True)
class Plucked:
    """A documented array of single values, one of each related row: `Plucked("prototype_links.voucher_prototype_id")`."""

    path: str
    description: str = ""
    """What it is, where the description of the relation does not fit."""


@dataclass(frozen=True)
class Worked:
    """A documented value that follows from several fields, all of the same resource or behind the same relation.

    `make` is given what is kept at each path, closed sets as stored, and None where there is nothing.
    """

    paths: tuple[str, ...]
    make: Callable[..., Any]
    schema: Schema
    description: str

    @property
    def path(self) -> str:
        """One of the fields."""
        return self.paths[0]


Spec: TypeAlias = str | Key | Nested | Plucked | Worked


def decimal_string(path: str) -> Key:
    """An amount as `"100.00"`."""
    return Key(path, writers.DECIMAL_STRING)


def number(path: str) -> Key:
    """An amount as an exact JSON number: `10.00` stays `10.00`."""
    return Key(path, writers.NUMBER)


def or_null(path: str, writer: Writer | None = None) -> Key:
    """A string that is documented as null where there is nothing."""
    return Key(path, writer, nullable=True)


def per_language(key: str, path: str | None = None, *, nullable: bool = False) -> dict[str, Key]:
    """A translated text as one key a language: `name_en`, `name_fr`, …."""
    return {f"{key}_{at}": Key(f"{path or key}.{at}", nullable=nullable) for at in LANGUAGES}


def path_of(spec: Spec) -> str:
    """The path a key is read from."""
    return spec if isinstance(spec, str) else spec.path


def with_path(spec: Spec, path: str) -> Spec:
    """The same key, read from elsewhere."""
    if isinstance(spec, Worked):
        begun = len(spec.path) - len(path)
        return dataclasses.replace(spec, paths=tuple(each[begun:] for each in spec.paths))
    return path if isinstance(spec, str) else dataclasses.replace(spec, path=path)
