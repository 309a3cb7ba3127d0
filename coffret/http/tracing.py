"""A trace span per request, named by its route template: paths contain codes, cart ids and webhook secrets."""

from typing import Any

from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coffret.http.hosts import all_routes
from store.core.telemetry import tracing

UNKNOWN_ROUTE = "{unknown}"
SERVER_ERRORS = 500


class TracingMiddleware:
    """Opens a span per request, as a child of the caller's span if it sends a `traceparent`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._templates: dict[Any, str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method = scope["method"]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        about = {"http.request.method": method, "coffret.request_id": scope["state"]["request_id"]}
        with tracing.request_span(method, headers, **about) as span:

            async def tell(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= SERVER_ERRORS:
                        span.set_attribute("error.type", str(message["status"]))
                await send(message)

            try:
                await self.app(scope, receive, tell)
            finally:
                template = self.route_template(scope)
                span.update_name(f"{method} {template}")
                span.set_attribute("http.route", template)

    def route_template(self, scope: Scope) -> str:
        """The path template of the route that a request matched."""
        if "rest" in scope:
            methods, _ = scope["rest"] or ({}, ())
            target = methods.get(scope["method"]) or next(iter(methods.values()), None)
            return UNKNOWN_ROUTE if target is None else str(target.route.path)
        if self._templates is None:
            routes = [route for route in all_routes(scope["app"].routes) if isinstance(route, Route)]
            self._templates = {route.endpoint: route.path for route in reversed(routes)}
        return self._templates.get(scope.get("endpoint"), UNKNOWN_ROUTE)
