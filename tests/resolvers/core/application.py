"""The operations to repeat behind both transports, and whoever asks for them.

`python -m tests.resolvers.core.application ADDRESS TOKEN TRANSPORT OPERATION FIELDS KEY` sends one request from a process of its
own. What the operation waits for never comes there: it prints "waiting" and stays until it is killed.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import strawberry
from sqlalchemy import func, table
from sqlmodel import select
from starlette.applications import Starlette
from starlette.middleware import Middleware

from coffret.app import context_of
from coffret.http.middleware import RequestId
from coffret.services import Container
from resolvers.core.authentication import Authenticator
from resolvers.core.services import Services
from rest_compat.http.body import Accepts
from rest_compat.http.route import RestRoute
from rest_compat.router import RestRouter, endpoint
from rest_compat.shapes.keys import decimal_string
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.graph.fields import mutation_field, query_field
from schema.graph.schema import build_schema
from schema.graph.server import GraphQLServer
from schema.graph.view import GraphQLView
from schema.product.product import AttributeValue, Product, ProductAttribute
from store.cart.carts import Carts
from store.core.clock import clock
from store.database.db import Database
from store.kv import open_kv
from tests.resolvers.core import idempotent_operations
from tests.resolvers.core.idempotent_operations import (
    Greeting,
    Remittance,
    begin_anew,
    greet,
    how_many,
    make_thing,
    send_money,
    take_picture,
)
from tests.rest_compat.clients import services_with
from tests.rest_compat.conftest import fill_database

VALUE = ResourceShape("Value", AttributeValue, {"id": "id", "value": "value"})
ATTRIBUTE = ResourceShape("Attribute", ProductAttribute, {"id": "id", "values": Nested("values", VALUE)})
THING = ResourceShape(
    "Thing",
    Product,
    {
        "id": "id",
        "name": "name.en",
        "price": decimal_string("price.amount"),
        "weight": "weight_grams",
        "made": "created_on",
        "attributes": Nested("attributes", ATTRIBUTE),
    },
)
ROUTES = [
    RestRoute("POST", "/api/things/", make_thing, THING, status=201),
    RestRoute("PATCH|PUT", "/api/things/{name}/", make_thing, THING),
    RestRoute(
        "POST",
        "/api/money/",
        send_money,
        ResourceShape("Remittance", Remittance, {n: n for n in ("id", "cents", "state")}),
    ),
    RestRoute("POST", "/api/greetings/", greet, ResourceShape("Greeting", Greeting, {"words": "words"})),
    RestRoute("POST", "/api/pictures/", take_picture, THING, accepts=Accepts.UPLOAD),
]


@strawberry.type
class Query:
    """What can be asked."""

    how_many = query_field(how_many)


@strawberry.type
class Mutation:
    """What can be done."""

    make_thing = mutation_field(make_thing)
    send_money = mutation_field(send_money)
    greet = mutation_field(greet)
    take_picture = mutation_field(take_picture)


schema = build_schema(Query, Mutation)
PRODUCT = (
    "product { id name { en } price { amount } weightGrams ranking createdOn attributes { id values { id value } } }"
)
PATHS = {"make": "/api/things/", "send": "/api/money/", "greet": "/api/greetings/", "picture": "/api/pictures/"}
DOCUMENTS = {
    "make": f"mutation ($input: MakeThingInput!) {{ makeThing(input: $input) {{ {PRODUCT} ERRORS }} }}",
    "send": "mutation ($input: SendMoneyInput!) { sendMoney(input: $input) { remittance { id cents state } ERRORS } }",
    "greet": "mutation ($input: GreetInput!) { greet(input: $input) { greeting { words } ERRORS } }",
    "picture": f"mutation ($input: PictureInput!) {{ takePicture(input: $input) {{ {PRODUCT} ERRORS }} }}",
}


def build_application(services: Services) -> Starlette:
    """Both transports over these services."""
    rest = RestRouter([(route, endpoint(route, context_of)) for route in ROUTES])
    app = Starlette(
        routes=[rest, *GraphQLView(GraphQLServer(schema), context_of).routes()], middleware=[Middleware(RequestId)]
    )
    app.state.container = Container(services, None)
    return app


def services_over(db: Database) -> Services:
    """What a process holds."""
    kv = open_kv("", clock)
    return services_with(db=db, kv=kv, carts=Carts(kv), authenticator=Authenticator(db, clock))


@dataclass
class Asker:
    """Sends requests over one of the transports, and says what came of them in the same words."""

    transport: str
    client: httpx.AsyncClient
    token: str

    async def __call__(
        self, operation: str, fields: Mapping[str, Any], key: str | None = None, token: str | None = None, **more: Any
    ) -> httpx.Response:
        """Ask for an operation."""
        headers = {"Authorization": f"Token {token or self.token}"} | ({} if key is None else {"Idempotency-Key": key})
        if self.transport == "rest":
            return await self.client.post(PATHS[operation], json=fields, headers=headers, **more)
        query = DOCUMENTS[operation].replace("ERRORS", "userErrors { code }")
        body = {"query": query, "variables": {"input": fields}}
        return await self.client.post("/graphql/", json=body, headers=headers, **more)

    async def picture(self, name: str, file: bytes, key: str, **named: str) -> httpx.Response:
        """Upload a picture."""
        headers = {"Authorization": f"Token {self.token}", "Idempotency-Key": key}
        part = (named.get("filename", "a.png"), file, named.get("kind", "image/png"))
        if self.transport == "rest":
            return await self.client.post("/api/pictures/", data={"name": name}, files={"file": part}, headers=headers)
        query = DOCUMENTS["picture"].replace("ERRORS", "userErrors { code }")
        operations = {"query": query, "variables": {"input": {"name": name, "file": None}}}
        data = {"operations": json.dumps(operations), "map": json.dumps({"0": ["variables.input.file"]})}
        return await self.client.post("/graphql/", data=data, files={"0": part}, headers=headers)

    def code(self, response: httpx.Response) -> str:
        """What came of a request: `DONE`, or the code of what went wrong."""
        body = response.json()
        if self.transport == "rest":
            if response.is_success:
                return "DONE"
            by_status = {400: "INVALID", 403: "FORBIDDEN", 404: "NOT_FOUND", 500: "INTERNAL_ERROR"}
            return str(body.get("code", by_status.get(response.status_code))).upper()
        if errors := body.get("errors"):
            return str(errors[0]["extensions"]["code"])
        ((_, payload),) = body["data"].items()
        return str(payload["userErrors"][0]["code"]) if payload["userErrors"] else "DONE"


def replayed(response: httpx.Response) -> bool:
    """Whether an answer was given before."""
    return "Idempotent-Replayed" in response.headers


async def prepared(db: Database) -> dict[str, Any]:
    """Two partners and their tokens, in a database with the tables of `idempotent_operations`. Nothing ran, and nobody waits."""
    begin_anew()
    return await fill_database(services_over(db))


async def count_rows(db: Database) -> dict[str, int]:
    """How much there is of everything."""
    tables = ("product", "product_attribute", "attribute_value", "test_remittance", "kept_answer", "audit_entry")
    return {name: (await db.rows(select(func.count()).select_from(table(name))))[0][0] for name in tables}


LAMP = {"name": "Lamp"}
OPERATIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "make": (LAMP, {"name": "Chair"}),
    "send": ({"cents": 500}, {"cents": 501}),
    "greet": ({"name": "Ada"}, {"name": "Eve"}),
}
"""Of each kind of operation two requests."""


@dataclass
class Application:
    """A transport, and what is behind it."""

    ask: Asker
    db: Database
    other_token: str
    url: str

    @property
    def code(self) -> Any:
        """What came of a response."""
        return self.ask.code

    async def count(self) -> dict[str, int]:
        """How much there is."""
        return await count_rows(self.db)


@contextlib.asynccontextmanager
async def open_application(transport: str, db: Database, url: str) -> AsyncIterator[Application]:
    """Two partners, asking over a transport."""
    found = await prepared(db)
    app = httpx.ASGITransport(build_application(services_over(db)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=app, base_url="http://api.test") as client:
        yield Application(Asker(transport, client, found["token"]), db, found["other_token"], url)


async def _killed(address: str, token: str, transport: str, operation: str, fields: str, key: str) -> None:
    db = Database(address)

    async def announce_waiting() -> None:
        await idempotent_operations.turns.here.wait()
        sys.stdout.write("waiting\n")
        sys.stdout.flush()

    app = build_application(services_over(db))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        asking = Asker(transport, client, token)(operation, json.loads(fields), key)
        await asyncio.gather(asking, announce_waiting())


if __name__ == "__main__":
    asyncio.run(_killed(*sys.argv[1:]))
