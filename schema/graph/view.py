"""GraphQL over HTTP: one endpoint, two media types, and GraphiQL for browsers."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from resolvers.core.caller import Transport
from resolvers.core.context import RequestFailure
from resolvers.core.http_endpoint import ContextOf, HttpEndpoint
from resolvers.core.idempotency import key_of
from schema.core.errors import AppError, InvalidInput
from schema.graph import graphiql
from schema.graph.errors import INTERNAL_MESSAGE, BadRequest, NotAcceptable, WrongMethod, format_app_error
from schema.graph.requests import READ_METHODS, media_type, read_request, wants_html
from schema.graph.server import GraphQLServer
from store.core.request_body import APPLICATION_JSON

METHODS = {*READ_METHODS, "POST"}
BAD_REQUEST, INTERNAL_SERVER_ERROR = 400, 500


class GraphQLView(HttpEndpoint[Response]):
    """The endpoint. `ide` serves GraphiQL to browsers."""

    transport = Transport.GRAPHQL

    def __init__(self, graph: GraphQLServer, context_of: ContextOf, *, ide: bool = False) -> None:
        super().__init__("/graphql", context_of)
        self.graph = graph
        self.ide = ide

    def routes(self, path: str = "/graphql") -> Sequence[BaseRoute]:
        """The routes to mount, with and without the trailing slash."""
        own = [Route(path, self), Route(f"{path}/", self)]
        return [*own, *graphiql.routes(path)] if self.ide else own

    async def answer(self, request: Request) -> Response:
        if request.method not in METHODS:
            raise WrongMethod("Use GET or POST.", allow="GET, HEAD, POST")
        if self.ide and request.method in READ_METHODS and wants_html(request):
            return graphiql.page(request.url.path)
        kind = media_type(request.headers.get("accept"))
        context = await self.context_of(request)
        key = _idempotency_key(request)
        asked = await read_request(request)
        try:
            answer = await self.graph.execute(
                asked.graphql, context, idempotency_key=key, queries_only=request.method in READ_METHODS
            )
        finally:
            await asked.close()
        # GraphQL over HTTP: a request refused before it ran is 400 in GraphQL's own media type, and 200 in plain JSON.
        is_refused = not answer.was_executed and kind != APPLICATION_JSON
        return _response(answer.body, BAD_REQUEST if is_refused else answer.status, kind, answer.headers)

    def error_response(self, request: Request, error: AppError) -> Response:
        """The response for an error of the whole request."""
        return _error_response(request, error.status, *format_app_error(error), error.headers)

    def internal_error_response(self, request: Request, request_id: str) -> Response:
        """The response for an unexpected error."""
        extensions = {"code": "INTERNAL_ERROR", "requestId": request_id}
        return _error_response(request, INTERNAL_SERVER_ERROR, INTERNAL_MESSAGE, extensions, {})

    def status_of(self, response: Response) -> int:
        """The HTTP status of a response."""
        return response.status_code

    def failures_of(self, request: Request, response: Response) -> Sequence[RequestFailure]:  # noqa: ARG002
        """The `errors` and `userErrors` of a response; empty for a success."""
        context = request.scope.get("state", {}).get("context")
        return () if context is None else context.failures

    def failures_of_error(self, error: AppError) -> Sequence[RequestFailure]:
        """What the response for an error tells."""
        message, extensions = format_app_error(error)
        return (RequestFailure(extensions["code"], message),)


def _idempotency_key(request: Request) -> str | None:
    try:
        return key_of(request.scope["headers"])
    except InvalidInput as error:
        raise BadRequest(reason=error.problems[0].message) from None


def _error_response(
    request: Request,
    status: int,
    message: str,
    extensions: Mapping[str, Any],
    headers: Mapping[str, str],
) -> Response:
    try:
        kind = media_type(request.headers.get("accept"))
    except NotAcceptable:
        kind = APPLICATION_JSON
    return _response({"errors": [{"message": message, "extensions": extensions}]}, status, kind, headers)


def _response(body: Any, status: int, kind: str, headers: Mapping[str, str]) -> Response:
    sent_headers = {"content-type": f"{kind}; charset=utf-8", "cache-control": "no-store", **headers}
    return Response(body if isinstance(body, bytes) else orjson.dumps(body), status, sent_headers)
