"""Finds texts that databases and encodings refuse: those with the null character or a lone surrogate."""

import re
from typing import Any

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED = re.compile(rb"\\u(?:0000|[dD][89abAB])")


def may_hold_unstorable(json: bytes) -> bool:
    """Whether JSON may hold such a text, which it can only write with escapes. JSON with the second half of a pair
    alone is refused by the parser.
    """
    return b"\\u" in json and _ESCAPED.search(json) is not None


def drop_unstorable(data: Any) -> tuple[Any, list[tuple[str | int, ...]]]:
    """JSON data without such texts, and the path of each.

    A text becomes None, in place. A key is removed with its value, and its path is that of the object. A loop, because
    JSON can nest deeper than Python's recursion limit.
    """
    whole = [data]
    dropped: list[tuple[str | int, ...]] = []
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), whole)]
    while todo:
        path, holder = todo.pop()
        if isinstance(holder, dict):
            for key in [key for key in holder if UNSTORABLE.search(key)]:
                del holder[key]
                dropped.append(path[1:])
        for step, value in enumerate(holder) if isinstance(holder, list) else holder.items():
            if isinstance(value, str) and UNSTORABLE.search(value):
                holder[step] = None
                dropped.append((*path, step)[1:])
            elif isinstance(value, list | dict):
                todo.append(((*path, step), value))
    return whole[0], list(dict.fromkeys(dropped))
