"""What the HTTP transports share: the context of a request, what becomes of its errors, and their record."""

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Generic, TypeAlias, TypeVar

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from resolvers.core.caller import Transport
from resolvers.core.context import MOST_FAILURES, Context, RequestFailure
from resolvers.core.request_log import LONGEST_TEXT, FailedRequest
from schema.core.errors import AppError

ContextOf: TypeAlias = Callable[[Request], Awaitable[Context]]
"""Builds the context of a request. Raises Unauthenticated for an invalid token, TooManyRequests above the limit."""

log = structlog.get_logger(__name__)
R = TypeVar("R", bound=ASGIApp)
"""The responses of a transport."""
INTERNAL_ERROR = RequestFailure("INTERNAL_ERROR", "An unexpected error occurred.")


class HttpEndpoint(ABC, Generic[R]):
    """An ASGI application that answers requests. What it refuses, and what fails, is recorded in the API log.

    An `AppError` becomes a response with the status and the headers of its class. Any other error is logged and becomes
    a response with the request id. A client that has left gets none.
    """

    transport: ClassVar[Transport]

    operation_name: str = ""
    """The operation that answers every request; empty if requests name theirs."""

    def __init__(self, route: str, context_of: ContextOf) -> None:
        self._route = route
        self._context_of = context_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, begun = Request(scope, receive), time.perf_counter()
        try:
            response = await self.answer(request)
            failures = self.failures_of(request, response)
        except ClientDisconnect:
            return
        except AppError as error:
            response, failures = self.error_response(request, error), self.failures_of_error(error)
        except Exception:
            log.exception("a request failed", method=scope["method"], route=self._route)
            response = self.internal_error_response(request, scope.get("state", {}).get("request_id", ""))
            failures = (INTERNAL_ERROR,)
        if failures:
            self._record(request, self.status_of(response), failures, round(1000 * (time.perf_counter() - begun)))
        await response(scope, receive, send)

    async def context_of(self, request: Request) -> Context:
        """The context of a request over this transport."""
        context = await self._context_of(request)
        context.transport = self.transport
        return context

    def _record(self, request: Request, status: int, failures: Sequence[RequestFailure], duration_ms: int) -> None:
        """Queue a request for the API log, unless it was refused before anybody looked at its token."""
        scope = request.scope
        context: Context | None = scope.get("state", {}).get("context")
        if context is None:
            return
        failed = FailedRequest(
            occurred_on=context.services.clock.now(),
            request_id=context.request_id,
            caller=context.caller,
            transport=self.transport,
            method=scope["method"],
            path=self._route,
            path_values={name: value[:LONGEST_TEXT] for name, value in self.path_texts(request).items()},
            query=scope["query_string"][:LONGEST_TEXT],
            operation=self.operation_name,
            status=status,
            failures=failures[:MOST_FAILURES],
            duration_ms=duration_ms,
            client=context.user_agent[:LONGEST_TEXT],
            address=context.address,
        )
        user_id = None if context.caller is None else context.caller.user_id
        context.services.api_log.put(user_id, failed.to_bytes, failed.size)

    @abstractmethod
    async def answer(self, request: Request) -> R:
        """The response to a request."""

    @abstractmethod
    def error_response(self, request: Request, error: AppError) -> R:
        """The response for an error."""

    @abstractmethod
    def internal_error_response(self, request: Request, request_id: str) -> R:
        """The response for an unexpected error, whose cause is in the log under the same request id."""

    @abstractmethod
    def status_of(self, response: R) -> int:
        """The HTTP status of a response."""

    @abstractmethod
    def failures_of(self, request: Request, response: R) -> Sequence[RequestFailure]:
        """The errors in a response to a request that raised none; empty for a success."""

    @abstractmethod
    def failures_of_error(self, error: AppError) -> Sequence[RequestFailure]:
        """What the response for an error tells."""

    def path_texts(self, request: Request) -> Mapping[str, str]:  # noqa: ARG002 - of routes with parameters
        """The values of the route's path parameters, as they were sent."""
        return {}
