"""Removes texts that the database cannot store from request data."""

from typing import Any

from schema.core.errors import Problem, ProblemPath
from schema.validation.characters import UNSTORABLE


def drop_unstorable(data: Any) -> tuple[Any, tuple[Problem, ...]]:
    """The data without texts that cannot be stored (NUL, lone surrogates), and a problem at the path of each.

    An invalid text becomes None, in place. An invalid key is removed with its value; its problem has the path of the
    object.
    """
    whole = [data]
    bad: list[ProblemPath] = []
    todo: list[tuple[ProblemPath, Any]] = [((), whole)]
    while todo:
        path, holder = todo.pop()
        for key in _bad_keys(holder):
            del holder[key]
            bad.append(path[1:])
        for step, value in enumerate(holder) if isinstance(holder, list) else holder.items():
            if isinstance(value, str) and UNSTORABLE.search(value):
                holder[step] = None
                bad.append((*path, step)[1:])
            elif isinstance(value, list | dict):
                todo.append(((*path, step), value))
    message = "This text holds a character that cannot be stored."
    return whole[0], tuple(Problem(path, "INVALID", message) for path in dict.fromkeys(bad))


def _bad_keys(holder: list[Any] | dict[str, Any]) -> list[str]:
    return [key for key in holder if UNSTORABLE.search(key)] if isinstance(holder, dict) else []
