"""GraphQL over HTTP: one endpoint, both media types, and GraphiQL for a browser."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import orjson
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from resolvers.core.context import Context, Transport
from resolvers.core.idempotency import key_of
from schema.core.errors import AppError, InvalidInput
from schema.graph import graphiql
from schema.graph.errors import INTERNAL, app_error
from schema.graph.requests import JSON, READS, BadRequestError, media_type, sent, wants_page
from schema.graph.server import Graph, QueryOnlyError

log = structlog.get_logger(__name__)
ContextOf: TypeAlias = Callable[[Request], Awaitable[Context]]
METHODS = {*READS, "POST"}
OK, BAD_REQUEST, UNAUTHORIZED, INTERNAL_SERVER_ERROR = 200, 400, 401, 500


class View:
    """The endpoint, an ASGI application.

    `context_of` builds what a request carries; an error of the catalogue that it raises (a bad token, too many requests)
    is the answer, under its status. `ide` serves GraphiQL to browsers.
    """

    def __init__(self, graph: Graph, context_of: ContextOf, *, ide: bool = False) -> None:
        self.graph = graph
        self.context_of = context_of
        self.ide = ide

    def routes(self, path: str = "/graphql") -> Sequence[BaseRoute]:
        """The routes to mount, with and without the trailing slash."""
        own = [Route(path, self), Route(f"{path}/", self)]
        return [*own, *graphiql.routes(path)] if self.ide else own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            return await self._answer(request)
        except BadRequestError as error:
            return _failed(request, error.status, str(error), {"code": error.code}, error.headers)
        except AppError as error:
            message, extensions = app_error(error)
            return _failed(request, error.status, message, extensions, _headers(error))
        except ClientDisconnect:
            raise
        except Exception:
            log.exception("unexpected error")
            told = {"code": "INTERNAL_ERROR", "requestId": _request_id(request)}
            return _failed(request, INTERNAL_SERVER_ERROR, INTERNAL, told)

    async def _answer(self, request: Request) -> Response:
        if request.method not in METHODS:
            raise BadRequestError("Use GET or POST.", 405, "METHOD_NOT_ALLOWED", Allow="GET, HEAD, POST")
        if self.ide and request.method in READS and wants_page(request):
            return graphiql.page(request.url.path)
        kind = media_type(request.headers.get("accept"))
        context = await self.context_of(request)
        context.transport = Transport.GRAPHQL
        key = _idempotency_key(request)
        asked = await sent(request)
        try:
            answer = await self.graph.answer(asked.asked, context, key=key, queries_only=request.method in READS)
        except QueryOnlyError:
            raise BadRequestError("Send mutations by POST.", 405, "METHOD_NOT_ALLOWED", Allow="POST") from None
        finally:
            await asked.close()
        if answer.kept is not None:
            replayed = {"Idempotent-Replayed": "true"} if answer.kept.replayed else {}
            return _response(answer.kept.answer.body, OK, kind, replayed)
        if answer.away is not None:
            return _response(answer.body, answer.away.status, kind, _headers(answer.away))
        # What was refused before it ran is 400 in GraphQL's own media type; plain JSON is 200 whatever it says.
        status = OK if answer.ran or kind == JSON else BAD_REQUEST
        return _response(answer.body, status, kind, {})


def _idempotency_key(request: Request) -> str | None:
    try:
        return key_of(request.scope["headers"])
    except InvalidInput as error:
        raise BadRequestError(error.problems[0].message) from None


def _failed(
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
