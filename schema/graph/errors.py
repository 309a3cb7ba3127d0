"""How errors are told in GraphQL: the catalogue's with their code, the client's own mistakes with theirs, all else masked."""

import enum
from collections.abc import Iterable, Sequence
from typing import Any

import structlog
from graphql import ExecutionResult, GraphQLError
from strawberry.exceptions import StrawberryGraphQLError
from strawberry.utils.str_converters import to_camel_case

from schema.core.errors import AppError, InvalidInput, Path, Problem, Unavailable
from schema.core.message_names import Name, Words

log = structlog.get_logger(__name__)

INTERNAL = "An unexpected error occurred."
BAD_USER_INPUT = "BAD_USER_INPUT"


def spoken(message: str) -> str:
    """A message in the names of the schema."""
    return message.named(_name) if isinstance(message, Words) else message


def _name(name: Name) -> str:
    return name.name if isinstance(name, enum.Enum) else to_camel_case(name)


def field_of(path: Path) -> list[str]:
    """Where in the input something is wrong, in the names of the schema: `["items", "0", "productId"]`."""
    steps = [str(step) if isinstance(step, int) else to_camel_case(step) for step in path]
    return steps[1:] if steps[:1] == ["input"] else steps


def app_error(error: AppError) -> tuple[str, dict[str, Any]]:
    """The message and the extensions of an error of the catalogue."""
    extensions: dict[str, Any] = {"code": error.code()}
    message = spoken(error.message)
    if isinstance(error, InvalidInput):
        message = " ".join(spoken(problem.message) for problem in error.problems)
        extensions["code"] = BAD_USER_INPUT
        extensions["problems"] = [_problem(problem) for problem in error.problems]
    if (seconds := getattr(error, "retry_after", None)) is not None:
        extensions["retryAfter"] = seconds
    return message, extensions


def _problem(problem: Problem) -> dict[str, Any]:
    return {"field": field_of(problem.path), "code": problem.code, "message": spoken(problem.message)}


def told(errors: Iterable[GraphQLError], request_id: str, code: str) -> Sequence[dict[str, Any]]:
    """The errors of an answer. `code` is for mistakes of the client that have none of their own.

    What nobody expected is logged, once, with its traceback and the request's id, and masked.
    """
    logged: set[int] = set()
    return [_one(error, request_id, code, logged) for error in errors]


def _one(error: GraphQLError, request_id: str, code: str, logged: set[int]) -> dict[str, Any]:
    cause = cause_of(error)
    message, extensions = error.message, {"code": code, **(error.extensions or {})}
    if isinstance(cause, AppError):
        message, extensions = app_error(cause)
    elif isinstance(cause, Exception) and not isinstance(cause, StrawberryGraphQLError):
        message, extensions = INTERNAL, {"code": "INTERNAL_ERROR", "requestId": request_id}
        if id(cause) not in logged:
            logged.add(id(cause))
            log.error("unexpected error", path=error.path, exc_info=cause)
    answer: dict[str, Any] = {"message": message}
    if error.locations:
        answer["locations"] = [place.formatted for place in error.locations]
    if error.path is not None:
        answer["path"] = error.path
    return answer | {"extensions": extensions}


def outage(result: ExecutionResult) -> Unavailable | None:
    """Why a request was answered nothing at all, where that is because something behind us is away."""
    if not result.errors or any(value is not None for value in (result.data or {}).values()):
        return None
    causes = [cause_of(error) for error in result.errors]
    away = [cause for cause in causes if isinstance(cause, Unavailable)]
    return away[0] if len(away) == len(causes) else None


def cause_of(error: GraphQLError) -> Exception | None:
    """What was raised in the first place, however often graphql-core wrapped it."""
    found: Exception | None = error
    while isinstance(found, GraphQLError) and not isinstance(found, StrawberryGraphQLError):
        found = found.original_error
    return found
