"""The guard of all texts of a request: what no database takes goes no further than here."""

from typing import Any

from schema.core.errors import Path, Problem
from schema.validation.characters import UNSTORABLE


def storable(data: Any) -> tuple[Any, tuple[Problem, ...]]:
    """Data without the texts that cannot be stored (NUL, half a surrogate pair), and a problem at the path of each.

    A bad text becomes None, in place. A bad key is left out with its value; its problem stands at the object that has it.
    """
    whole = [data]
    bad: list[Path] = []
    todo: list[tuple[Path, Any]] = [((), whole)]
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
