"""From a selection of a document to the wanted fields of a projection."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    is_leaf_type,
)
from sqlalchemy import ARRAY, JSON, BigInteger, Boolean, Date, DateTime, Enum, Float, Integer, Numeric, String, Uuid
from sqlalchemy.types import TypeDecorator
from strawberry.types.base import StrawberryObjectDefinition
from strawberry.types.field import StrawberryField

from resolvers.core.listing import Connection
from schema.core.derived import Derived
from schema.core.field_source import Computed, Inline, Itself, Relation
from schema.graph.scalars import finite, moment
from store.database.loaders import find_table
from store.database.projection import Projection, access, names_of
from store.database.projection_fields import (
    CannotCompile,
    Each,
    Leaf,
    Link,
    Made,
    MissingValue,
    Part,
    Same,
    Wanted,
    Write,
)

BACK = "strawberry-definition"
Details: TypeAlias = list[Any]
"""The places of a document that select one field: graphql-core's `FieldDetails`."""
Collect: TypeAlias = Callable[[GraphQLObjectType, Details], Mapping[str, Details]]

_PLAIN = frozenset({"String", "Int", "Boolean"})
"""Scalars that are in JSON as they are published."""
_STORED: Mapping[str, tuple[Any, Write]] = {
    "Int": (Integer, None),
    "String": (String, None),
    "Boolean": (Boolean, None),
    "Decimal": (Numeric, str),
    "UUID": (Uuid, str),
    "DateTime": (DateTime, moment),
    "Date": (Date, None),
    "Float": (Float, finite),
}
"""Scalar -> the kind of column that promises its values, and what is left to do to write one."""


def definition_of(kind: GraphQLObjectType) -> StrawberryObjectDefinition | None:
    """What Strawberry knows of a type; None for graphql-core's own."""
    return kind.extensions.get(BACK)


def is_made_of(kind: GraphQLObjectType, origin: type) -> bool:
    """Whether a type is published by this class, or by a kind of it."""
    definition = definition_of(kind)
    return definition is not None and issubclass(definition.origin, origin)


def is_connection(kind: GraphQLObjectType) -> bool:
    """Whether a type is one page of a list."""
    return is_made_of(kind, Connection)


def is_computed(field: GraphQLField) -> bool:
    """Whether a field is worked out by a function of `resolvers/`."""
    published: StrawberryField | None = field.extensions.get(BACK)
    return published is not None and isinstance(published.metadata.get("compiled"), Computed)


def strip(kind: GraphQLOutputType) -> tuple[Any, bool]:
    """A type without its `!`, and whether it had one."""
    return (kind.of_type, True) if isinstance(kind, GraphQLNonNull) else (kind, False)


@dataclass(frozen=True)
class Source:
    """Where the fields of a selection are read from: the columns of a table, a JSON column, or objects only."""

    table: Any = None
    renamed: Mapping[str, str | Inline] | None = None
    """Published name -> column, of an embedded value made of the row's own columns."""
    structured: bool = False
    """Inside a JSON column."""

    @classmethod
    def of(cls, kind: GraphQLObjectType) -> "Source":
        """The table of a published resource; objects only where it has none."""
        definition = definition_of(kind)
        return cls(None if definition is None else find_table(definition.origin))

    def where(self, published: StrawberryField) -> str | Inline | Relation | Itself | Computed | Derived:
        """Where a field is read from."""
        if self.renamed is None:
            return access(published)
        if published.python_name not in self.renamed:
            raise CannotCompile(f"{published.python_name}: is none of the columns embedded")
        return self.renamed[published.python_name]

    def _column(self, path: str) -> Any:
        column = None if self.table is None else self.table.__table__.c.get(path)
        if column is None:
            return None
        return column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type

    def within(self, path: str) -> "Source":
        """Where the fields of the embedded object behind a path are read from."""
        return Source(structured=isinstance(self._column(path), JSON))

    @property
    def in_rows(self) -> bool:
        """Whether rows have it."""
        return self.structured or self.table is not None

    def has(self, columns: Sequence[str]) -> bool:
        """Whether rows have all of these columns."""
        return self.table is not None and all(name in self.table.__table__.c for name in columns)

    def lists(self, path: str, item: Any) -> bool:
        """Whether rows have a list of leaves."""
        kind = self._column(path)
        return item.name in _PLAIN if self.structured or isinstance(kind, JSON) else isinstance(kind, ARRAY)

    def leaf(self, leaf: Leaf, bare: Any) -> Leaf:
        """The same leaf, told what its column promises."""
        if self.structured:
            return replace(leaf, stored=None, in_rows=bare.name in _PLAIN)
        kind = self._column(leaf.path)
        if kind is None:
            return replace(leaf, in_rows=False)
        if isinstance(bare, GraphQLEnumType):
            members: Any = bare
            return replace(leaf, stored=names_of(members.wrapped_cls), in_rows=isinstance(kind, Enum))
        promised, left = _STORED.get(bare.name, (None, None))
        if promised is None or not isinstance(kind, promised) or isinstance(kind, BigInteger):
            return replace(leaf, in_rows=bare.name == "JSON" or not isinstance(kind, Enum | JSON))
        return replace(leaf, stored=left)


def _leaves(write: Callable[[Any], Any], required: bool) -> Callable[[Any], list[Any]]:
    def written(values: Any) -> list[Any]:
        if isinstance(values, str) or (required and None in values):
            raise MissingValue("an item")
        return [None if value is None else write(value) for value in values]

    return written


class Selection:
    """Reads selections for one execution; `collect` is graphql-core's, so fragments and conditions are its own."""

    def __init__(self, collect: Collect) -> None:
        self.collect = collect

    def projection(self, kind: GraphQLObjectType, details: Details) -> Projection:
        """What is selected of a type, compiled; CannotCompile says which field is in the way."""
        return Projection(self.wanted(kind, details, Source.of(kind)))

    def wanted(self, kind: GraphQLObjectType, details: Details, source: Source) -> tuple[Wanted, ...]:
        """The wanted fields of a type."""
        if kind.is_type_of is not None:
            raise CannotCompile(f"{kind.name}: checks its objects")
        group = self.collect(kind, details)
        return tuple(self._one(kind, key, selected, source) for key, selected in group.items())

    def _one(self, kind: GraphQLObjectType, key: str, details: Details, source: Source) -> Wanted:
        name = details[0].node.name.value
        if name == "__typename":
            return Same(key, kind.name)
        field = kind.fields[name]
        published: StrawberryField | None = field.extensions.get(BACK)
        if published is None or field.args:
            raise CannotCompile(f"{kind.name}.{name}: takes arguments")
        bare, required = strip(field.type)
        where = source.where(published)
        if isinstance(where, Relation | Computed):
            return self._related(key, where, bare, details, required)
        if isinstance(where, Inline | Itself):
            return self._embedded(key, where, bare, details, required, source)
        if isinstance(where, Derived):
            return self._derived(key, where, bare, required, source)
        if is_leaf_type(bare):
            return source.leaf(Leaf(key, where, bare.coerce_output_value, required), bare)
        if isinstance(bare, GraphQLList):
            return self._listed(key, where, bare, details, required, source)
        if isinstance(bare, GraphQLObjectType):
            inner = source.within(where)
            return Part(key, where, self.wanted(bare, details, inner), required, in_rows=inner.in_rows)
        raise CannotCompile(f"{kind.name}.{name}: is abstract")

    def _derived(self, key: str, value: Derived, bare: Any, required: bool, source: Source) -> Made:
        if not is_leaf_type(bare):
            raise CannotCompile(f"{key}: is derived, and no plain value")
        written = None if bare.name in _PLAIN else bare.coerce_output_value
        in_rows = source.has(value.columns)
        return Made(key, value.columns, value.made_by, written, required, asks=True, in_rows=in_rows)

    def _related(self, key: str, link: Relation | Computed, bare: Any, details: Details, required: bool) -> Link:
        item = strip(bare.of_type)[0] if isinstance(bare, GraphQLList) else bare
        if isinstance(bare, GraphQLList) is not link.many or not isinstance(item, GraphQLObjectType):
            raise CannotCompile(f"{key}: is no plain relation")
        inner = self.projection(item, details)
        if isinstance(link, Computed) and inner.objects is None:
            raise CannotCompile(inner.reasons[0])
        return Link(key, link, inner, required)

    def _embedded(
        self, key: str, where: Inline | Itself, bare: Any, details: Details, required: bool, source: Source
    ) -> Part:
        if isinstance(where, Itself):
            return Part(key, None, self.wanted(bare, details, Source.of(bare)), required)
        inner = replace(source, renamed=where.columns)
        wanted = self.wanted(bare, details, inner)
        return Part(key, None, wanted, required, where.unless_null, guard=where.guard)

    def _listed(
        self, key: str, path: str, bare: GraphQLList[Any], details: Details, required: bool, source: Source
    ) -> Wanted:
        item, item_required = strip(bare.of_type)
        if is_leaf_type(item):
            write = _leaves(item.coerce_output_value, item_required)
            return Leaf(key, path, write, required, in_rows=source.lists(path, item))
        if not isinstance(item, GraphQLObjectType):
            raise CannotCompile(f"{key}: lists of lists and of abstract types")
        return Each(key, path, self.wanted(item, details, Source()), required, item_required)
