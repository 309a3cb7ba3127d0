"""Everything that is wrong with an input, told at once: what its checks find, and what is found in spite of what cannot be read."""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from pydantic import BaseModel, ValidationError, create_model

from schema.core.errors import AlreadyTaken, InvalidInput, Path, Problem

T = TypeVar("T")


class Findings:
    """Gathers what several checks find: run each `with findings.of_one():`, then `findings.tell()`."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.stopped = False

    def of_one(self) -> Self:
        """Run one check: what it finds is kept, and the next can run."""
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, InvalidInput | AlreadyTaken):
            return False
        self.problems += error.problems
        self.stopped = True
        return True

    def tell(self) -> None:
        """Raise InvalidInput with all that was found, if any check did not come to its end."""
        if self.stopped:
            raise InvalidInput(*self.problems)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise InvalidInput with these, if there are any."""
    if found := tuple(problems):
        raise InvalidInput(*found)


class _ToldAlready:
    """What was not found: whoever reads of it learns that it was told already."""

    def __getattr__(self, name: str) -> Any:
        raise InvalidInput


def told_already(kind: type[T]) -> T:  # noqa: ARG001 - says what it stands for
    """Stands for what a check was to find and did not: a check that needs it ends there, and has nothing more to tell."""
    return cast("T", _ToldAlready())


class _Usable:
    """An input of which some fields could not be used: whoever reads one of these learns that it was told already."""

    def __getattr__(self, name: str) -> Any:
        if name in type(self).model_fields:  # type: ignore[attr-defined]  # of the model that it is mixed into
            raise InvalidInput
        raise AttributeError(name)


@dataclass(frozen=True)
class Usable:
    """What can be used of an input that is wrong, for checks to tell what else is."""

    input: BaseModel
    wrong: frozenset[str]
    """The fields that cannot be used, and were told."""
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Of lists without what is wrong in them: where each of what is left stood. Only of what is left anything is told."""

    def told(self, found: Iterable[Problem]) -> Iterator[Problem]:
        """Of what the checks found, what was not told yet, each at its place in what was sent."""
        for problem in found:
            if not problem.path:
                continue
            name, *rest = problem.path
            places = self.places.get(str(name))
            if places is None:
                if not self.places and name not in self.wrong:
                    yield problem
            elif rest and isinstance(rest[0], int):
                yield Problem((name, places[rest[0]], *rest[1:]), problem.code, problem.message)


@lru_cache(maxsize=512)
def _of(model: type[BaseModel]) -> type[BaseModel]:
    """The model with nothing that must be there."""
    fields: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if info.is_required():
            optional = copy.copy(info)
            optional.default = None
            fields[name] = (info.annotation, optional)
    bases: Any = (_Usable, model)
    made: type[BaseModel] = create_model(model.__name__, __base__=bases, __module__=__name__, **fields)
    return made


def usable(model: type[BaseModel], sent: Any, wrong: Collection[Path], **options: Any) -> tuple[Usable, ...]:
    """What can be used of an input in which these places are wrong: the fields that are right, and then these with what is
    right in lists. A field that cannot be used raises InvalidInput, without a problem of its own, where it is read.
    """
    if not isinstance(sent, Mapping):
        return ()
    fields = frozenset(str(path[0]) for path in wrong if path)
    places = {name: left for name in fields if (left := _left(sent.get(name), name, wrong))}
    right = {name: sent[name] for name in sent if name not in fields}
    lists = {name: [sent[name][at] for at in left] for name, left in places.items()}
    made = [Usable(found, fields)] if (found := _made(model, right, fields, options)) is not None else []
    if lists and (found := _made(model, {**right, **lists}, fields - lists.keys(), options)) is not None:
        made.append(Usable(found, fields, places))
    return tuple(made)


def _left(sent: Any, name: str, wrong: Collection[Path]) -> Sequence[int]:
    """Where in a list something stands that is right; nowhere, where something is wrong with the list itself."""
    within = [path[1] if len(path) > 1 else None for path in wrong if path and path[0] == name]
    if not isinstance(sent, list) or not all(isinstance(at, int) for at in within):
        return ()
    return [at for at in range(len(sent)) if at not in within]


def _made(model: type[BaseModel], sent: Any, wrong: Collection[str], options: Mapping[str, Any]) -> BaseModel | None:
    try:
        made = _of(model).model_validate(sent, **options)
    except ValidationError:
        return None
    for name in wrong:
        made.__dict__.pop(name, None)
    return made
