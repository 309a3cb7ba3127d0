"""GraphQL over HTTP: one endpoint, two media types, and GraphiQL for browsers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import orjson
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.core.idempotency import key_of
from schema.core.errors import AppError, InvalidInput
from schema.graph import graphiql
from schema.graph.errors import INTERNAL_MESSAGE, format_app_error
from schema.graph.requests import JSON, READ_METHODS, BadRequestError, media_type, read_request, wants_html
from schema.graph.server import GraphQLServer, QueryOnlyError

log = structlog.get_logger(__name__)
BuildContext: TypeAlias = Callable[[Request], Awaitable[Context]]
METHODS = {*READ_METHODS, "POST"}
OK, BAD_REQUEST, UNAUTHORIZED, INTERNAL_SERVER_ERROR = 200, 400, 401, 500


class GraphQLView:
    """The endpoint, an ASGI application.

    `context_of` builds the context of a request. An `AppError` that it raises (an invalid token, too many requests)
    becomes the response, with its status. `ide` serves GraphiQL to browsers.
    """

    def __init__(self, graph: GraphQLServer, context_of: BuildContext, *, ide: bool = False) -> None:
        self.graph = graph
        self.build_context = context_of
        self.ide = ide

    def routes(self, path: str = "/graphql") -> Sequence[BaseRoute]:
        """The routes to mount, with and without the trailing slash."""
        own = [Route(path, self), Route(f"{path}/", self)]
        return [*own, *graphiql.routes(path)] if self.ide else own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            return await self._respond_to_valid(request)
        except BadRequestError as error:
            return _error_response(request, error.status, str(error), {"code": error.code}, error.headers)
        except AppError as error:
            message, extensions = format_app_error(error)
            return _error_response(request, error.status, message, extensions, _headers(error))
        except ClientDisconnect:
            raise
        except Exception:
            log.exception("unexpected error")
            told = {"code": "INTERNAL_ERROR", "requestId": _request_id(request)}
            return _error_response(request, INTERNAL_SERVER_ERROR, INTERNAL_MESSAGE, told)

    async def _respond_to_valid(self, request: Request) -> Response:
        if request.method not in METHODS:
            raise BadRequestError("Use GET or POST.", 405, "METHOD_NOT_ALLOWED", Allow="GET, HEAD, POST")
        if self.ide and request.method in READ_METHODS and wants_html(request):
            return graphiql.page(request.url.path)
        kind = media_type(request.headers.get("accept"))
        context = await self.build_context(request)
        context.transport = Transport.GRAPHQL
        key = _idempotency_key(request)
        asked = await read_request(request)
        try:
            answer = await self.graph.execute(
                asked.graphql, context, idempotency_key=key, queries_only=request.method in READ_METHODS
            )
        except QueryOnlyError:
            raise BadRequestError("Send mutations by POST.", 405, "METHOD_NOT_ALLOWED", Allow="POST") from None
        finally:
            await asked.close()
        if answer.stored_response is not None:
            replayed = {"Idempotent-Replayed": "true"} if answer.stored_response.replayed else {}
            return _response(answer.stored_response.body, OK, kind, replayed)
        if answer.unavailable is not None:
            return _response(answer.body, answer.unavailable.status, kind, _headers(answer.unavailable))
        # GraphQL over HTTP: a request refused before it ran is 400 in GraphQL's own media type, and 200 in plain JSON.
        status = OK if answer.was_executed or kind == JSON else BAD_REQUEST
        return _response(answer.body, status, kind, {})


def _idempotency_key(request: Request) -> str | None:
    try:
        return key_of(request.scope["headers"])
    except InvalidInput as error:
        raise BadRequestError(error.problems[0].message) from None


def _error_response(
    request: Request,
    status: int,
    message: str,
    extensions: Mapping[str, Any],
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    try:
        kind = media_type(request.headers.get("accept"))
    except BadRequestError:
        kind = JSON
    return _response({"errors": [{"message": message, "extensions": extensions}]}, status, kind, headers)


def _response(body: Any, status: int, kind: str, headers: Mapping[str, str]) -> Response:
    sent_headers = {"content-type": f"{kind}; charset=utf-8", "cache-control": "no-store", **headers}
    return Response(body if isinstance(body, bytes) else orjson.dumps(body), status, sent_headers)


def _headers(error: AppError) -> Mapping[str, str]:
    if error.status == UNAUTHORIZED:
        return {"WWW-Authenticate": "Token"}
    seconds = getattr(error, "retry_after", None)
    return {} if seconds is None else {"Retry-After": str(seconds)}


def _request_id(request: Request) -> str:
    return str(getattr(request.state, "request_id", ""))
