"""Collects all problems of an input: those of its checks, including the checks that can run on a partially valid
input.
"""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from pydantic import BaseModel, ValidationError, create_model

from schema.core.errors import AlreadyTaken, InvalidInput, Problem, ProblemPath

T = TypeVar("T")


class ProblemCollector:
    """Collects the problems of several checks: run each in `with problems.collect():`, then call
    `problems.raise_problems()`.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.has_failed = False

    def collect(self) -> Self:
        """Run one check in a `with` block. Its InvalidInput or AlreadyTaken is collected, and the next check can
        run.
        """
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, InvalidInput | AlreadyTaken):
            return False
        self.problems += error.problems
        self.has_failed = True
        return True

    def raise_problems(self) -> None:
        """Raise InvalidInput with all collected problems, if any check failed."""
        if self.has_failed:
            raise InvalidInput(*self.problems)


def raise_if_problems(problems: Iterable[Problem]) -> None:
    """Raise InvalidInput if there are any problems."""
    if found := tuple(problems):
        raise InvalidInput(*found)


class _AlreadyReported:
    """Stands for an object that was not found; reading an attribute raises InvalidInput without problems."""

    def __getattr__(self, name: str) -> Any:
        raise InvalidInput


def already_reported(kind: type[T]) -> T:  # noqa: ARG001 - says what it stands for
    """A placeholder for what a check could not find. A check that reads it ends without a further problem."""
    return cast("T", _AlreadyReported())


class _PartialModel:
    """Mixed into the model of a partially valid input; reading an invalid field raises InvalidInput without
    problems.
    """

    def __getattr__(self, name: str) -> Any:
        if name in type(self).model_fields:  # type: ignore[attr-defined]  # of the model that it is mixed into
            raise InvalidInput
        raise AttributeError(name)


@dataclass(frozen=True)
class PartialInput:
    """The valid part of an invalid input, so that checks can find its other problems."""

    input: BaseModel
    invalid_fields: frozenset[str]
    """The invalid fields, whose problems are already reported."""
    list_positions: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """For lists without their invalid items: the original position of each remaining item. If set, only problems of
    these lists are reported.
    """

    def new_problems(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """The problems that are not yet reported, with their paths in the original input."""
        for problem in problems:
            if not problem.path:
                continue
            name, *rest = problem.path
            places = self.list_positions.get(str(name))
            if places is None:
                if not self.list_positions and name not in self.invalid_fields:
                    yield problem
            elif rest and isinstance(rest[0], int):
                yield Problem((name, places[rest[0]], *rest[1:]), problem.code, problem.message)


@lru_cache(maxsize=512)
def _optional_model(model: type[BaseModel]) -> type[BaseModel]:
    """The model with all fields optional."""
    fields: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if info.is_required():
            optional = copy.copy(info)
            optional.default = None
            fields[name] = (info.annotation, optional)
    bases: Any = (_PartialModel, model)
    made: type[BaseModel] = create_model(model.__name__, __base__=bases, __module__=__name__, **fields)
    return made


def partial_inputs(
    model: type[BaseModel], value: Any, wrong: Collection[ProblemPath], **options: Any
) -> tuple[PartialInput, ...]:
    """The valid parts of an input with problems at these paths: first the valid fields, then the same with the valid
    items of lists. Reading an invalid field raises InvalidInput without problems.
    """
    if not isinstance(value, Mapping):
        return ()
    fields = frozenset(str(path[0]) for path in wrong if path)
    places = {name: left for name in fields if (left := _valid_positions(value.get(name), name, wrong))}
    right = {name: value[name] for name in value if name not in fields}
    lists = {name: [value[name][at] for at in left] for name, left in places.items()}
    made = (
        [PartialInput(found, fields)] if (found := _validate_partial(model, right, fields, options)) is not None else []
    )
    if lists and (found := _validate_partial(model, {**right, **lists}, fields - lists.keys(), options)) is not None:
        made.append(PartialInput(found, fields, places))
    return tuple(made)


def _valid_positions(value: Any, name: str, wrong: Collection[ProblemPath]) -> Sequence[int]:
    """The positions of the valid items of a list; empty if the list itself is invalid."""
    within = [path[1] if len(path) > 1 else None for path in wrong if path and path[0] == name]
    if not isinstance(value, list) or not all(isinstance(at, int) for at in within):
        return ()
    return [at for at in range(len(value)) if at not in within]


def _validate_partial(
    model: type[BaseModel], value: Any, wrong: Collection[str], options: Mapping[str, Any]
) -> BaseModel | None:
    try:
        made = _optional_model(model).model_validate(value, **options)
    except ValidationError:
        return None
    for name in wrong:
        made.__dict__.pop(name, None)
    return made
