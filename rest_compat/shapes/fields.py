"""Inspects published types at start: the readable fields, where each is stored, and its type."""

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
from schema.core.field_source import Computed, EmbeddedValue, Relation, RowItself
from store.database.projection import field_access
from store.tables import find_table

_SEQUENCES = (list, tuple, collections.abc.Sequence)


@dataclass(frozen=True)
class FieldType:
    """The parts of a field's type."""

    type: Any
    nullable: bool = False
    many: bool = False
    key: Any = None
    """The type of the keys of a dict; None for other types."""


@dataclass(frozen=True)
class FieldSource:
    """A field: where it is stored, its type and its description."""

    location: str | EmbeddedValue | Relation | RowItself | Computed | Derived
    field_type: FieldType
    description: str = ""


def field_names(kind: Any) -> list[str]:
    """The readable fields of a published type or a dataclass; empty for other types."""
    definition = get_object_definition(kind)
    if definition is not None:
        return [field.python_name for field in definition.fields]
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []


def field_source(kind: Any, name: str) -> FieldSource | None:
    """A field of a published type or of another dataclass; None if it does not exist."""
    if name not in field_names(kind):
        return None
    definition = get_object_definition(kind)
    if definition is None:
        return FieldSource(name, field_type(get_type_hints(kind, include_extras=True)[name]))
    field = next(f for f in definition.fields if f.python_name == name)
    return FieldSource(
        field_access(field), field_type(field.resolve_type(type_definition=definition)), field.description or ""
    )


def field_type(annotation: Any) -> FieldType:
    """Split a type annotation: `list[int] | None` is many ints, nullable."""
    if isinstance(annotation, StrawberryOptional):
        return dataclasses.replace(field_type(annotation.of_type), nullable=True)
    if isinstance(annotation, StrawberryList):
        return FieldType(field_type(annotation.of_type).type, many=True)
    if isinstance(annotation, LazyType):
        return FieldType(annotation.resolve_type())
    if isinstance(annotation, StrawberryEnumDefinition):
        return FieldType(annotation.wrapped_cls)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return field_type(arguments[0])
    if origin in {Union, types.UnionType}:
        inner = [a for a in arguments if a is not type(None)]
        unwrapped = field_type(inner[0]) if len(inner) == 1 else FieldType(annotation)
        return dataclasses.replace(unwrapped, nullable=len(inner) < len(arguments))
    if origin in _SEQUENCES:
        return FieldType(field_type(arguments[0]).type, many=True)
    if origin in {dict, collections.abc.Mapping}:
        return FieldType(dict, key=arguments[0])
    return FieldType(annotation)


def is_json(kind: Any, path: str) -> bool:
    """Whether a path of a published type is a JSON column, which rows contain too."""
    table = find_table(kind)
    column = None if table is None else table.__table__.c.get(path)
    stored = None if column is None else column.type
    return isinstance(stored.impl_instance if isinstance(stored, TypeDecorator) else stored, JSON)


def is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)
