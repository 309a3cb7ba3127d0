"""Operations to repeat, behind both transports: of one transaction, of several around a call to somebody else, of none.

`python -m tests.resolvers.once_world ADDRESS TOKEN TRANSPORT OPERATION FIELDS KEY` sends one request from a process of its
own. What the operation waits for never comes there: it prints "waiting" and stays until it is killed.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import httpx
import strawberry
from sqlalchemy import MetaData, func, table
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from strawberry.file_uploads import Upload

from coffret.app import context_of
from coffret.middleware import RequestId
from coffret.services import House
from resolvers.callers import Callers
from resolvers.context import Services
from resolvers.operation import Call, operation
from rest_compat.body import Accepts
from rest_compat.keys import Nested, decimal_string
from rest_compat.route import Route
from rest_compat.routes import RestRoutes, endpoint
from rest_compat.shapes import Shape
from schema.errors import NotFound, OutOfStock, PaymentDeclined, ProviderTimedOut
from schema.graph.fields import answered_by, changed_by
from schema.graph.schema import schema_of
from schema.graph.server import Graph
from schema.graph.view import View
from schema.permission import Permission
from schema.product import AttributeValue, Product, ProductAttribute
from schema.values import Fields, Text, writable
from store.carts import Carts
from store.clock import clock
from store.db import Database
from store.kv import open_kv
from store.products import AttributeValueRow, ProductAttributeRow, ProductRow
from tests.rest_compat.conftest import filled, services_with

METADATA = MetaData()


class Own(Fields):
    """The base of tables that only these tests have."""

    metadata = METADATA


@dataclass
class Turns:
    """Where operations wait for a test: `here` tells that one does, `go` lets it go on."""

    here: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> None:
        """Wait for `go`."""
        self.here.set()
        await self.go.wait()


turns = Turns()
ran: list[str] = []
"""What ran, in order."""


async def come_to(outcome: str) -> None:
    """End as the input wants."""
    match outcome:
        case "wait":
            await turns.wait()
        case "refused":
            raise OutOfStock
        case "missing":
            raise NotFound(thing="thing")
        case "declined":
            raise PaymentDeclined
        case "bug":
            raise RuntimeError("password=hunter2")


# ---- one transaction


@writable
class MakeThing(Fields):
    """A thing to make."""

    name: str = Field(description="Its name.", min_length=1)
    outcome: str = Field(default="", description="How it is to end.")


@operation(Permission.MANAGE_CATALOGUE)
async def make_thing(call: Call, input: MakeThing) -> Product:
    """Make a product with an attribute of two values."""
    ran.append(f"make {input.name}")
    owner = call.caller.partner_id
    assert owner is not None
    row = ProductRow(partner_id=owner, name=Text(en=input.name), description=Text(), price_amount=Decimal("1.50"))
    call.db.add(row)
    await call.db.flush()
    attribute = ProductAttributeRow(partner_id=owner, product_id=row.id, name=Text(en="Colour"))
    call.db.add(attribute)
    await call.db.flush()
    for value in ("red", "blue"):  # not flushed: that is left to who commits
        call.db.add(AttributeValueRow(partner_id=owner, attribute_id=attribute.id, value=value, label=Text(en=value)))
    await come_to(input.outcome)
    if input.outcome == "unwritable":
        await call.db.flush()
        call.db.expunge(row)
        row.price_amount = row.ranking = object()  # type: ignore[assignment]
    return row


# ---- several transactions, around a call to somebody else


class TransferRow(Own, table=True):
    """Money to send: written down before anybody is asked, one for a request."""

    __tablename__ = "test_transfer"
    id: int = Field(default=None, primary_key=True)
    request: uuid.UUID = Field(unique=True)
    provider_key: uuid.UUID
    cents: int
    state: str = "begun"


@strawberry.type(description="Money that was sent.")
class Transfer:
    """Money that was sent."""

    id: int = strawberry.field(description="Its id.")
    cents: int = strawberry.field(description="How much.")
    state: str = strawberry.field(description="How it ended.")


@dataclass
class Provider:
    """Somebody else, who does what has one key once."""

    sent: dict[uuid.UUID, int] = field(default_factory=dict)
    calls: int = 0
    lose_answers: int = 0

    async def send(self, key: uuid.UUID, cents: int) -> None:
        """Send money; PaymentDeclined for thirteen, ProviderTimedOut when the answer gets lost."""
        self.calls += 1
        if cents == 13:
            raise PaymentDeclined
        self.sent[key] = cents
        if self.lose_answers:
            self.lose_answers -= 1
            raise ProviderTimedOut


provider = Provider()


@writable
class SendMoney(Fields):
    """Money to send."""

    cents: int = Field(description="How much.")
    outcome: str = Field(default="", description="How it is to end.")


@operation(Permission.CREATE_PAYMENT, transaction=False)
async def send_money(call: Call, input: SendMoney) -> Transfer:
    """Send money, once for a request however often it is repeated."""
    ran.append(f"send {input.cents}")
    sessions, request = call.services.db.sessions, call.request or uuid.uuid4()
    async with sessions() as db, db.begin():
        row = await _transfer(db, request)
        if row is None:
            row = TransferRow(request=request, provider_key=uuid.uuid4(), cents=input.cents)
            db.add(row)
    if row.state == "begun":
        try:
            await provider.send(row.provider_key, row.cents)
        except PaymentDeclined as declined:
            await _end(call, row.request, "declined", declined)
            raise
    await come_to(input.outcome)
    return await _end(call, row.request, "sent")


async def _end(call: Call, request: uuid.UUID, state: str, error: Exception | None = None) -> Transfer:
    async with call.services.db.sessions() as db, db.begin():
        row = await _transfer(db, request)
        assert row is not None
        row.state = state
        result = Transfer(id=row.id, cents=row.cents, state=row.state)
        await call.keep(db, error or result)
    return result


async def _transfer(db: AsyncSession, request: uuid.UUID) -> TransferRow | None:
    return (
        await db.exec(select(TransferRow).where(col(TransferRow.request) == request).with_for_update())
    ).one_or_none()


# ---- none, and one that keeps nothing itself


@writable
class Greet(Fields):
    """Whom to greet."""

    name: str = Field(description="Who.")
    outcome: str = Field(default="", description="How it is to end.")


@strawberry.type(description="A greeting.")
class Greeting:
    """A greeting."""

    words: str = strawberry.field(description="What is said.")


@operation(Permission.VIEW_ORDER, transaction=False)
async def greet(call: Call, input: Greet) -> Greeting:
    """Greet somebody, counting."""
    ran.append(f"greet {input.name}")
    await come_to(input.outcome)
    if input.outcome == "unwritable":
        return Greeting(words=object())  # type: ignore[arg-type]
    return Greeting(words=f"Hello {input.name}, {len(ran)}")


@writable
class Picture(Fields):
    """A picture to take in."""

    model_config = {"arbitrary_types_allowed": True}
    name: str = Field(description="Its name.")
    file: Annotated[UploadFile, strawberry.field(graphql_type=Upload)]


@operation(Permission.MANAGE_CATALOGUE)
async def take_picture(call: Call, input: Picture) -> Product:
    """Make a product of a picture, as heavy as the file is large."""
    ran.append(f"picture {input.name}")
    weight, owner = len(await input.file.read()), call.caller.partner_id
    assert owner is not None
    row = ProductRow(partner_id=owner, name=Text(en=input.name), description=Text(), weight_grams=weight)
    row.price_amount = Decimal(0)
    call.db.add(row)
    return row


@operation(Permission.VIEW_ORDER, transaction=False)
async def how_many(call: Call) -> int:
    """How many operations ran."""
    return len(ran)


# ---- both transports

VALUE = Shape("Value", AttributeValue, {"id": "id", "value": "value"})
ATTRIBUTE = Shape("Attribute", ProductAttribute, {"id": "id", "values": Nested("values", VALUE)})
THING = Shape(
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
    Route("POST", "/api/things/", make_thing, THING, status=201),
    Route("PATCH|PUT", "/api/things/{name}/", make_thing, THING),
    Route("POST", "/api/money/", send_money, Shape("Transfer", Transfer, {n: n for n in ("id", "cents", "state")})),
    Route("POST", "/api/greetings/", greet, Shape("Greeting", Greeting, {"words": "words"})),
    Route("POST", "/api/pictures/", take_picture, THING, accepts=Accepts.UPLOAD),
]


@strawberry.type
class Query:
    """What can be asked."""

    how_many = answered_by(how_many)


@strawberry.type
class Mutation:
    """What can be done."""

    make_thing = changed_by(make_thing)
    send_money = changed_by(send_money)
    greet = changed_by(greet)
    take_picture = changed_by(take_picture)


schema = schema_of(Query, Mutation)
PRODUCT = (
    "product { id name { en } price { amount } weightGrams ranking createdOn attributes { id values { id value } } }"
)
PATHS = {"make": "/api/things/", "send": "/api/money/", "greet": "/api/greetings/", "picture": "/api/pictures/"}
DOCUMENTS = {
    "make": f"mutation ($input: MakeThingInput!) {{ makeThing(input: $input) {{ {PRODUCT} ERRORS }} }}",
    "send": "mutation ($input: SendMoneyInput!) { sendMoney(input: $input) { transfer { id cents state } ERRORS } }",
    "greet": "mutation ($input: GreetInput!) { greet(input: $input) { greeting { words } ERRORS } }",
    "picture": f"mutation ($input: PictureInput!) {{ takePicture(input: $input) {{ {PRODUCT} ERRORS }} }}",
}


def application(services: Services) -> Starlette:
    """Both transports over these services."""
    rest = RestRoutes([(route, endpoint(route, context_of)) for route in ROUTES])
    app = Starlette(routes=[rest, *View(Graph(schema), context_of).routes()], middleware=[Middleware(RequestId)])
    app.state.house = House(services, None)
    return app


def services_over(db: Database) -> Services:
    """What a process holds."""
    kv = open_kv("", clock)
    return services_with(db=db, kv=kv, carts=Carts(kv), callers=Callers(db, clock))


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
    """Two partners and their tokens; the tables that only these tests have."""
    async with db.engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    return await filled(services_over(db))


async def counted(db: Database) -> dict[str, int]:
    """How much there is of everything."""
    tables = ("product", "product_attribute", "attribute_value", "test_transfer", "kept_answer", "audit_entry")
    return {name: (await db.rows(select(func.count()).select_from(table(name))))[0][0] for name in tables}


async def _killed(address: str, token: str, transport: str, operation: str, fields: str, key: str) -> None:
    db = Database(address)

    async def told() -> None:
        await turns.here.wait()
        sys.stdout.write("waiting\n")
        sys.stdout.flush()

    app = application(services_over(db))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        asking = Asker(transport, client, token)(operation, json.loads(fields), key)
        await asyncio.gather(asking, told())


if __name__ == "__main__":
    asyncio.run(_killed(*sys.argv[1:]))
