"""Compiles the selections of a document into the fields of a projection."""

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

from resolvers.core.lists.connection import Connection
from schema.core.derived import Derived
from schema.core.field_source import Computed, EmbeddedValue, Relation, RowItself
from schema.graph.scalars import format_datetime, require_finite
from store.database.projection import Projection, enum_names_of, field_access
from store.database.projection_fields import (
    CannotCompile,
    ComputedField,
    ConstantField,
    ListField,
    MissingValue,
    ObjectField,
    RelationField,
    ScalarField,
    SelectedField,
    ValueSerializer,
)
from store.tables import find_table

STRAWBERRY_DEFINITION = "strawberry-definition"
Details: TypeAlias = list[Any]
"""The nodes of a document that select one field: graphql-core's `FieldDetails`."""
Collect: TypeAlias = Callable[[GraphQLObjectType, Details], Mapping[str, Details]]

_JSON_SCALARS = frozenset({"String", "Int", "Boolean"})
"""Scalars that JSON columns store in their published form."""
_COLUMN_TYPES: Mapping[str, tuple[Any, ValueSerializer]] = {
    "Int": (Integer, None),
    "String": (String, None),
    "Boolean": (Boolean, None),
    "Decimal": (Numeric, str),
    "UUID": (Uuid, str),
    "DateTime": (DateTime, format_datetime),
    "Date": (Date, None),
    "Float": (Float, require_finite),
}
"""Scalar -> the column type that guarantees its values, and the serializer that these still need."""


def definition_of(kind: GraphQLObjectType) -> StrawberryObjectDefinition | None:
    """Strawberry's definition of a type; None for graphql-core's own types."""
    return kind.extensions.get(STRAWBERRY_DEFINITION)


def is_published_by(kind: GraphQLObjectType, origin: type) -> bool:
    """Whether a type is published by this class or a subclass."""
    definition = definition_of(kind)
    return definition is not None and issubclass(definition.origin, origin)


def is_connection(kind: GraphQLObjectType) -> bool:
    return is_published_by(kind, Connection)


def is_computed(field: GraphQLField) -> bool:
    """Whether a function in `resolvers/` computes the field."""
    published: StrawberryField | None = field.extensions.get(STRAWBERRY_DEFINITION)
    return published is not None and isinstance(published.metadata.get("compiled"), Computed)


def unwrap_non_null(kind: GraphQLOutputType) -> tuple[Any, bool]:
    """The type without its `!`, and whether it had one."""
    return (kind.of_type, True) if isinstance(kind, GraphQLNonNull) else (kind, False)


@dataclass(frozen=True)
class SelectionSource:
    """The source of a selection's fields: the columns of a table, a JSON column, or objects only."""

    table: Any = None
    embedded_columns: Mapping[str, str | EmbeddedValue] | None = None
    """Published name -> column, for an embedded value that is stored in columns of the row."""
    in_json: bool = False
    """True inside a JSON column."""

    @classmethod
    def of(cls, kind: GraphQLObjectType) -> "SelectionSource":
        """The table of a published resource; objects only if it has none."""
        definition = definition_of(kind)
        return cls(None if definition is None else find_table(definition.origin))

    def location_of(
        self, published: StrawberryField
    ) -> str | EmbeddedValue | Relation | RowItself | Computed | Derived:
        """The source of a field. Raises CannotCompile if an embedded value has no column for it."""
        if self.embedded_columns is None:
            return field_access(published)
        if published.python_name not in self.embedded_columns:
            raise CannotCompile(f"{published.python_name}: is none of the columns embedded")
        return self.embedded_columns[published.python_name]

    def _column(self, path: str) -> Any:
        column = None if self.table is None else self.table.__table__.c.get(path)
        if column is None:
            return None
        return column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type

    def embedded_source(self, path: str) -> "SelectionSource":
        """The source of the fields of the embedded object at a path."""
        return SelectionSource(in_json=isinstance(self._column(path), JSON))

    @property
    def in_rows(self) -> bool:
        """Whether rows, and not only objects, have the fields."""
        return self.in_json or self.table is not None

    def has_columns(self, columns: Sequence[str]) -> bool:
        """Whether rows have all of these columns."""
        return self.table is not None and all(name in self.table.__table__.c for name in columns)

    def has_list(self, path: str, item: Any) -> bool:
        """Whether rows have the list of scalars at a path."""
        kind = self._column(path)
        return item.name in _JSON_SCALARS if self.in_json or isinstance(kind, JSON) else isinstance(kind, ARRAY)

    def stored_leaf(self, leaf: ScalarField, bare: Any) -> ScalarField:
        """The leaf with the serializer for the values of its column."""
        if self.in_json:
            return replace(leaf, serialize_stored=None, in_rows=bare.name in _JSON_SCALARS)
        kind = self._column(leaf.path)
        if kind is None:
            return replace(leaf, in_rows=False)
        if isinstance(bare, GraphQLEnumType):
            members: Any = bare
            return replace(leaf, serialize_stored=enum_names_of(members.wrapped_cls), in_rows=isinstance(kind, Enum))
        promised, left = _COLUMN_TYPES.get(bare.name, (None, None))
        if promised is None or not isinstance(kind, promised) or isinstance(kind, BigInteger):
            return replace(leaf, in_rows=bare.name == "JSON" or not isinstance(kind, Enum | JSON))
        return replace(leaf, serialize_stored=left)


def _list_serializer(write: Callable[[Any], Any], required: bool) -> Callable[[Any], list[Any]]:
    def write_items(values: Any) -> list[Any]:
        if isinstance(values, str) or (required and None in values):
            raise MissingValue("an item")
        return [None if value is None else write(value) for value in values]

    return write_items


def _nested_serializer(key: str, kind: GraphQLList[Any]) -> Callable[[Any], list[Any]]:
    """The serializer of the inner lists of a list. Raises CannotCompile unless they hold plain values."""
    item, item_required = unwrap_non_null(kind.of_type)
    if not is_leaf_type(item):
        raise CannotCompile(f"{key}: lists of lists of objects")
    return _list_serializer(item.coerce_output_value, item_required)


class SelectionCompiler:
    """Compiles selections for one execution. `collect` is graphql-core's and handles fragments and conditions."""

    def __init__(self, collect: Collect) -> None:
        self.collect = collect

    def projection(self, kind: GraphQLObjectType, details: Details) -> Projection:
        """The compiled selection of a type. Raises CannotCompile with the field that prevents it."""
        return Projection(self.selected_fields(kind, details, SelectionSource.of(kind)))

    def selected_fields(
        self, kind: GraphQLObjectType, details: Details, source: SelectionSource
    ) -> tuple[SelectedField, ...]:
        """The selected fields of a type. Raises CannotCompile."""
        if kind.is_type_of is not None:
            raise CannotCompile(f"{kind.name}: checks its objects")
        group = self.collect(kind, details)
        return tuple(self._compile_field(kind, key, selected, source) for key, selected in group.items())

    def _compile_field(
        self, kind: GraphQLObjectType, key: str, details: Details, source: SelectionSource
    ) -> SelectedField:
        name = details[0].node.name.value
        if name == "__typename":
            return ConstantField(key, kind.name)
        field = kind.fields[name]
        published: StrawberryField | None = field.extensions.get(STRAWBERRY_DEFINITION)
        if published is None or field.args:
            raise CannotCompile(f"{kind.name}.{name}: takes arguments")
        bare, required = unwrap_non_null(field.type)
        where = source.location_of(published)
        if isinstance(where, Relation | Computed):
            return self._relation_field(key, where, bare, details, required)
        if isinstance(where, EmbeddedValue | RowItself):
            return self._object_field(key, where, bare, details, required, source)
        if isinstance(where, Derived):
            return self._derived_field(key, where, bare, required, source)
        if is_leaf_type(bare):
            return source.stored_leaf(ScalarField(key, where, bare.coerce_output_value, required), bare)
        if isinstance(bare, GraphQLList):
            return self._list_field(key, where, bare, details, required, source)
        if isinstance(bare, GraphQLObjectType):
            inner = source.embedded_source(where)
            return ObjectField(key, where, self.selected_fields(bare, details, inner), required, in_rows=inner.in_rows)
        raise CannotCompile(f"{kind.name}.{name}: is abstract")

    def _derived_field(
        self, key: str, value: Derived, bare: Any, required: bool, source: SelectionSource
    ) -> ComputedField:
        if not is_leaf_type(bare):
            raise CannotCompile(f"{key}: is derived, and no plain value")
        written = None if bare.name in _JSON_SCALARS else bare.coerce_output_value
        in_rows = source.has_columns(value.columns)
        return ComputedField(
            key, value.columns, value.required_rule, written, required, needs_context=True, in_rows=in_rows
        )

    def _relation_field(
        self, key: str, link: Relation | Computed, bare: Any, details: Details, required: bool
    ) -> RelationField:
        item = unwrap_non_null(bare.of_type)[0] if isinstance(bare, GraphQLList) else bare
        if isinstance(bare, GraphQLList) is not link.many or not isinstance(item, GraphQLObjectType):
            raise CannotCompile(f"{key}: is no plain relation")
        inner = self.projection(item, details)
        if isinstance(link, Computed) and inner.objects is None:
            raise CannotCompile(inner.reasons[0])
        return RelationField(key, link, inner, required)

    def _object_field(
        self,
        key: str,
        where: EmbeddedValue | RowItself,
        bare: Any,
        details: Details,
        required: bool,
        source: SelectionSource,
    ) -> ObjectField:
        if isinstance(where, RowItself):
            return ObjectField(key, None, self.selected_fields(bare, details, SelectionSource.of(bare)), required)
        inner = replace(source, embedded_columns=where.columns)
        wanted = self.selected_fields(bare, details, inner)
        return ObjectField(key, None, wanted, required, where.unless_null, field_permission=where.field_permission)

    def _list_field(
        self, key: str, path: str, bare: GraphQLList[Any], details: Details, required: bool, source: SelectionSource
    ) -> SelectedField:
        item, item_required = unwrap_non_null(bare.of_type)
        if is_leaf_type(item):
            write = _list_serializer(item.coerce_output_value, item_required)
            return ScalarField(key, path, write, required, in_rows=source.has_list(path, item))
        if isinstance(item, GraphQLList):
            return ScalarField(
                key, path, _list_serializer(_nested_serializer(key, item), item_required), required, in_rows=False
            )
        if not isinstance(item, GraphQLObjectType):
            raise CannotCompile(f"{key}: lists of abstract types")
        return ListField(key, path, self.selected_fields(item, details, SelectionSource()), required, item_required)
