"""Publishes resources: the base of types and inputs, embedded values, relations and computed fields."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

import strawberry
from pydantic import BaseModel, create_model
from pydantic import Field as PydanticField
from sqlmodel import SQLModel
from strawberry.pydantic.resolver_field import get_resolver_field

from schema.core import lazy
from schema.core.field_permission import FieldPermission
from schema.core.field_source import Computed, EmbeddedValue, Relation

E = TypeVar("E", bound="EmbeddedColumns")

SQLModel.metadata.naming_convention = {
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ck": "%(table_name)s_%(constraint_name)s",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "pk": "%(table_name)s_pkey",
}


class SchemaModel(SQLModel):
    """The base of every resource and input. It accepts the options with which Strawberry validates inputs."""

    model_config = {"defer_build": True}  # most are rows, which nothing validates: 4 MB less, and a quicker start
    resource: ClassVar[type[BaseModel] | None] = None
    """For an input: the resource whose fields it has."""

    @classmethod
    def model_validate(cls, obj: Any, *, by_alias: Any = None, by_name: Any = None, **options: Any) -> Any:  # noqa: ARG003
        """Validate. `by_alias` and `by_name`, which SQLModel refuses, are ignored."""
        return super().model_validate(obj, **options)


def published_type(row: type) -> type | None:
    """The published type whose rows a class has; None if they are not published."""
    return next((base for base in row.__mro__ if "__strawberry_definition__" in vars(base)), None)


# ---- published fields ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """An argument of a computed field."""

    kind: Any
    description: str
    name: str | None = None
    """Its published name; None: its name in the function."""
    default: Any = inspect.Parameter.empty

    def parameter(self, name: str) -> inspect.Parameter:
        """It as a parameter of a resolver."""
        kind: Any = self.kind
        told = Annotated[kind, strawberry.argument(name=self.name, description=self.description)]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=told, default=self.default)


def computed(
    kind: Any,
    description: str,
    *,
    many: bool = False,
    field_permission: FieldPermission | None = None,
    is_partial: bool = False,
    arguments: Mapping[str, Argument] | None = None,
) -> Any:
    """Publish a computed field; `@computes` in `resolvers/` declares its function. Null if the function returns no
    value, which REST is told of by `is_partial`.

    `kind` is a published type or a list of one; `many` makes a list of a type that is declared later, and named by its
    place. With a `field_permission` the field is null and not computed for rows
    of other tenants, and refused to callers without the permission. `arguments` are those of the field, by
    their names in its function.
    """
    value = Computed(many or get_origin(kind) is list, field_permission, is_partial)

    async def resolve(self: Any, info: strawberry.Info, **values: Any) -> Any:
        if field_permission is not None and not info.context.is_visible(
            field_permission, field_permission.owner_of(self)
        ):
            return None
        return await info.context.loaders.loader_for(value.called_with(values)).load(self.id)

    _publish_arguments(resolve, arguments or {})

    return strawberry.pydantic.field(
        resolve,
        graphql_type=lazy.lazy_type(kind, many=many, nullable=True),
        metadata={"compiled": value},
        description=description,
    )


def _publish_arguments(resolve: Callable[..., Any], arguments: Mapping[str, Argument]) -> None:
    """Give a resolver of an object these arguments, in place of its `**values`."""
    own, info, _ = inspect.signature(resolve).parameters.values()
    named = [argument.parameter(name) for name, argument in arguments.items()]
    resolve.__signature__ = inspect.Signature([own, info, *named])  # type: ignore[attr-defined]
    resolve.__annotations__ = {p.name: p.annotation for p in (own, info, *named)}


def relation(
    to: Any,
    by: str,
    description: str | None = None,
    *,
    nullable: bool = False,
    field_permission: FieldPermission | None = None,
    scope_column: str | None = None,
    field: Callable[..., Any] = strawberry.pydantic.field,
) -> Any:
    """Publish one related resource, found by our column `by`, with one database query per level.

    With a `field_permission` the field is refused to callers without the permission, and null for rows of other
    tenants: make it nullable. `scope_column` names a column that must be equal on both sides, such as `partner_id`.
    `field` is `strawberry.field` in a type that is not a model.
    """
    link = Relation(to, by, field_permission=field_permission, scope_column=scope_column)

    async def resolve(self: Any, info: strawberry.Info) -> Any:
        if field_permission is not None and not info.context.is_visible(
            field_permission, field_permission.owner_of(self)
        ):
            return None
        return await info.context.loaders.loader_for(link).load(link.key_of(self))

    kind = lazy.lazy_type(to, nullable=nullable)
    return field(resolve, graphql_type=kind, metadata={"compiled": link}, description=description)


def relations(to: Any, by: str, description: str | None = None, *, order: str = "id") -> Any:
    """Publish the related resources whose column `by` contains our id, ordered by one of their columns, with one
    query per level.
    """
    link = Relation(to, by, many=True, order=order)

    async def resolve(self: Any, info: strawberry.Info) -> Any:
        return await info.context.loaders.loader_for(link).load(link.key_of(self))

    return strawberry.pydantic.field(
        resolve, graphql_type=lazy.lazy_type(to, many=True), metadata={"compiled": link}, description=description
    )


# ---- embedded values -------------------------------------------------------------------------------------------------


class EmbeddedColumns(SchemaModel):
    """The base of columns that a resource publishes as one value. The row class inherits them."""

    embedded_value: ClassVar[EmbeddedValue]


def embedded_type(
    description: str,
    *,
    prefix: str = "",
    names: Mapping[str, str] | None = None,
    unless_null: str | None = None,
    nullable: Sequence[str] = (),
) -> Callable[[type[E]], type[E]]:
    """Publish columns as one value: a type of the name of the class, with a field for each column.

    A field has the name of its column without `prefix`, or the one in `names`. `unless_null` names a column: if it is
    null, all columns are, and so is the value; the fields themselves are never null then, except those of the columns
    in `nullable`.
    """

    def publish(cls: type[E]) -> type[E]:
        named = names or {}
        if unknown := set(named) - set(cls.model_fields):
            raise TypeError(f"{cls.__name__} has no {', '.join(sorted(unknown))}.")
        columns: dict[str, str | EmbeddedValue] = {}
        fields: dict[str, Any] = {}
        for column, info in cls.model_fields.items():
            if not info.exclude:
                name = named.get(column, column.removeprefix(prefix))
                columns[name] = column
                is_nullable = unless_null is None or column in nullable
                kind = info.annotation if is_nullable else without_null(info.annotation)
                fields[name] = (kind, PydanticField(description=info.description))
        for name, attribute in vars(cls).items():
            if (inner := get_resolver_field(attribute)) is not None and inner.type_annotation is not None:
                short = name.removeprefix(prefix)
                columns[short] = inner.metadata["compiled"]
                fields[short] = (inner.type_annotation.raw_annotation, PydanticField(description=inner.description))
        published = create_model(cls.__name__, __module__=cls.__module__, **fields)
        cls.embedded_value = EmbeddedValue(
            strawberry.pydantic.type(published, description=description), columns, unless_null
        )
        return cls

    return publish


def embedded(value: EmbeddedValue | type[EmbeddedColumns], description: str, *, nullable: bool = False) -> Any:
    """Publish several columns as one value."""
    place = value if isinstance(value, EmbeddedValue) else value.embedded_value
    kind = place.kind | None if nullable else place.kind

    def resolve(self: Any) -> Any:
        return place.read_from(self)

    return strawberry.pydantic.field(resolve, graphql_type=kind, metadata={"compiled": place}, description=description)


def restricted(
    columns: EmbeddedValue | type[EmbeddedColumns], field_permission: FieldPermission, description: str
) -> Any:
    """Publish several columns as one value that is null for rows of other tenants, and refused without the permission.

    Relations run no operation and so check no permission; the fields themselves have to check it.
    """
    place = columns if isinstance(columns, EmbeddedValue) else columns.embedded_value
    kept = replace(place, field_permission=field_permission)

    def resolve(self: Any, info: strawberry.Info) -> Any:
        return (
            kept.read_from(self) if info.context.is_visible(field_permission, field_permission.owner_of(self)) else None
        )

    return strawberry.pydantic.field(
        resolve, graphql_type=kept.kind | None, metadata={"compiled": kept}, description=description
    )


def without_null(kind: Any) -> Any:
    """`str` for `str | None`, and any other type as it is."""
    others = tuple(each for each in get_args(kind) if each is not NoneType)
    return Union[others] if NoneType in get_args(kind) else kind  # noqa: UP007 - a union that is made at runtime
