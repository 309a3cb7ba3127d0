"""Values of published types that functions work out: for all objects of a level of a query at once, or from one's own columns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from strawberry.types import get_object_definition

from schema.core.derived import Derived
from schema.core.field_source import Computed

if TYPE_CHECKING:
    from resolvers.core.context import Context

Work: TypeAlias = "Callable[[Context, Sequence[int]], Awaitable[Mapping[int, Any]]]"
"""From the ids of objects to the value of each; an id left out has none.

It runs once for a level of a query, however many objects that has, so it asks for all of them in one statement. It reads
through `context.db`, which sees what the request has changed and not yet committed.
"""
W = TypeVar("W", bound=Work)
R = TypeVar("R", bound=Callable[..., Any])

_WORK: dict[Computed, Work] = {}


def computes(kind: type, name: str) -> Callable[[W], W]:
    """Declare what works out a field of a published type that was declared with `computed`."""
    field = get_object_definition(kind, strict=True).get_field(name)
    value = None if field is None else field.metadata.get("compiled")
    if not isinstance(value, Computed):
        raise TypeError(f"{kind.__name__}.{name} is no computed field: declare it with `computed(…)`.")
    if value in _WORK:
        raise ValueError(f"{kind.__name__}.{name} is worked out twice.")

    def declare(work: W) -> W:
        _WORK[value] = work
        return work

    return declare


def is_worked_out(value: Computed) -> bool:
    """Whether something was declared that works a value out."""
    return value in _WORK


async def work_out(value: Computed, context: "Context", ids: Sequence[int]) -> Mapping[int, Any]:
    """A computed value of the objects with these ids."""
    return await _WORK[value](context, ids)


def derives(kind: type, name: str) -> Callable[[R], R]:
    """Declare the rule of a field of a published type that was declared with `derived`.

    It is called with the context and the values of the columns, for each object: it must not wait, and asks nobody.
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
