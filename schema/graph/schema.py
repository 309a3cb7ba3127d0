"""Builds the Strawberry schema from `Query` and `Mutation`."""

from collections.abc import Awaitable, Callable
from typing import Any

import strawberry
from graphql import GraphQLField, GraphQLObjectType, GraphQLResolveInfo, GraphQLScalarType, GraphQLSchema
from strawberry.schema.config import StrawberryConfig
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField

from resolvers.core.context import Context
from schema.core.field_source import Computed
from schema.graph.fields import RUN
from schema.graph.scalars import SCALARS, UPLOAD_SPECIFICATION
from schema.graph.selection import STRAWBERRY_DEFINITION


def build_schema(query: type, mutation: type | None = None) -> strawberry.Schema:
    """The schema of an API. Fields from `query_field` and `mutation_field` bypass Strawberry's extensions."""
    schema = strawberry.Schema(query, mutation, config=StrawberryConfig(scalar_map=SCALARS))
    core = schema._schema  # noqa: SLF001 - Strawberry has no public name for graphql-core's schema
    for kind in filter(None, (core.query_type, core.mutation_type)):
        for field in kind.fields.values():
            published: StrawberryField = field.extensions[STRAWBERRY_DEFINITION]
            if (run := published.metadata.get(RUN)) is not None:
                _run_directly(schema, field, published, run)
    if isinstance(upload := core.type_map.get("Upload"), GraphQLScalarType):
        upload.specified_by_url = UPLOAD_SPECIFICATION
    _check_computed(core)
    return schema


def _check_computed(core: GraphQLSchema) -> None:
    """Raise LookupError for a computed field without a function."""
    for kind in core.type_map.values():
        for name, field in kind.fields.items() if isinstance(kind, GraphQLObjectType) else ():
            published: StrawberryField | None = field.extensions.get(STRAWBERRY_DEFINITION)
            value = None if published is None else published.metadata.get("compiled")
            if isinstance(value, Computed) and value.function is None:
                raise LookupError(
                    f"{kind.name}.{name}: no function computes it. Declare one with @computes in resolvers/."
                )


def _run_directly(
    schema: strawberry.Schema, field: GraphQLField, published: StrawberryField, run: Callable[..., Awaitable[Any]]
) -> None:
    """Resolve a field without Strawberry's chain of extensions, which costs as much as the rest of a small request."""
    arguments, registry = published.arguments, schema.schema_converter.scalar_registry

    async def resolve(_source: object, info: GraphQLResolveInfo[Context], **options: Any) -> Any:
        return await run(info.context, **convert_arguments(options, arguments, registry, schema.config))

    field.resolve = resolve
