"""Publishes resources: the base of types and inputs, embedded values, relations and computed fields."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, get_origin

import strawberry
from pydantic import BaseModel
from sqlmodel import SQLModel

from schema.core import lazy
from schema.core.field_permission import FieldPermission
from schema.core.field_source import Computed, EmbeddedValue, Relation

SQLModel.metadata.naming_convention = {
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ck": "%(table_name)s_%(constraint_name)s",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "pk": "%(table_name)s_pkey",
}


class SchemaModel(SQLModel):
    """The base of every resource and input. It accepts the options with which Strawberry validates inputs."""

    resource: ClassVar[type[BaseModel] | None] = None
    """For an input: the resource whose fields it has."""

    @classmethod
    def model_validate(cls, obj: Any, *, by_alias: Any = None, by_name: Any = None, **options: Any) -> Any:  # noqa: ARG003
        """Validate. `by_alias` and `by_name`, which SQLModel refuses, are ignored."""
        return super().model_validate(obj, **options)


# ---- published fields ------------------------------------------------------------------------------------------------


def computed(kind: Any, description: str, *, field_permission: FieldPermission | None = None) -> Any:
    """Publish a computed field; `@computes` in `resolvers/` declares its function. Null if the function returns no
    value.

    `kind` is a published type or a list of one. With a `field_permission` the field is null and not computed for rows
    of other tenants, and refused to callers without the permission.
    """
    value = Computed(get_origin(kind) is list, field_permission)

    async def resolve(self: Any, info: strawberry.Info) -> Any:
        if field_permission is not None and not info.context.is_visible(
            field_permission, field_permission.owner_of(self)
        ):
            return None
        return await info.context.loaders.loader_for(value).load(self.id)

    return strawberry.pydantic.field(
        resolve, graphql_type=kind | None, metadata={"compiled": value}, description=description
    )


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


def embedded_value(
    kind: type[BaseModel],
    columns: Mapping[str, str | EmbeddedValue] | None = None,
    *,
    prefix: str = "",
    unless_null: str | None = None,
) -> EmbeddedValue:
    """An embedded value: each field of `kind` is the column of its own name after `prefix`, unless `columns` names
    another.
    """
    named = {name: f"{prefix}{name}" for name in kind.model_fields}
    if unknown := set(columns or ()) - set(named):
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}.")
    return EmbeddedValue(kind, {**named, **(columns or {})}, unless_null)


def embedded(value: EmbeddedValue, description: str, *, nullable: bool = False) -> Any:
    """Publish several columns as one value."""
    kind = value.kind | None if nullable else value.kind

    def resolve(self: Any) -> Any:
        return value.read_from(self)

    return strawberry.pydantic.field(resolve, graphql_type=kind, metadata={"compiled": value}, description=description)


def restricted(value: EmbeddedValue, field_permission: FieldPermission, description: str) -> Any:
    """Publish several columns as one value that is null for rows of other tenants, and refused without the permission.

    Relations run no operation and so check no permission; the fields themselves have to check it.
    """
    kept = replace(value, field_permission=field_permission)

    def resolve(self: Any, info: strawberry.Info) -> Any:
        return (
            kept.read_from(self) if info.context.is_visible(field_permission, field_permission.owner_of(self)) else None
        )

    return strawberry.pydantic.field(
        resolve, graphql_type=value.kind | None, metadata={"compiled": kept}, description=description
    )
