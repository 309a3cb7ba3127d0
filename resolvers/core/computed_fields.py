"""Computed fields of published types: for all objects of a query level at once, or from an object's own columns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Concatenate, TypeAlias, TypeVar

from strawberry.types import get_object_definition

from resolvers.core.context import Context
from schema.core.derived import Derived
from schema.core.field_source import Computed

ComputeFunction: TypeAlias = Callable[Concatenate[Context, Sequence[Any], ...], Awaitable[Mapping[Any, Any]]]
"""From the ids of objects, and the field's arguments, to the value of each. An id without an entry has no value.

It runs once per level of a query and loads all objects in one statement. It reads through `context.db`, which sees the
uncommitted changes of the request.
"""
W = TypeVar("W", bound=ComputeFunction)
R = TypeVar("R", bound=Callable[..., Any])


def computes(kind: type, name: str) -> Callable[[W], W]:
    """Register the function of a field that was declared with `computed`."""
    field = get_object_definition(kind, strict=True).get_field(name)
    value = None if field is None else field.metadata.get("compiled")
    if not isinstance(value, Computed):
        raise TypeError(f"{kind.__name__}.{name} is no computed field: declare it with `computed(…)`.")
    if value.function is not None:
        raise ValueError(f"{kind.__name__}.{name} has two functions.")

    def declare(work: W) -> W:
        value.function = work
        return work

    return declare


def derives(kind: type, name: str) -> Callable[[R], R]:
    """Register the rule of a field that was declared with `derived`.

    It is called for each object with the context and the values of the columns. It must not wait and must do no I/O.
    """
    field = get_object_definition(kind, strict=True).get_field(name)
    value = None if field is None else field.metadata.get("compiled")
    if not isinstance(value, Derived):
        raise TypeError(f"{kind.__name__}.{name} is no derived field: declare it with `derived(…)`.")
    if value.rule is not None:
        raise ValueError(f"{kind.__name__}.{name} has two rules.")

    def declare(rule: R) -> R:
        value.rule = rule
        return rule

    return declare
