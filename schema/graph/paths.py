"""Paths to values of an object type, such as `fulfilment.state`: the fields along them, and their selections in documents."""

from collections.abc import Iterable, Iterator
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_required_argument,
)

from schema.validation.languages import LANGUAGES

TEXT, MONEY = "Text", "Money"


def is_many(kind: Any) -> bool:
    """Whether a type is a list, nullable or not."""
    return is_list_type(kind.of_type if is_non_null_type(kind) else kind)


def at(kind: GraphQLObjectType, path: str) -> Iterator[tuple[str, GraphQLField]]:
    """The fields along a path such as `fulfilment.state`. Raises LookupError for one that the schema does not have."""
    named: GraphQLNamedType = kind
    for name in path.split("."):
        if not isinstance(named, GraphQLObjectType) or name not in named.fields:
            raise LookupError(f"{kind.name} has no {path}.")
        field = named.fields[name]
        yield name, field
        named = get_named_type(field.type)


def field_at(kind: GraphQLObjectType, path: str) -> GraphQLField:
    """The last field along a path."""
    *_, (_, field) = at(kind, path)
    return field


def needs_arguments(field: GraphQLField) -> bool:
    """Whether a field cannot be read without arguments."""
    return any(is_required_argument(argument) for argument in field.args.values())


def leaf_selection(field: GraphQLField) -> str | None:
    """What follows the name of a field that is displayed as one value; None if it is an object."""
    kind = get_named_type(field.type)
    if is_leaf_type(kind):
        return ""
    if kind.name == MONEY:
        return " { amount currency }"
    if kind.name == TEXT:
        return f" {{ {' '.join(LANGUAGES)} }}"
    return None


def value_selection(kind: GraphQLObjectType, path: str) -> str:
    """The selection of the value at a path."""
    name, _, rest = path.partition(".")
    field = kind.fields[name]
    if rest:
        inner = get_named_type(field.type)
        assert isinstance(inner, GraphQLObjectType)
        return f"{name} {{ {value_selection(inner, rest)} }}"
    leaf = leaf_selection(field)
    if leaf is None:
        raise LookupError(f"{kind.name}.{path} is an object: name one of its fields.")
    return name + leaf


def values_selection(kind: GraphQLObjectType, paths: Iterable[str]) -> str:
    """The selection of the values at several paths, each field once."""
    inner: dict[str, list[str]] = {}
    for path in paths:
        name, _, rest = path.partition(".")
        inner.setdefault(name, []).extend([rest] if rest else [])
    parts = []
    for name, rests in inner.items():
        if not rests:
            parts.append(value_selection(kind, name))
            continue
        of = get_named_type(kind.fields[name].type)
        assert isinstance(of, GraphQLObjectType)
        parts.append(f"{name} {{ {values_selection(of, rests)} }}")
    return " ".join(parts)
