"""Paths to values of an object type, such as `fulfilment.state`: the fields along them, and their selections in documents."""

from collections.abc import Collection, Iterable, Iterator
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
MONEY_PARTS = ("amount", "currency")


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


def leaf_fields(field: GraphQLField) -> tuple[str, ...] | None:
    """What is selected below a field that is displayed as one value; None if it is an object."""
    kind = get_named_type(field.type)
    if is_leaf_type(kind):
        return ()
    return {MONEY: MONEY_PARTS, TEXT: tuple(LANGUAGES)}.get(kind.name)


def leaf_selection(field: GraphQLField) -> str | None:
    """What follows the name of a field that is displayed as one value; None if it is an object."""
    fields = leaf_fields(field)
    return fields if fields is None else _braces(fields)


def value_selection(kind: GraphQLObjectType, path: str) -> str:
    """The selection of the value at a path."""
    return values_selection(kind, (path,))


def values_selection(kind: GraphQLObjectType, paths: Iterable[str]) -> str:
    """The selection of the values at several paths, each field once. Raises LookupError for a path that ends at an object."""
    inner: dict[str, dict[str, None]] = {}
    for path in paths:
        name, _, rest = path.partition(".")
        below = (rest,) if rest else leaf_fields(kind.fields[name])
        if below is None:
            raise LookupError(f"{kind.name}.{path} is an object: name one of its fields.")
        inner.setdefault(name, {}).update(dict.fromkeys(below))
    return " ".join(name + _below(kind.fields[name], rests) for name, rests in inner.items())


def _below(field: GraphQLField, paths: Collection[str]) -> str:
    """The selection of paths below a field."""
    of = get_named_type(field.type)
    return _braces([values_selection(of, paths)]) if paths and isinstance(of, GraphQLObjectType) else ""


def _braces(fields: Collection[str]) -> str:
    return f" {{ {' '.join(fields)} }}" if fields else ""
