"""What becomes of the errors of a request, whatever the transport."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Message
from structlog.testing import capture_logs

from resolvers.core.caller import Transport
from resolvers.core.context import Context, RequestFailure
from resolvers.core.http_endpoint import HttpEndpoint
from schema.core.errors import (
    AppError,
    IdempotencyInProgress,
    NotFound,
    OutcomeUnknown,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from schema.graph.errors import WrongMethod
from tests.rest_compat.things import SERVICES


class Plain(HttpEndpoint[PlainTextResponse]):
    """A transport that says everything in plain text."""

    transport = Transport.GRAPHQL

    def __init__(self, error: Exception | None = None) -> None:
        async def context_of(_request: Request) -> Context:
            if error is not None:
                raise error
            return Context(SERVICES)

        super().__init__("/plain", context_of)

    async def answer(self, request: Request) -> PlainTextResponse:
        return PlainTextResponse((await self.context_of(request)).transport)

    def error_response(self, request: Request, error: AppError) -> PlainTextResponse:
        return PlainTextResponse(str(error), error.status, error.headers)

    def internal_error_response(self, request: Request, request_id: str) -> PlainTextResponse:
        return PlainTextResponse(request_id, 500)

    def status_of(self, response: PlainTextResponse) -> int:
        return response.status_code

    def failures_of(self, request: Request, response: PlainTextResponse) -> Sequence[RequestFailure]:
        return ()

    def failures_of_error(self, error: AppError) -> Sequence[RequestFailure]:
        return (RequestFailure(error.code(), str(error)),)


async def messages_of(app: Plain) -> list[Message]:
    """What is sent for a request."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {"type": "http", "method": "GET", "headers": [], "state": {"request_id": "the-request"}}
    await app(scope, receive, send)
    return sent


async def test_the_context_tells_the_transport() -> None:
    start, body = await messages_of(Plain())
    assert (start["status"], body["body"]) == (200, b"graphql")


@pytest.mark.parametrize(
    ("error", "status", "headers"),
    [
        (Unauthenticated(), 401, {"WWW-Authenticate": "Token"}),
        (TooManyRequests(7), 429, {"Retry-After": "7"}),
        (Unavailable(what="The database"), 503, {"Retry-After": "5"}),
        (OutcomeUnknown(), 503, {"Retry-After": "5"}),
        (IdempotencyInProgress(), 409, {"Retry-After": "1"}),
        (WrongMethod("No.", allow="POST"), 405, {"Allow": "POST"}),
        (NotFound(thing="voucher"), 404, {}),
    ],
)
async def test_an_error_has_its_status_and_headers(error: AppError, status: int, headers: Mapping[str, str]) -> None:
    assert error.headers == headers
    with capture_logs() as logs:
        start, body = await messages_of(Plain(error))
    assert (start["status"], body["body"].decode()) == (status, str(error))
    assert {(name.lower().encode(), value.encode()) for name, value in headers.items()} <= set(start["headers"])
    assert logs == []


async def test_a_bug_is_logged_and_told_by_the_id_of_the_request() -> None:
    with capture_logs() as logs:
        start, body = await messages_of(Plain(RuntimeError("password=hunter2")))
    assert (start["status"], body["body"]) == (500, b"the-request")
    assert [(line["event"], line["route"], line["method"]) for line in logs] == [("a request failed", "/plain", "GET")]


async def test_a_client_that_has_left_gets_nothing() -> None:
    assert await messages_of(Plain(ClientDisconnect())) == []
