"""Error responses: `{"<field>": ["…"]}` for invalid input, `{"detail": "…"}` for other errors."""

from collections.abc import Callable, Iterable
from typing import Any

from rest_compat.http.responses import RestResponse, json_response
from rest_compat.shapes.names import in_snake_case
from schema.core.errors import AppError, MalformedBody, Problem, ProblemPath

KeyPathOf = Callable[[ProblemPath], ProblemPath]
"""Converts the path of an input field to the path of its REST key."""

WITH_CODE = frozenset({402, 409, 502, 503, 504})
NO_FIELD = "non_field_errors"


def snake_case_path(path: ProblemPath) -> ProblemPath:
    """A field path in snake case, for operations that report problems in GraphQL names."""
    return tuple(
        in_snake_case(step) if isinstance(step, str) and (at == 0 or isinstance(path[at - 1], int)) else step
        for at, step in enumerate(path)
    )


def error_response(error: AppError, names: KeyPathOf = snake_case_path) -> RestResponse:
    """The response for an `AppError`."""
    headers = [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
    if error.status == 400 and not isinstance(error, MalformedBody):
        return json_response(problems_by_field(error.problems, names) or {NO_FIELD: [str(error)]}, 400, *headers)
    body = {"detail": str(error)}
    if error.status in WITH_CODE:
        body["code"] = error.code().lower()
    return json_response(body, error.status, *headers)


def not_found_response() -> RestResponse:
    """The response for a path that no route has."""
    return json_response({"detail": "Not found."}, 404)


def method_not_allowed_response(method: str, allowed: Iterable[str]) -> RestResponse:
    """The response for a method that the path does not support."""
    allow = (b"allow", ", ".join(sorted(allowed)).encode())
    return json_response({"detail": f"Method {method} is not allowed."}, 405, allow)


def problems_by_field(problems: Iterable[Problem], names: KeyPathOf = snake_case_path) -> Any:
    """Problems as a response body. Nested objects nest; a list is aligned with its items (`{}` for a valid item)."""
    root: dict[Any, Any] = {}
    for problem in problems:
        node = root
        for step in names(problem.path) or (NO_FIELD,):
            node = node.setdefault(step, {})
        node.setdefault(None, []).append(problem.message)
    return _as_json(root)


def _as_json(node: dict[Any, Any]) -> Any:
    messages = node.pop(None, None)
    if not node:
        return messages if messages is not None else {}
    positions = [step for step in node if isinstance(step, int)]
    if len(positions) == len(node):
        if messages is not None:  # problems of the list itself replace those of its items
            return messages
        return [_item(_as_json(node.get(at, {}))) for at in range(max(positions) + 1)]
    inner = {str(step): _as_json(below) for step, below in node.items()}
    return inner if messages is None else {NO_FIELD: messages, **inner}


def _item(written: Any) -> Any:
    """An item of a list. Problems of the item as a whole go under `non_field_errors`."""
    return {NO_FIELD: written} if isinstance(written, list) else written
