"""What the HTTP transports share: the context of a request, and what becomes of its errors."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar, TypeAlias

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from resolvers.core.caller import Transport
from resolvers.core.context import Context
from schema.core.errors import AppError

ContextOf: TypeAlias = Callable[[Request], Awaitable[Context]]
"""Builds the context of a request. Raises Unauthenticated for an invalid token, TooManyRequests above the limit."""

log = structlog.get_logger(__name__)


class HttpEndpoint(ABC):
    """An ASGI application that answers requests.

    An `AppError` becomes a response with the status and the headers of its class. Any other error is logged and becomes
    a response with the request id. A client that has left gets none.
    """

    transport: ClassVar[Transport]

    def __init__(self, route: str, context_of: ContextOf) -> None:
        self._route = route
        self._context_of = context_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self.answer(request)
        except ClientDisconnect:
            return
        except AppError as error:
            response = self.error_response(request, error)
        except Exception:
            log.exception("a request failed", method=scope["method"], route=self._route)
            response = self.internal_error_response(request, scope.get("state", {}).get("request_id", ""))
        await response(scope, receive, send)

    async def context_of(self, request: Request) -> Context:
        """The context of a request over this transport."""
        context = await self._context_of(request)
        context.transport = self.transport
        return context

    @abstractmethod
    async def answer(self, request: Request) -> ASGIApp:
        """The response to a request."""

    @abstractmethod
    def error_response(self, request: Request, error: AppError) -> ASGIApp:
        """The response for an error."""

    @abstractmethod
    def internal_error_response(self, request: Request, request_id: str) -> ASGIApp:
        """The response for an unexpected error, whose cause is in the log under the same request id."""
