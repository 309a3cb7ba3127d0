"""Errors as older shops know them: `{"<field>": ["…"]}` for what can be put right, `{"detail": "…"}` for the rest."""

from collections.abc import Callable, Iterable
from typing import Any

from rest_compat.http.responses import Answer, Header, as_json
from rest_compat.shapes.names import in_snake_case
from schema.core.errors import AppError, MalformedBody, Path, Problem

Names = Callable[[Path], Path]
"""From the path of an input's field to the path of the key that was sent."""

WITH_CODE = frozenset({402, 409, 502, 503, 504})
NO_FIELD = "non_field_errors"


def snake_case(path: Path) -> Path:
    """The path of a field in the names of REST, when an operation gave it in those of GraphQL."""
    return tuple(
        in_snake_case(step) if isinstance(step, str) and (at == 0 or isinstance(path[at - 1], int)) else step
        for at, step in enumerate(path)
    )


def refusal(error: AppError, names: Names = snake_case) -> Answer:
    """The answer that an error of the catalogue becomes."""
    headers: list[Header] = []
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    if error.status == 401:
        headers.append((b"www-authenticate", b"Token"))
    if error.status == 400 and not isinstance(error, MalformedBody):
        return as_json(by_field(error.problems, names) or {NO_FIELD: [str(error)]}, 400, *headers)
    body = {"detail": str(error)}
    if error.status in WITH_CODE:
        body["code"] = error.code().lower()
    return as_json(body, error.status, *headers)


def unexpected(request_id: str) -> Answer:
    """The answer to a bug of ours; what it was stands in the log, under the same id."""
    detail = "Something went wrong on our side. Send us the request_id if it happens again."
    return as_json({"detail": detail, "request_id": request_id}, 500)


def not_found() -> Answer:
    """No route has this path."""
    return as_json({"detail": "Not found."}, 404)


def method_not_allowed(method: str, allowed: Iterable[str]) -> Answer:
    """The path is there, but not for this method."""
    allow = (b"allow", ", ".join(sorted(allowed)).encode())
    return as_json({"detail": f"Method {method} is not allowed."}, 405, allow)


def by_field(problems: Iterable[Problem], names: Names = snake_case) -> Any:
    """Problems as a body: nested objects nest, a list is aligned with its items (`{}` for a good one)."""
    root: dict[Any, Any] = {}
    for problem in problems:
        node = root
        for step in names(problem.path) or (NO_FIELD,):
            node = node.setdefault(step, {})
        node.setdefault(None, []).append(problem.message)
    return _written(root)


def _written(node: dict[Any, Any]) -> Any:
    messages = node.pop(None, None)
    if not node:
        return messages if messages is not None else {}
    positions = [step for step in node if isinstance(step, int)]
    if len(positions) == len(node):
        if messages is not None:  # what is wrong with the list as a whole goes before its items
            return messages
        return [_item(_written(node.get(at, {}))) for at in range(max(positions) + 1)]
    inner = {str(step): _written(below) for step, below in node.items()}
    return inner if messages is None else {NO_FIELD: messages, **inner}


def _item(written: Any) -> Any:
    """An item of a list; what is wrong with it as a whole is of no one field."""
    return {NO_FIELD: written} if isinstance(written, list) else written
