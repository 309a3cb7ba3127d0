"""Two marketplaces, three partners and a user of each kind."""

import contextlib
import functools
import json
import pathlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx
from sqlalchemy import text
from sqlmodel import SQLModel
from starlette.applications import Starlette

from coffret.app import create_app
from resolvers.auth import issue_token
from resolvers.callers import Callers
from resolvers.context import Context, Services
from schema.delivery import DeliveryKind
from schema.errors import Unauthenticated
from schema.event import EXAMPLES, EventType
from schema.permission import Permission
from schema.tenancy import PartnerStatus, UserRole
from schema.values import Text
from schema.webhook import DeliveryState
from store.attempts import AttemptRow, AttemptState
from store.catalogue import VoucherOptionCategoryRow, VoucherOptionRow
from store.clock import clock
from store.codes import draw, normal
from store.coupons import CouponRow
from store.credentials import _hasher
from store.db import Session
from store.delivery import DeliveryModeRow
from store.events import EventRow
from store.gift_cards import GiftCardRow
from store.orders import OrderRow
from store.products import AttributeValueRow, ProductAttributeRow, ProductRow, ProductVariantRow
from store.settings import Settings
from store.signing_secrets import new_salt
from store.tenancy import MarketplaceRow, PartnerRow, UserRow
from store.webhooks.rows import WebhookDeliveryRow, WebhookEndpointRow
from tests.described import HELD

PASSWORD = "correct horse battery staple"
PARTNERS = {"a1": "a", "a2": "a", "b1": "b"}
"""Each partner, and its marketplace."""
PARTNERS_DO_NOT = frozenset(
    {
        Permission.CREATE_PARTNER,
        Permission.UPDATE_PARTNER,
        Permission.VALIDATE_PAYOUT,
        Permission.REOPEN_VOUCHER,
        Permission.CREATE_NETWORK_GIFT_CARD,
        Permission.MANAGE_MARKETPLACE,
        Permission.MANAGE_MASTERADMIN,
        Permission.MANAGE_USER,
    }
)
"""What a partner's user may not do unless it was granted."""
EVERYBODY = ("a1", "a2", "b1", "market a", "market b", "master")
UNWATCHED = frozenset({"audit_entry", "token", "pgqueuer", "pgqueuer_log", "pgqueuer_statistics", "pgqueuer_schedules"})


@functools.cache
def kept_of(password: str = PASSWORD) -> str:
    """What is kept of a password, worked out once: that is made to be slow."""
    return _hasher.hash(password)


@dataclass(frozen=True)
class Owned:
    """What each partner has one of, itself included."""

    partner: int
    partner_uuid: UUID
    product: int
    variant: int
    attribute: int
    value: int
    delivery_mode: int
    coupon: int
    gift_card: int
    order: int
    order_uuid: UUID
    event: int
    webhook_endpoint: int
    webhook_delivery: int
    voucher_option_category: int
    voucher_option: int


@dataclass
class Tenants:
    """The application over a filled database."""

    app: Starlette
    client: httpx.AsyncClient
    partners: dict[str, PartnerRow] = field(default_factory=dict)
    marketplaces: dict[str, MarketplaceRow] = field(default_factory=dict)
    users: dict[str, UserRow] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    owned: dict[str, Owned] = field(default_factory=dict)

    @property
    def services(self) -> Services:
        """What the process holds."""
        services: Services = self.app.state.house.services
        return services

    async def context(self, who: str | None) -> Context:
        """A request of somebody, by token; of nobody without a name."""
        caller = None if who is None else await self.services.callers.by_secret(self.tokens[who])
        return Context(self.services, caller)

    async def add(self, *rows: Any) -> Any:
        """Put rows into the database; answers the first."""
        async with self.services.db.sessions() as db, db.begin():
            for row in rows:
                await _added(db, row)
        return rows[0]

    async def user(
        self, name: str, role: str, permissions: Sequence[Permission] | None = None, **of: Any
    ) -> tuple[UserRow, str]:
        """A user with a token."""
        async with self.services.db.sessions() as db, db.begin():
            return await self.user_in(db, name, role, permissions, **of)

    async def user_in(
        self, db: Session, name: str, role: str, permissions: Sequence[Permission] | None = None, **of: Any
    ) -> tuple[UserRow, str]:
        """A user with a token, within a transaction."""
        granted = None if permissions is None else [str(permission) for permission in permissions]
        row: UserRow = await _added(
            db,
            UserRow(username=f"{name.replace(' ', '-')}@users.example", role=UserRole(role), permissions=granted, **of),
        )
        self.users[name], self.tokens[name] = row, await issue_token(db, row, "test", clock)
        return row, self.tokens[name]

    async def with_password(self, name: str, password: str) -> None:
        """Let a user log in."""
        async with self.services.db.sessions() as db, db.begin():
            row = await db.get_one(UserRow, self.users[name].id)
            row.password_hash = kept_of(password)

    async def only_returns_to(self, name: str, *hosts: str) -> None:
        """Let the customers of a partner be sent back to these hosts only."""
        async with self.services.db.sessions() as db, db.begin():
            row = await db.get_one(PartnerRow, self.partners[name].id)
            row.return_hosts = list(hosts)

    async def graphql(self, who: str | None, query: str, **variables: Any) -> Any:
        """Ask over GraphQL; answers the body."""
        headers = {} if who is None else {"Authorization": f"Token {self.tokens[who]}"}
        said = {"query": query, "variables": variables}
        answer = await self.client.post("/graphql/", content=json.dumps(said, default=str), headers={**headers, **JSON})
        return answer.json()

    async def rows(self, statement: str, **parameters: Any) -> Sequence[Any]:
        """Rows out of the database."""
        return await self.services.db.rows(text(statement), parameters)

    async def one(self, statement: str, **parameters: Any) -> Any:
        """One value out of the database."""
        return (await self.rows(statement, **parameters))[0][0]

    async def row(self, table: str, id: int) -> dict[str, Any]:
        """A row, as JSON."""
        found = await self.one(f"SELECT to_jsonb(t) FROM {table} t WHERE id = :id", id=id)  # noqa: S608 - a test's words
        assert isinstance(found, dict)
        return found

    async def newest(self, table: str) -> dict[str, Any]:
        """The row that was made last, as JSON."""
        return await self.row(table, await self.one(f"SELECT max(id) FROM {table}"))  # noqa: S608 - a test's words

    async def refuses(self, secret: str, callers: Callers | None = None) -> bool:
        """Whether a token does not work; with the callers of the application unless told."""
        try:
            await (callers or self.services.callers).by_secret(secret)
        except Unauthenticated:
            return True
        return False

    async def execute(self, statement: str, **parameters: Any) -> None:
        """Change something behind the back of the program."""
        async with self.services.db.engine.begin() as connection:
            await connection.execute(text(statement), parameters)

    async def snapshot(self) -> dict[str, Any]:
        """Every row of every table that an operation could have changed."""
        tables = [name for name in SQLModel.metadata.tables if name not in UNWATCHED and not name.startswith("house_")]
        rows = "SELECT '{0}', coalesce(jsonb_agg(to_jsonb(t) ORDER BY t::text), '[]') FROM {0} t"
        statement = " UNION ALL ".join(rows.format(table) for table in tables)
        return {row[0]: row[1] for row in await self.rows(statement)}


JSON = {"Content-Type": "application/json"}


@contextlib.asynccontextmanager
async def open_tenants(database_url: str, folder: pathlib.Path) -> AsyncIterator[Tenants]:
    """The application over a database, filled."""
    app = create_app(Settings(database_url=database_url, data_dir=folder, funnel_scheme="http"), run_background=False)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", event_hooks=HELD) as client,
    ):
        tenants = Tenants(app, client)
        async with tenants.services.db.sessions() as db, db.begin():
            await _fill(tenants, db)
        yield tenants


async def _added(db: Session, *rows: Any) -> Any:
    """Rows put into the database; answers the first."""
    db.add_all(rows)
    await db.flush()
    return rows[0]


async def _fill(tenants: Tenants, db: Session) -> None:
    for name in ("a", "b"):
        currency, zone = ("EUR", "Europe/Paris") if name == "a" else ("CHF", "Europe/Zurich")
        tenants.marketplaces[name] = await _added(db, MarketplaceRow(name=name, currency=currency, time_zone=zone))
    for name, marketplace in PARTNERS.items():
        tenants.partners[name] = await _added(
            db,
            PartnerRow(
                marketplace_id=tenants.marketplaces[marketplace].id,
                source_id=name,
                commercial_name=f"Shop {name}",
                short_name=name,
                site_domain=f"{name}.localhost",
                status=PartnerStatus.ACTIVE,
            ),
        )
        tenants.owned[name] = await _own(db, tenants.partners[name], tenants.marketplaces[marketplace].currency)
        await tenants.user_in(db, name, "partner", partner_id=tenants.partners[name].id)
    for name, row in tenants.marketplaces.items():
        await tenants.user_in(db, f"market {name}", "marketplace", marketplace_id=row.id)
    await tenants.user_in(db, "master", "master")


def _coupon(partner: PartnerRow) -> CouponRow:
    code = f"{partner.short_name}-ten"
    ten = Decimal("10.00")
    return CouponRow(partner_id=partner.id, code=code, normal_code=normal(code), discount_percentage=ten, targets=[])


def _gift_card(partner: PartnerRow) -> GiftCardRow:
    code = draw()
    amounts: dict[str, Any] = {"value_amount": Decimal(50), "remaining_amount": Decimal(50)}
    return GiftCardRow(partner_id=partner.id, code=code, normal_code=normal(code), **amounts)


async def _own(db: Session, partner: PartnerRow, currency: str) -> Owned:
    of: dict[str, Any] = {"partner_id": partner.id}
    name = Text(en=f"Of {partner.short_name}", fr=f"De {partner.short_name}")
    product = await _added(
        db, ProductRow(**of, name=name, description=Text(), price_amount=Decimal("10.00"), currency=currency, stock=5)
    )
    variant = ProductVariantRow(
        **of, product_id=product.id, name=name, price_amount=Decimal("12.00"), currency=currency, stock=3
    )
    attribute = await _added(db, ProductAttributeRow(**of, product_id=product.id, name=name))
    value = AttributeValueRow(**of, attribute_id=attribute.id, value="red", label=name)
    mode = DeliveryModeRow(**of, kind=DeliveryKind.CLICK_AND_COLLECT, name=name, description=Text(), currency=currency)
    coupon, card = _coupon(partner), _gift_card(partner)
    category = VoucherOptionCategoryRow(**of, name=name, description=Text())
    option = VoucherOptionRow(
        **of, name=name, description=Text(), selling_price_amount=Decimal("9.00"), currency=currency
    )
    await _added(db, variant, value, mode, coupon, card, category, option)
    order = await _order(db, partner)
    event, endpoint, delivery = await _webhook(db, partner)
    return Owned(
        partner=partner.id,
        partner_uuid=partner.uuid,
        product=product.id,
        variant=variant.id,
        attribute=attribute.id,
        value=value.id,
        delivery_mode=mode.id,
        coupon=coupon.id,
        gift_card=card.id,
        order=order.id,
        order_uuid=order.uuid,
        event=event,
        webhook_endpoint=endpoint,
        webhook_delivery=delivery,
        voucher_option_category=category.id,
        voucher_option=option.id,
    )


async def _webhook(db: Session, partner: PartnerRow) -> tuple[int, int, int]:
    """An event, an endpoint and the message between them, delivered."""
    of: dict[str, Any] = {"partner_id": partner.id, "marketplace_id": partner.marketplace_id}
    kind = EventType.CART_EXPIRED
    event = await _added(
        db,
        EventRow(
            **of, key=f"evt_{partner.short_name}", type=kind, subject="x", data=dict(EXAMPLES[kind]), is_sorted=True
        ),
    )
    endpoint = await _added(
        db,
        WebhookEndpointRow(**of, url=f"https://8.8.8.8/{partner.short_name}", host="8.8.8.8", secret_salt=new_salt()),
    )
    link: dict[str, Any] = {"event_id": event.id, "endpoint_id": endpoint.id, "event_type": kind}
    state = DeliveryState.DELIVERED
    delivery = await _added(db, WebhookDeliveryRow(**of, **link, key=f"msg_{partner.short_name}", state=state))
    return event.id, endpoint.id, delivery.id


async def _order(db: Session, partner: PartnerRow) -> OrderRow:
    nothing = dict.fromkeys(("products", "discount", "delivery", "total", "gift_card", "card"), Decimal(0))
    amounts: dict[str, Any] = {f"{name}_amount": value for name, value in nothing.items()}
    cart_id = uuid4()
    attempt = await _added(
        db,
        AttemptRow(
            partner_id=partner.id, cart_id=cart_id, cart_last_modified=1, session_digest="", lines=[], buyer={},
            delivery={}, vat=[], currency="EUR", state=AttemptState.COMPLETED, **amounts,
        )
    )  # fmt: skip
    order: OrderRow = await _added(
        db,
        OrderRow(
            partner_id=partner.id,
            number=1,
            attempt_id=attempt.id,
            cart_id=cart_id,
            buyer_email=f"buyer@{partner.short_name}.example",
            delivery_kind=DeliveryKind.DIGITAL,
            delivery_name=Text(en="By e-mail"),
            **amounts,
        ),
    )
    return order
