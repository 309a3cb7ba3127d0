"""An example for the tests of lists and of GraphQL: cards with issuers and uses, in tables of their own."""

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

import strawberry
from pydantic import BaseModel
from pydantic import Field as Limits
from sqlalchemy import Index, MetaData
from sqlmodel import Field, col, select

from resolvers.core.caller import Caller, Role
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.lists.filters import Filter, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.services import Services
from schema.core.columns import amount_column, datetime_column, enum_column
from schema.core.field_permission import FieldPermission
from schema.core.inputs import graphql_input
from schema.core.money import money
from schema.core.permission import Permission
from schema.core.resource import EmbeddedColumns, SchemaModel, computed, embedded_type, relation, relations, restricted
from schema.core.text import Text, translated_text_column
from store.core.clock import clock
from store.core.settings import Settings
from store.database.db import Database
from store.database.loaders import is_any_of
from store.tables import declare_table

METADATA = MetaData()
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@strawberry.enum(description="Whether a card can be spent.")
class CardStatus(enum.StrEnum):
    """Whether a card can be spent."""

    ACTIVE = "a"
    BLOCKED = "b"


@embedded_type("What only the owner of an issuer sees.", prefix="secret_")
class Vault(EmbeddedColumns):
    """What only the owner of an issuer sees."""

    secret_note: str = Field(default="hidden", description="A note.")


@strawberry.pydantic.type(description="How an issuer is.")
class Mood(BaseModel):
    """A value that is worked out."""

    word: str = Limits(description="In a word.")


OWNERS = FieldPermission(Permission.VIEW_WALLET)


@strawberry.pydantic.type(description="Who issues cards.")
class Issuer(SchemaModel):
    """Who issues cards."""

    id: int
    slug: str = Field(max_length=40, description="The name used in addresses.")
    name: Text = translated_text_column("The name customers see.")
    vault = restricted(Vault, OWNERS, "What only its owner sees.")
    mood = computed(Mood, "How it is.")
    moods = computed(list[Mood], "How it has been.", field_permission=OWNERS)

    @strawberry.pydantic.field(description="The name, shouted.")
    def loud(self) -> str:
        """A value that Python works out."""
        return self.slug.upper()


@strawberry.pydantic.type(description="One spending.")
class Use(SchemaModel):
    """One spending."""

    id: int
    label: str = Field(max_length=40)
    issuer = relation(Issuer, by="issuer_id", nullable=True)


@strawberry.pydantic.type(description="Prepaid money.")
class Card(SchemaModel):
    """Prepaid money."""

    id: int
    uuid: uuid.UUID
    code: str = Field(max_length=32, description="The code printed on it.")
    status: CardStatus = enum_column(CardStatus, "Whether it can be spent.", default=CardStatus.ACTIVE)
    title: Text = translated_text_column("What is printed on it.")
    message: str | None = Field(default=None, max_length=200)
    nights: int = 1
    gifted: bool = False
    weight: float = 0.5
    rate: Decimal = amount_column("Per cent.", default=Decimal("20.00"))
    issued_on: dt.date = dt.date(2026, 1, 1)
    created_at: dt.datetime = datetime_column("When it was issued.")
    expires_at: dt.datetime | None = datetime_column("When it stops working.", default=None, nullable=True)
    balance = money("balance_amount", description="What is left.")
    issuer = relation(Issuer, by="issuer_id")
    uses = relations(Use, by="card_id")

    @strawberry.pydantic.field(description="The code in small letters.")
    def whisper(self) -> str:
        """A value that Python works out."""
        return self.code.lower()

    @strawberry.pydantic.field(description="The code, repeated.")
    def echo(self, times: int = 2) -> str:
        """A field with an argument is for graphql-core."""
        return self.code * times


class IssuerRow(Vault, Issuer, table=True):
    """Issuers."""

    __tablename__ = "example_issuer"
    metadata = METADATA
    id: int = Field(default=None, primary_key=True)
    name: Text = translated_text_column("The name customers see.", nullable=True)
    partner_id: int = 1
    marketplace_id: int = 1


@computes(Issuer, "mood")
async def mood(context: Context, ids: Sequence[int]) -> Mapping[int, Mood]:
    """The mood of issuers: number 4 has none."""
    async with context.db.read_sessions() as db:
        found = await db.exec(select(IssuerRow.id, IssuerRow.slug).where(is_any_of(col(IssuerRow.id), ids)))
        return {id: Mood(word=f"{slug} is fine") for id, slug in found if id != 4}


@computes(Issuer, "moods")
async def moods(context: Context, ids: Sequence[int]) -> Mapping[int, list[Mood]]:
    """The moods of issuers: number 3 has had none, of number 5 nothing is known."""
    return {id: [] if id == 3 else [Mood(word=str(id)), Mood(word="calm")] for id in ids if id != 5}


class CardRow(Card, table=True):
    """Cards."""

    __tablename__ = "example_card"
    metadata = METADATA
    __table_args__ = (
        Index("example_card_newest", "partner_id", "created_at", "id"),
        Index("example_card_expiring", "partner_id", "expires_at", "id"),
    )
    id: int = Field(default=None, primary_key=True)
    partner_id: int = 1
    issuer_id: int = 1
    balance_amount: Decimal | None = amount_column("", nullable=True, default=Decimal("10.00"))
    currency: str = "EUR"
    pin_hash: str = "hidden"


class UseRow(Use, table=True):
    """Uses."""

    __tablename__ = "example_use"
    metadata = METADATA
    id: int = Field(default=None, primary_key=True)
    card_id: int = 0
    issuer_id: int | None = None


for _row in (IssuerRow, CardRow, UseRow):
    declare_table(_row)


@strawberry.enum(description="Orders of cards.")
class CardOrder(enum.StrEnum):
    """Orders of cards."""

    NEWEST = "-created_at"
    OLDEST = "created_at"
    EXPIRING_FIRST = "expires_at"
    EXPIRING_LAST = "-expires_at"
    STATUS = "status"
    RATE = "-rate"
    ID = "id"


@graphql_input
class CardFilter(Filter):
    """Which cards."""

    status: Annotated[CardStatus | None, Where("status")] = None
    statuses: Annotated[list[CardStatus] | None, Where("status", "in")] = None
    code: Annotated[str | None, Where("code")] = None
    code_contains: Annotated[str | None, Where("code", "contains")] = None
    issued_after: Annotated[dt.datetime | None, Where("created_at", ">=")] = None
    issued_before: Annotated[dt.datetime | None, Where("created_at", "<=")] = None
    ids: Annotated[list[int] | None, Where("id", "in")] = None


cards = Listing(Card, CardFilter, CardOrder, Permission.VIEW_GIFT_CARD, "Cards, newest first.")
card = Lookup(Card, "id", "card", Permission.VIEW_GIFT_CARD, "One card.")


SETTINGS = Settings()


def services(db: Database) -> Services:
    """What a process holds, as far as lists need it."""
    held: dict[str, Any] = {part.name: None for part in dataclasses.fields(Services) if part.init}
    return Services(**(held | {"settings": SETTINGS, "clock": clock, "db": db}))


def context(db: Database, partner_id: int = 1, *permissions: Permission) -> Context:
    """A request of a partner's user."""
    held = frozenset(permissions or {Permission.VIEW_GIFT_CARD})
    return Context(services(db), Caller(Role.PARTNER, held, partner_id=partner_id, marketplace_id=1))


async def fill(db: Database, rows: int = 250) -> None:
    """Cards of partner 1 (every third never expires, many share a moment), and ten of partner 2. The database must have
    the tables of `METADATA`.
    """
    async with db.sessions() as session, session.begin():
        names = [Text(en=f"Issuer {i}", fr=f"Émetteur {i}") for i in range(5)]
        session.add_all(
            IssuerRow(id=i + 1, slug=f"i{i}", name=name, partner_id=1 + i % 2) for i, name in enumerate(names)
        )
        session.add_all(card_row(i, 1) for i in range(rows))
        session.add_all(card_row(i, 2) for i in range(rows, rows + 10))
        session.add_all(
            UseRow(card_id=1 + i // 2, label=f"u{i}", issuer_id=None if i % 3 else 1 + i % 5) for i in range(rows)
        )


def card_row(i: int, partner_id: int) -> CardRow:
    """Card number `i` of a partner."""
    created = START + dt.timedelta(minutes=i // 3)
    return CardRow(
        id=i + 1,
        uuid=uuid.UUID(int=i),
        code=f"C{i:05}" if i % 50 else f"100%_{i}",
        status=CardStatus.BLOCKED if i % 4 == 3 else CardStatus.ACTIVE,
        title=Text(en="Gift", fr="Cadeau"),
        message=f"m{i}" if i % 2 else None,
        nights=i % 7,
        gifted=bool(i % 2),
        rate=Decimal(i % 10),
        created_at=created,
        expires_at=None if i % 3 == 0 else created + dt.timedelta(days=30 + i % 5),
        issuer_id=1 + i % 5,
        partner_id=partner_id,
    )
