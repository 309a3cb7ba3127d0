"""The operations of the example schema, and the schema made of them."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Annotated

import strawberry
from pydantic import BaseModel
from pydantic import Field as Limits
from sqlmodel import col, select
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from resolvers.core.operation import Call, operation
from schema.core.errors import AlreadyTaken, NotFound
from schema.core.inputs import graphql_input
from schema.core.money import Money
from schema.core.permission import AccessRule, Permission
from schema.core.resource import SchemaModel
from schema.graph.fields import mutation_field, query_field
from schema.graph.schema import build_schema
from tests.example_cards import START, Card, CardRow, CardStatus, card, card_row, cards


@graphql_input
class LineInput(SchemaModel):
    """A line."""

    label: str = Limits(max_length=5, description="What it is.")
    quantity: int = Limits(ge=1, description="How many.")


@graphql_input
class IssueCardInput(SchemaModel):
    """A card to issue."""

    code: str = Limits(max_length=32, description="The code.")
    price: Decimal = Limits(gt=0, max_digits=12, decimal_places=2, description="What it costs.")
    status: CardStatus = Limits(default=CardStatus.ACTIVE, description="Whether it can be spent.")
    lines: list[LineInput] = Limits(default_factory=list, description="Lines.")


@graphql_input
class SetPictureInput(SchemaModel):
    """A picture to put on a card."""

    model_config = {"arbitrary_types_allowed": True}
    code: str
    picture: Annotated[UploadFile, strawberry.field(graphql_type=Upload)]


@strawberry.pydantic.type(description="A line of a basket.")
class BasketLine(BaseModel):
    """A line of a basket."""

    label: str
    quantity: int | None = None
    added_on: dt.datetime
    tags: list[str] = []


@strawberry.pydantic.type(description="A basket, kept nowhere.")
class Basket(BaseModel):
    """A basket."""

    id: uuid.UUID
    lines: list[BasketLine]
    gift: BasketLine | None = None
    total: Money
    notes: list[str | None]


@operation(Permission.VIEW_GIFT_CARD)
async def find_card(call: Call, code: str) -> Card:
    """A card by its code."""
    found = (await call.db.exec(select(CardRow).where(col(CardRow.code) == code))).one_or_none()
    if found is None:
        raise NotFound(thing="card")
    return found


@operation(Permission.VIEW_GIFT_CARD)
async def recent_cards(call: Call, most: int = 3) -> list[Card]:
    """A few cards, as a plain list."""
    return list((await call.db.exec(select(CardRow).order_by(col(CardRow.id)).limit(most))).all())


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def basket(call: Call) -> Basket:
    """A basket that is kept in no table."""
    lines = [BasketLine(label=f"l{i}", quantity=i or None, added_on=START, tags=["a", "b"]) for i in range(3)]
    return Basket(
        id=uuid.UUID(int=7), lines=lines, total=Money(amount=Decimal("1.50"), currency="EUR"), notes=["n", None]
    )


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def greeting(call: Call, name: str) -> str:
    """A plain text."""
    return f"Hello {name}"


@operation(AccessRule.PUBLIC, transaction=False)
async def broken(call: Call) -> str:
    """A field that fails."""
    raise RuntimeError("password=hunter2")


@operation(Permission.CREATE_PAYMENT)
async def issue_card(call: Call, input: IssueCardInput) -> Card:
    """Issue a card."""
    if input.code == "TAKEN":
        raise AlreadyTaken("code", what="code")
    if input.code == "BOOM":
        raise RuntimeError("password=hunter2")
    row = card_row(100_000, 1)
    row.code, row.balance_amount = input.code, input.price
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.CREATE_PAYMENT)
async def set_picture(call: Call, input: SetPictureInput) -> Card:
    """Put a picture on a card."""
    row = (await call.db.exec(select(CardRow).where(col(CardRow.code) == input.code))).one()
    row.message = f"{input.picture.filename}:{len(await input.picture.read())}"
    return row


@operation(Permission.CREATE_PAYMENT)
async def remove_card(call: Call, input: IssueCardInput) -> None:
    """Remove a card; nothing is answered but what went wrong."""
    raise NotFound("code", thing="card")


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def shout(call: Call, input: LineInput) -> str:
    """Answer a text."""
    return input.label.upper()


@strawberry.type
class Query:
    """What can be asked."""

    card = query_field(card)
    cards = query_field(cards)
    find_card = query_field(find_card)
    recent_cards = query_field(recent_cards)
    basket = query_field(basket)
    greeting = query_field(greeting)
    broken = query_field(broken)


@strawberry.type
class Mutation:
    """What can be done."""

    issue_card = mutation_field(issue_card)
    set_picture = mutation_field(set_picture)
    remove_card = mutation_field(remove_card)
    shout = mutation_field(shout, result="text")


schema = build_schema(Query, Mutation)
