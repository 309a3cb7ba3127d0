"""Reads the GraphQL schema: what lists, objects and changes there are, and what each requires of its caller."""

import functools
from collections.abc import Mapping

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    get_named_type,
)

from admin.graph.execution import server
from schema.core.permission import RequiredAccess
from schema.graph import paths
from schema.graph.fields import ORIGINS

DECLARATION = "strawberry-definition"
"""Where a field of graphql-core has the field that it was made from."""
TEXT, MONEY = paths.TEXT, paths.MONEY
at, field_at, is_many = paths.at, paths.field_at, paths.is_many


def queries() -> Mapping[str, GraphQLField]:
    """The fields of `Query` by name."""
    found = server().schema.query_type
    assert found is not None
    fields: Mapping[str, GraphQLField] = found.fields
    return fields


def mutations() -> Mapping[str, GraphQLField]:
    """The fields of `Mutation` by name."""
    found = server().schema.mutation_type
    assert found is not None
    fields: Mapping[str, GraphQLField] = found.fields
    return fields


def object_type(name: str) -> GraphQLObjectType:
    """An object type by name. Raises LookupError if there is none."""
    found = server().schema.get_type(name)
    if isinstance(found, GraphQLObjectType):
        return found
    raise LookupError(f"The schema has no object type {name}.")


def access_of(field: GraphQLField) -> RequiredAccess:
    """What an operation requires of its caller."""
    declared = field.extensions[DECLARATION].metadata[ORIGINS][0]
    access: RequiredAccess = declared.permission
    return access


@functools.cache
def input_of(mutation: str) -> GraphQLInputObjectType:
    """The type of the input of a mutation."""
    named = get_named_type(mutations()[mutation].args["input"].type)
    assert isinstance(named, GraphQLInputObjectType)
    return named


@functools.cache
def result_of(mutation: str) -> tuple[str, GraphQLNamedType] | None:
    """The field of a payload with the result, and its type; None if the payload has only errors."""
    payload = get_named_type(mutations()[mutation].type)
    assert isinstance(payload, GraphQLObjectType)
    found = [(name, field) for name, field in payload.fields.items() if name != "userErrors"]
    return (found[0][0], get_named_type(found[0][1].type)) if found else None


def list_filter_of(query: str) -> GraphQLInputObjectType:
    """The type of the filter of a list."""
    named = get_named_type(queries()[query].args["filter"].type)
    assert isinstance(named, GraphQLInputObjectType)
    return named


def list_order_of(query: str) -> GraphQLEnumType:
    """The orders of a list."""
    named = get_named_type(queries()[query].args["orderBy"].type)
    assert isinstance(named, GraphQLEnumType)
    return named
