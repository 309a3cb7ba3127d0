"""The base class of endpoints. It checks a request in the order in which it can be refused."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.core.idempotency import StoredResponse, key_of
from rest_compat.http.errors import error_response, internal_error_response, snake_case_path
from rest_compat.http.path_values import PathValues
from rest_compat.http.responses import Header, RestResponse, StreamingRestResponse
from rest_compat.http.route import RestRoute
from rest_compat.http.storable import drop_unstorable
from schema.core.errors import AppError, InvalidInput, Problem, ProblemPath, Unauthenticated
from schema.core.permission import AccessRule

ContextOf: TypeAlias = Callable[[Request], Awaitable[Context]]

log = structlog.get_logger(__name__)

WRITES = frozenset({"POST", "PUT", "PATCH"})
REPLAYED: Header = (b"idempotent-replayed", b"true")


class Endpoint(ABC):
    """Handles the requests of one route. Everything that depends only on the route is computed at start."""

    def __init__(self, route: RestRoute, context_of: ContextOf, values: PathValues) -> None:
        self.route = route
        self.context_of = context_of
        self.values = values
        self.public = route.operation.permission is AccessRule.PUBLIC

    async def __call__(self, scope: Scope, receive: Receive, send: Send, path_parameters: Sequence[str]) -> None:
        """Answer a request with these values of its path parameters."""
        try:
            answer = await self._answer(scope, receive, path_parameters)
        except ClientDisconnect:
            return
        except AppError as error:
            answer = error_response(error, self.key_path_of)
        except Exception:
            log.exception("a request failed", method=scope["method"], route=self.route.path)
            answer = internal_error_response(scope.get("state", {}).get("request_id", ""))
        await answer.send(send, head=scope["method"] == "HEAD")

    async def _answer(
        self, scope: Scope, receive: Receive, path_parameters: Sequence[str]
    ) -> RestResponse | StreamingRestResponse:
        if self.public:  # a public route ignores tokens: an expired one must not fail
            headers = [header for header in scope["headers"] if header[0] != b"authorization"]
            scope = {**scope, "headers": headers}
        request = Request(scope, receive)
        context = await self.context_of(request)
        context.transport = Transport.REST
        if context.caller is None and not self.public:
            raise Unauthenticated
        answer = await self.answer(request, context, path_parameters)
        if self.route.deprecated is not None:
            answer.headers.extend(self.values.deprecation(self.route.deprecated, request, path_parameters))
        return answer

    @abstractmethod
    async def answer(
        self, request: Request, context: Context, path_parameters: Sequence[str]
    ) -> RestResponse | StreamingRestResponse:
        """Build the response. Unless the route is public, the caller is authenticated."""

    def key_path_of(self, path: ProblemPath) -> ProblemPath:
        """Convert the path of an input field to the path of its REST key."""
        return snake_case_path(path)

    def path_values(self, context: Context, parameters: Sequence[str]) -> Mapping[str, Any]:
        """The path parameters by name. Raises the route's not-found error for a value that cannot be an identifier."""
        if not parameters:
            return {}
        read = self.values.read(parameters)
        if read is None:
            context.require(self.route.operation.permission)  # a missing permission is reported before a missing row
            raise self.route.missing()
        return read


def query_of(request: Request, known: Iterable[str]) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """The known query parameters, and a problem for each whose value cannot be stored."""
    if not request.scope["query_string"]:
        return {}, ()
    parameters = request.query_params
    query, wrong = drop_unstorable({name: parameters[name] for name in known if name in parameters})
    return {name: text for name, text in query.items() if text is not None}, wrong


def stored_response(stored: StoredResponse) -> RestResponse:
    """The stored response, byte for byte."""
    headers = [(name.encode(), value.encode()) for name, value in stored.headers]
    return RestResponse(stored.body, stored.status, [*headers, REPLAYED] if stored.replayed else headers)


def idempotency_key(request: Request) -> tuple[str | None, tuple[Problem, ...]]:
    """The `Idempotency-Key` of a request, or None; and the problems of an invalid key."""
    try:
        return key_of(request.scope["headers"]), ()
    except InvalidInput as error:
        return None, tuple(error.problems)
