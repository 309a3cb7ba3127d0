"""The base class of endpoints. It checks a request in the order in which it can be refused."""

import datetime as dt
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote

import orjson
from starlette.requests import Request

from resolvers.core.caller import Transport
from resolvers.core.context import Context, RequestFailure
from resolvers.core.http_endpoint import ContextOf, HttpEndpoint
from resolvers.core.idempotency import StoredResponse, key_of
from rest_compat.http.body import report_unstorable
from rest_compat.http.errors import error_response, snake_case_path
from rest_compat.http.paths import PathValues
from rest_compat.http.responses import Header, RestResponse, StreamingRestResponse, json_response
from rest_compat.http.route import Deprecation, RestRoute
from schema.core.errors import AppError, InvalidInput, Problem, ProblemPath, Unauthenticated
from schema.core.permission import AccessRule

WRITES = frozenset({"POST", "PUT", "PATCH"})
FIRST_ERROR = 400
"""The lowest status of errors."""
AnyRestResponse: TypeAlias = RestResponse | StreamingRestResponse


class Endpoint(HttpEndpoint[AnyRestResponse]):
    """Handles the requests of one route. Everything that depends only on the route is computed at start."""

    transport = Transport.REST

    def __init__(self, route: RestRoute, context_of: ContextOf, values: PathValues) -> None:
        super().__init__(route.path, context_of)
        self.route = route
        self.operation_name = route.operation.name
        self.values = values
        self.public = route.operation.permission is AccessRule.PUBLIC

    async def answer(self, request: Request) -> AnyRestResponse:
        if self.public:  # a public route ignores tokens: an expired one must not fail
            headers = [header for header in request.scope["headers"] if header[0] != b"authorization"]
            request = Request({**request.scope, "headers": headers}, request.receive)
        context = await self.context_of(request)
        if context.caller is None and not self.public:
            raise Unauthenticated
        answer = await self.respond(request, context)
        if self.route.deprecated is not None:
            answer.headers.extend(self._deprecation(self.route.deprecated, request))
        return answer

    @abstractmethod
    async def respond(self, request: Request, context: Context) -> AnyRestResponse:
        """Build the response. Unless the route is public, the caller is authenticated."""

    def error_response(self, request: Request, error: AppError) -> RestResponse:  # noqa: ARG002
        """The response for an error, with the keys of this route."""
        return error_response(error, self.key_path_of)

    def internal_error_response(self, request: Request, request_id: str) -> RestResponse:  # noqa: ARG002
        """The response for an unexpected error."""
        detail = "Something went wrong on our side. Send us the request_id if it happens again."
        return json_response({"detail": detail, "request_id": request_id}, 500)

    def status_of(self, response: AnyRestResponse) -> int:
        """The HTTP status of a response."""
        return response.status

    def failures_of(self, request: Request, response: AnyRestResponse) -> Sequence[RequestFailure]:  # noqa: ARG002
        """The error in a stored response, such as that of a declined payment; empty for a success."""
        if response.status < FIRST_ERROR or isinstance(response, StreamingRestResponse):
            return ()
        told = orjson.loads(response.body)
        return (RequestFailure(str(told.get("code", "")).upper(), str(told.get("detail", ""))),)

    def failures_of_error(self, error: AppError) -> Sequence[RequestFailure]:
        """What the response for an error tells: its problems, with the keys of this route."""
        return [RequestFailure(p.code, str(p.message), field=self.key_path_of(p.path)) for p in error.problems]

    def path_texts(self, request: Request) -> Mapping[str, str]:
        """The values of the path parameters, as they were sent."""
        return dict(zip(self.values.names, request.scope["path_texts"], strict=True))

    def key_path_of(self, path: ProblemPath) -> ProblemPath:
        """Convert the path of an input field to the path of its REST key."""
        return snake_case_path(path)

    def path_values(self, request: Request, context: Context) -> Mapping[str, Any]:
        """The path parameters by name. Raises the route's not-found error for a value that cannot be an identifier."""
        read = self.values.read(request.scope["path_texts"])
        if read is None:
            context.require(self.route.operation.permission)  # a missing permission is reported before a missing row
            raise self.route.missing()
        return read

    def _deprecation(self, deprecated: Deprecation, request: Request) -> list[Header]:
        """The `Deprecation` and `Link` headers that point to the successor of this URL."""
        quoted = {name: quote(text) for name, text in self.path_texts(request).items()}
        successor = request.url.replace(path=deprecated.successor.format(**quoted), query="")
        since = dt.datetime.combine(deprecated.since, dt.time.min, dt.UTC)
        return [
            (b"deprecation", f"@{int(since.timestamp())}".encode()),
            (b"link", f'<{successor}>; rel="successor-version"'.encode("latin-1")),
        ]


def query_of(request: Request, known: Iterable[str]) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """The known query parameters, and a problem for each whose value cannot be stored."""
    if not request.scope["query_string"]:
        return {}, ()
    parameters = request.query_params
    query, wrong = report_unstorable({name: parameters[name] for name in known if name in parameters})
    return {name: text for name, text in query.items() if text is not None}, wrong


def stored_response(stored: StoredResponse) -> RestResponse:
    """The stored response, byte for byte."""
    return RestResponse(stored.body, stored.status, [(n.encode(), v.encode()) for n, v in stored.sent_headers])


def idempotency_key(request: Request) -> tuple[str | None, tuple[Problem, ...]]:
    """The `Idempotency-Key` of a request, or None; and the problems of an invalid key."""
    try:
        return key_of(request.scope["headers"]), ()
    except InvalidInput as error:
        return None, tuple(error.problems)
