"""Operations to repeat: of one transaction, of several around a call to somebody else, of none."""

import asyncio
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

import strawberry
from sqlalchemy import MetaData
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from resolvers.core.operation import Call, operation
from schema.core.errors import NotFound, OutOfStock, PaymentDeclined, ProviderTimedOut
from schema.core.inputs import graphql_input
from schema.core.permission import Permission
from schema.core.resource import SchemaModel
from schema.core.text import Text
from schema.product.product import Product
from store.product.products import AttributeValueRow, ProductAttributeRow, ProductRow

METADATA = MetaData()


class Own(SchemaModel):
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


@graphql_input
class MakeThing(SchemaModel):
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


class RemittanceRow(Own, table=True):
    """Money to send: written down before anybody is asked, one for a request."""

    __tablename__ = "test_remittance"
    id: int = Field(default=None, primary_key=True)
    request: uuid.UUID = Field(unique=True)
    provider_key: uuid.UUID
    cents: int
    state: str = "begun"


@strawberry.type(description="Money that was sent.")
class Remittance:
    """Money that was sent."""

    id: int = strawberry.field(description="Its id.")
    cents: int = strawberry.field(description="How much.")
    state: str = strawberry.field(description="How it ended.")


@dataclass
class Provider:
    """Somebody else, who does what has one key once."""

    payments: dict[uuid.UUID, int] = field(default_factory=dict)
    calls: int = 0
    lose_answers: int = 0

    async def send(self, key: uuid.UUID, cents: int) -> None:
        """Send money; PaymentDeclined for thirteen, ProviderTimedOut when the answer gets lost."""
        self.calls += 1
        if cents == 13:
            raise PaymentDeclined
        self.payments[key] = cents
        if self.lose_answers:
            self.lose_answers -= 1
            raise ProviderTimedOut


provider = Provider()


@graphql_input
class SendMoney(SchemaModel):
    """Money to send."""

    cents: int = Field(description="How much.")
    outcome: str = Field(default="", description="How it is to end.")


@operation(Permission.CREATE_PAYMENT, transaction=False)
async def send_money(call: Call, input: SendMoney) -> Remittance:
    """Send money, once for a request however often it is repeated."""
    ran.append(f"send {input.cents}")
    sessions, request = call.services.db.sessions, call.request_uuid or uuid.uuid4()
    async with sessions() as db, db.begin():
        row = await _remittance(db, request)
        if row is None:
            row = RemittanceRow(request=request, provider_key=uuid.uuid4(), cents=input.cents)
            db.add(row)
    if row.state == "begun":
        try:
            await provider.send(row.provider_key, row.cents)
        except PaymentDeclined as declined:
            await _end(call, row.request, "declined", declined)
            raise
    await come_to(input.outcome)
    return await _end(call, row.request, "sent")


async def _end(call: Call, request: uuid.UUID, state: str, error: Exception | None = None) -> Remittance:
    async with call.services.db.sessions() as db, db.begin():
        row = await _remittance(db, request)
        assert row is not None
        row.state = state
        result = Remittance(id=row.id, cents=row.cents, state=row.state)
        await call.store_response(db, error or result)
    return result


async def _remittance(db: AsyncSession, request: uuid.UUID) -> RemittanceRow | None:
    return (
        await db.exec(select(RemittanceRow).where(col(RemittanceRow.request) == request).with_for_update())
    ).one_or_none()


# ---- none, and one that keeps nothing itself


@graphql_input
class Greet(SchemaModel):
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


@graphql_input
class Picture(SchemaModel):
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


def begin_anew() -> None:
    """Forget what ran, who waits and what was sent."""
    global turns  # noqa: PLW0603 - events belong to the loop of one test
    turns = Turns()
    ran.clear()
    provider.payments.clear()
    provider.calls = provider.lose_answers = 0
