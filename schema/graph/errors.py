"""Errors in GraphQL: those of the catalogue and those of the client have a code; all others are logged and masked."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog
from graphql import ExecutionResult, GraphQLError
from strawberry.exceptions import StrawberryGraphQLError
from strawberry.utils.str_converters import to_camel_case

from schema.core.errors import AppError, InvalidInput, Problem, ProblemPath, Unavailable
from schema.core.message_names import MessageWording, PublishedName

log = structlog.get_logger(__name__)

INTERNAL_MESSAGE = "An unexpected error occurred."
BAD_USER_INPUT = "BAD_USER_INPUT"


class BadRequest(AppError):
    """{reason}"""

    is_user_error = False


class WrongMethod(AppError):
    """{reason}"""

    status = 405
    is_user_error = False

    def __init__(self, reason: str, *, allow: str) -> None:
        super().__init__(reason=reason)
        self.allow = allow

    @classmethod
    def code(cls) -> str:
        return "METHOD_NOT_ALLOWED"

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Allow": self.allow}


class NotAcceptable(AppError):
    """Answers are application/graphql-response+json or application/json: accept one of them."""

    status = 406
    is_user_error = False


def _name(name: PublishedName) -> str:
    return name.name if isinstance(name, enum.Enum) else to_camel_case(name)


ENGLISH = MessageWording(_name)
"""The messages of the API: English, with names as in the schema."""


def field_of(path: ProblemPath) -> list[str]:
    """The path of a problem in the names of the schema, without `input`: `["items", "0", "productId"]`."""
    steps = [str(step) if isinstance(step, int) else to_camel_case(step) for step in path]
    return steps[1:] if steps[:1] == ["input"] else steps


def format_app_error(error: AppError, wording: MessageWording = ENGLISH) -> tuple[str, dict[str, Any]]:
    """The message and the extensions of an `AppError`."""
    extensions: dict[str, Any] = {"code": error.code()}
    message = wording.word(error.message)
    if isinstance(error, InvalidInput):
        message = " ".join(wording.word(problem.message) for problem in error.problems)
        extensions["code"] = BAD_USER_INPUT
        extensions["problems"] = [_format_problem(problem, wording) for problem in error.problems]
    if error.retry_after is not None:
        extensions["retryAfter"] = error.retry_after
    return message, extensions


def _format_problem(problem: Problem, wording: MessageWording) -> dict[str, Any]:
    return {"field": field_of(problem.path), "code": problem.code, "message": wording.word(problem.message)}


def format_errors(
    errors: Iterable[GraphQLError], request_id: str, code: str, wording: MessageWording = ENGLISH
) -> Sequence[dict[str, Any]]:
    """The errors of a response. `code` is for client errors that have no code.

    Unexpected errors are masked, and logged once with their traceback and the request id.
    """
    logged: set[int] = set()
    return [_format_error(error, request_id, code, logged, wording) for error in errors]


def _format_error(
    error: GraphQLError, request_id: str, code: str, logged: set[int], wording: MessageWording
) -> dict[str, Any]:
    cause = cause_of(error)
    message, extensions = error.message, {"code": code, **(error.extensions or {})}
    if isinstance(cause, AppError):
        message, extensions = format_app_error(cause, wording)
    elif isinstance(cause, Exception) and not isinstance(cause, StrawberryGraphQLError):
        message, extensions = INTERNAL_MESSAGE, {"code": "INTERNAL_ERROR", "requestId": request_id}
        if id(cause) not in logged:
            logged.add(id(cause))
            log.error("unexpected error", path=error.path, exc_info=cause)
    answer: dict[str, Any] = {"message": message}
    if error.locations:
        answer["locations"] = [place.formatted for place in error.locations]
    if error.path is not None:
        answer["path"] = error.path
    return answer | {"extensions": extensions}


def find_outage(result: ExecutionResult) -> Unavailable | None:
    """The dependency error of a response without any data, if all its errors are dependency errors; else None."""
    if not result.errors or any(value is not None for value in (result.data or {}).values()):
        return None
    causes = [cause_of(error) for error in result.errors]
    away = [cause for cause in causes if isinstance(cause, Unavailable)]
    return away[0] if len(away) == len(causes) else None


def cause_of(error: GraphQLError) -> Exception | None:
    """The original exception, without the wrappers of graphql-core."""
    found: Exception | None = error
    while isinstance(found, GraphQLError) and not isinstance(found, StrawberryGraphQLError):
        found = found.original_error
    return found
