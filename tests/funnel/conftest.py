"""The checkout of a real shop, on a real database, paid through the provider's sandbox."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
from starlette.applications import Starlette

from coffret.app import assemble, routes_of
from coffret.http.hosts import HostRoutes
from store.core.settings import Settings
from tests.fixtures.activation import Newcomer
from tests.fixtures.basket import Experiences, experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.redemption.fixtures import Venue
from tests.funnel.wallets import AppleFiles
from tests.servers.production import SHOP_HOST, SHOP_URL, production_settings
from tests.store.providers.mangopay.test_tls import certificate


@dataclass(frozen=True)
class ApplicationState:
    """What the application of a test holds."""

    services: object


@pytest.fixture
def installation() -> Settings:
    """Pages are tested as customers meet them: in production."""
    return production_settings()


@pytest.fixture
def shop_host() -> str:
    """A domain of the partner's own."""
    return SHOP_HOST


@pytest.fixture(scope="session")
def apple_files(tmp_path_factory: pytest.TempPathFactory) -> AppleFiles:
    """The files of Apple Pay."""
    folder = tmp_path_factory.mktemp("apple-pay")
    cert, key = certificate(folder, "merchant")
    domain = folder / "domain"
    domain.write_text("7B227073704964223A22")
    return {"apple_pay_cert_file": cert, "apple_pay_key_file": key, "apple_pay_domain_file": domain}


TABLES: list[tuple[Settings, list[HostRoutes]]] = []
"""Those that tests have asked for: they take longer to make than most tests."""


def tables_of(settings: Settings) -> list[HostRoutes]:
    """The routes of an installation, made once."""
    for made_for, tables in TABLES:
        if made_for == settings:
            return tables
    TABLES.append((settings.model_copy(), routes_of(settings)))
    return TABLES[-1][1]


def checkout_app(shop: Shop | Newcomer, settings: Settings) -> Starlette:
    """The whole application over the services of a test."""
    app = assemble(settings, tables_of(settings))
    app.state.container = ApplicationState(shop.services)
    return app


@asynccontextmanager
async def browsers(app: Starlette, base_url: str) -> AsyncIterator[Callable[[], Customer]]:
    """Makes customers, each with a browser of their own."""
    clients: list[httpx.AsyncClient] = []

    def new() -> Customer:
        transport = httpx.ASGITransport(app, client=("192.0.2.7", 1234))
        clients.append(httpx.AsyncClient(transport=transport, base_url=base_url))
        return Customer(clients[-1])

    yield new
    for client in clients:
        await client.aclose()


@pytest.fixture
async def visitors(shop: Shop) -> AsyncIterator[Callable[[], Customer]]:
    """Makes customers, each with a browser of their own."""
    async with browsers(checkout_app(shop, shop.services.settings), SHOP_URL) as new:
        yield new


@pytest.fixture
def customer(visitors: Callable[[], Customer]) -> Customer:
    """A customer."""
    return visitors()


@pytest.fixture
async def representatives(newcomer: Newcomer) -> AsyncIterator[Callable[[], Customer]]:
    """Makes people who open the link to the newcomer's onboarding page, each with a browser of their own."""
    settings = newcomer.services.settings
    async with browsers(checkout_app(newcomer, settings), settings.public_url) as new:
        yield new


@pytest.fixture
def representative(representatives: Callable[[], Customer]) -> Customer:
    """Somebody who opens that link."""
    return representatives()


@pytest.fixture
async def sold(shop: Shop) -> Experiences:
    """What the shop sells, besides products."""
    return await experiences(shop)


@pytest.fixture
def venue(shop: Shop, sold: Experiences, visitors: Callable[[], Customer]) -> Venue:
    """A venue."""
    return Venue(shop, sold, visitors)
