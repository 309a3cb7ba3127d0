"""The example schema behind its endpoint, for the tests of GraphQL over HTTP."""

from typing import Any

import httpx
import orjson
import strawberry
from starlette.applications import Starlette
from starlette.requests import Request

from resolvers.core.context import Context
from schema.core.errors import TooManyRequests, Unauthenticated
from schema.core.permission import Permission
from schema.graph.server import GraphQLServer
from schema.graph.view import GraphQLView
from store.database.db import Database
from tests.example_cards import context
from tests.schema.graph.example_schema import schema

JSON = "application/json"
RESPONSE = "application/graphql-response+json"


def application(
    db: Database | None, *, ide: bool = False, answering: strawberry.Schema = schema, **options: Any
) -> Starlette:
    """The endpoint; its callers are told by what the tests send as a token."""

    async def context_of(request: Request) -> Context:
        token = request.headers.get("authorization", "Token good").removeprefix("Token ")
        if token == "busy":
            raise TooManyRequests(7)
        if token == "crash":
            raise RuntimeError("password=hunter2")
        if token not in {"good", "reader"}:
            raise Unauthenticated
        permissions = [Permission.VIEW_GIFT_CARD] if token == "reader" else list(Permission)
        made = context(db, 1, *permissions)  # type: ignore[arg-type]  # those that need no database have none
        made.request_id = "the-request"
        return made

    return Starlette(routes=GraphQLView(GraphQLServer(answering, **options), context_of, ide=ide).routes())


class Client(httpx.AsyncClient):
    """Sends requests to an application in this process."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(transport=httpx.ASGITransport(app), base_url="http://graphql.test")

    async def ask(
        self, query: str, *, accept: str = RESPONSE, headers: dict[str, str] | None = None, **variables: Any
    ) -> httpx.Response:
        """Ask by POST, as clients do."""
        body = orjson.dumps({"query": query, "variables": variables})
        return await self.post(
            "/graphql/", content=body, headers={"content-type": JSON, "accept": accept, **(headers or {})}
        )
