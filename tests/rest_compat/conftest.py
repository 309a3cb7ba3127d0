"""The REST routes, served in process: the real ones over a real database, and those that a test makes up."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.middleware import Middleware

from coffret.app import context_of
from coffret.http.middleware import RequestId
from coffret.services import Container
from resolvers.account.tokens import issue_token
from resolvers.core.authentication import Authenticator
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from rest_compat.docs import DocsOptions
from rest_compat.router import rest_routes
from rest_compat.routes import ROUTES
from schema.account.user import UserRole
from schema.partner.partner import PartnerStatus
from schema.root import sdl
from store.account.users import UserRow
from store.cart.carts import Carts
from store.core.clock import clock
from store.database.db import Database
from store.kv import open_kv
from store.partner.partners import MarketplaceRow, PartnerRow
from tests.fixtures.tenants import kept_of
from tests.rest_compat import things
from tests.rest_compat.clients import client_of, made_up, services_with
from tests.rest_compat.rows import Rows, open_rows
from tests.servers.databases import Databases


@dataclass(frozen=True)
class Marketplace:
    """A marketplace of two partners, and who logs in there."""

    app: Starlette
    services: Services
    partner: PartnerRow
    user: UserRow
    token: str
    other_token: str
    marketplace_token: str


async def fill_database(services: Services) -> dict[str, Any]:
    """Two partners, a user of each and one of their marketplace."""
    async with services.db.sessions() as db, db.begin():
        market = MarketplaceRow(name="Network")
        db.add(market)
        await db.flush()
        partners = [
            PartnerRow(
                marketplace_id=market.id,
                source_id=str(n),
                commercial_name=f"Shop {n}",
                short_name=f"shop{n}",
                site_domain=f"shop{n}.example",
                status=PartnerStatus.ACTIVE,
            )
            for n in (1, 2)
        ]
        db.add_all(partners)
        await db.flush()
        users = [
            UserRow(
                username=f"{role}{n}@shop.example",
                first_name="Ada",
                email=f"{role}{n}@shop.example",
                role=UserRole(role),
                partner_id=partner.id if partner else None,
                marketplace_id=None if partner else market.id,
                password_hash=kept_of(),
            )
            for n, (role, partner) in enumerate(
                [("partner", partners[0]), ("partner", partners[1]), ("marketplace", None)]
            )
        ]
        db.add_all(users)
        await db.flush()
        tokens = [await issue_token(db, user, "test", clock) for user in users]
    names = ("token", "other_token", "marketplace_token")
    return {"partner": partners[0], "user": users[0], **dict(zip(names, tokens, strict=True))}


@pytest.fixture
async def market(database: Database) -> AsyncIterator[Marketplace]:
    """The real routes over a filled database; carts in process."""
    kv = open_kv("", clock)
    services = services_with(db=database, kv=kv, carts=Carts(kv), authenticator=Authenticator(database, clock))
    app = Starlette(routes=rest_routes(context_of, DocsOptions(sdl=sdl)), middleware=[Middleware(RequestId)])
    app.state.container = Container(services, None)
    yield Marketplace(app=app, services=services, **await fill_database(services))
    await kv.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rows(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rows]:
    """Every documented route, and rows to ask it about."""
    async with open_rows(databases, tmp_path_factory.mktemp("data")) as found:
        yield found


@dataclass(frozen=True)
class Shops:
    """The real routes over carts in this process, with callers that are known: nothing needs a database."""

    services: Services

    def client(self, partner_id: int | None = 1) -> httpx.AsyncClient:
        """A client of a partner's shop, or (None) of the marketplace."""
        role = Role.MARKETPLACE if partner_id is None else Role.PARTNER
        caller = Caller(
            role,
            frozenset(),
            user_id=9,
            token_id=partner_id,
            partner_id=partner_id,
            marketplace_id=1,
            site_domain=f"shop{partner_id}.example",
            partner_status=PartnerStatus.ACTIVE,
        )
        return client_of(made_up(ROUTES, lambda: Context(self.services, caller)))


@pytest.fixture
async def shops() -> AsyncIterator[Shops]:
    """Shops that hand carts over."""
    kv = open_kv("", clock)
    yield Shops(services_with(kv=kv, carts=Carts(kv)))
    await kv.aclose()


@pytest.fixture
async def shop(shops: Shops) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the first partner's shop."""
    async with shops.client() as client:
        yield client


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the made-up things, who may do everything there."""
    things.CREATED_THINGS.clear()
    services = services_with(db=database)
    async with client_of(made_up(things.ROUTES, lambda: Context(services, things.CALLER))) as client:
        yield client


@pytest.fixture
async def stranger() -> AsyncIterator[httpx.AsyncClient]:
    """A client of the made-up things, with a token that may do nothing."""
    things.CREATED_THINGS.clear()
    nobody = Caller(Role.PARTNER, frozenset(), token_id=2, partner_id=2)
    async with client_of(made_up(things.ROUTES, lambda: Context(things.SERVICES, nobody))) as client:
        yield client
