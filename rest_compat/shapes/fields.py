"""What a published type offers to read: where a field is kept and what it holds, found when the program starts."""

import collections.abc
import dataclasses
import enum
import types
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from sqlalchemy import JSON
from sqlalchemy.types import TypeDecorator
from strawberry.types import get_object_definition
from strawberry.types.base import StrawberryList, StrawberryOptional
from strawberry.types.enum import StrawberryEnumDefinition
from strawberry.types.lazy_type import LazyType

from schema.core.derived import Derived
from schema.core.field_source import Computed, Inline, Itself, Relation
from store.database.loaders import find_table
from store.database.projection import access

_SEQUENCES = (list, tuple, collections.abc.Sequence)


@dataclass(frozen=True)
class Holds:
    """The type of a field, taken apart."""

    type: Any
    nullable: bool = False
    many: bool = False
    key: Any = None
    """The type of the keys, where it is a dict."""


@dataclass(frozen=True)
class Source:
    """A field: where it is kept, and what it holds."""

    where: str | Inline | Relation | Itself | Computed | Derived
    holds: Holds
    description: str = ""


def field_names(kind: Any) -> list[str]:
    """The fields that can be read of a published type or a dataclass."""
    definition = get_object_definition(kind)
    if definition is not None:
        return [field.python_name for field in definition.fields]
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []


def source(kind: Any, name: str) -> Source | None:
    """A field of a published type, or of a dataclass that is not published; None when there is no such field."""
    if name not in field_names(kind):
        return None
    definition = get_object_definition(kind)
    if definition is None:
        return Source(name, holds(get_type_hints(kind, include_extras=True)[name]))
    field = next(f for f in definition.fields if f.python_name == name)
    return Source(access(field), holds(field.resolve_type(type_definition=definition)), field.description or "")


def holds(annotation: Any) -> Holds:
    """Take a type apart: `list[int] | None` is many ints, perhaps null."""
    if isinstance(annotation, StrawberryOptional):
        return dataclasses.replace(holds(annotation.of_type), nullable=True)
    if isinstance(annotation, StrawberryList):
        return Holds(holds(annotation.of_type).type, many=True)
    if isinstance(annotation, LazyType):
        return Holds(annotation.resolve_type())
    if isinstance(annotation, StrawberryEnumDefinition):
        return Holds(annotation.wrapped_cls)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return holds(arguments[0])
    if origin in {Union, types.UnionType}:
        inner = [a for a in arguments if a is not type(None)]
        found = holds(inner[0]) if len(inner) == 1 else Holds(annotation)
        return dataclasses.replace(found, nullable=len(inner) < len(arguments))
    if origin in _SEQUENCES:
        return Holds(holds(arguments[0]).type, many=True)
    if origin in {dict, collections.abc.Mapping}:
        return Holds(dict, key=arguments[0])
    return Holds(annotation)


def is_json(kind: Any, path: str) -> bool:
    """Whether a published type keeps this in a JSON column, which rows have too."""
    table = find_table(kind)
    column = None if table is None else table.__table__.c.get(path)
    stored = None if column is None else column.type
    return isinstance(stored.impl_instance if isinstance(stored, TypeDecorator) else stored, JSON)


def is_enum(kind: Any) -> bool:
    """Whether a type is a closed set."""
    return isinstance(kind, type) and issubclass(kind, enum.Enum)
