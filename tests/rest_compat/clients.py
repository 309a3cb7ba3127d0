"""Applications of REST routes in this process, and clients of them."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp

from coffret.http.middleware import RequestId
from resolvers.core.context import Context
from resolvers.core.services import Services
from rest_compat.http.route import RestRoute
from rest_compat.openapi.reference import Reference
from rest_compat.router import RestRouter, endpoint
from store.core.clock import clock
from store.core.settings import Settings
from store.database.db import Database
from tests.described import HELD


def client_of(app: ASGIApp, token: str | None = None) -> httpx.AsyncClient:
    """A client of an application in this process. What the documented routes answer is held to the description."""
    headers = {} if token is None else {"Authorization": f"Token {token}"}
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=headers, event_hooks=HELD)


def made_up(routes: Sequence[RestRoute], context: Callable[[], Context]) -> Starlette:
    """An application of these routes, all of whose requests have this context."""

    async def of(request: Request) -> Context:
        made = context()
        made.request_id = request.state.request_id
        return made

    return Starlette(
        routes=[RestRouter([(route, endpoint(route, of)) for route in routes])], middleware=[Middleware(RequestId)]
    )


def made_up_words(route: RestRoute) -> Reference:
    """Words for a route that the documentation does not know."""
    name = "_".join([route.verbs[0].lower(), *(segment.strip("{}") for segment in route.path.strip("/").split("/"))])
    return Reference(
        id=name, title=f"Title of {name}", text="What it does.", kind="query", field="me", graphql="{ me }"
    )


def services_with(**parts: Any) -> Services:
    """What a process holds, as far as a test needs it. Where it brings no database, there is one that is away."""
    held: dict[str, Any] = {part.name: None for part in dataclasses.fields(Services) if part.init}
    away = Database("postgresql://nobody@127.0.0.1:1/none")
    return Services(**(held | {"settings": Settings(), "clock": clock, "db": away} | parts))
