"""The whole application, in this process."""

import contextlib
import pathlib
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette

from coffret.app import create_app
from resolvers.core.services import Services
from store.core.settings import Settings
from tests.fixtures.demo import lay_demo
from tests.fixtures.shop import Shop, open_shop
from tests.servers.production import SERVICE_URL

PRODUCTION = {
    "ENVIRONMENT": "production",
    "COFFRET_SECRET": "0123456789abcdef0123456789abcdef",
    "COFFRET_PROVIDER": "mangopay",
    "COFFRET_MANGOPAY_CLIENT_ID": "shop",
    "COFFRET_MANGOPAY_API_KEY": "key",
    "COFFRET_BASE_URL": SERVICE_URL,
}
"""What the environment of a production installation sets at least."""


@contextlib.asynccontextmanager
async def running(
    settings: Settings, *, run_background: bool = False
) -> AsyncIterator[tuple[Starlette, httpx.AsyncClient]]:
    """An application between its start and its stop, and a client of it."""
    app = create_app(settings, run_background=run_background)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        yield app, client


@pytest.fixture
def app_settings(database_url: str, tmp_path: pathlib.Path) -> Settings:
    """The settings of a development installation on the test's database."""
    return Settings(database_url=database_url, data_dir=tmp_path, funnel_scheme="http")


@pytest.fixture
def production(app_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings of a production installation on the test's database."""
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COFFRET_SMTP_URL", "smtp://127.0.0.1:1")
    monkeypatch.setenv("COFFRET_MAIL_FROM", "shop@example.com")
    return Settings(database_url=app_settings.database_url, data_dir=app_settings.data_dir)


@pytest.fixture
async def application(app_settings: Settings) -> AsyncIterator[tuple[Starlette, httpx.AsyncClient]]:
    """The application without its background tasks."""
    async with running(app_settings) as pair:
        yield pair


@pytest.fixture
async def client(application: tuple[Starlette, httpx.AsyncClient]) -> httpx.AsyncClient:
    """A client of the application."""
    return application[1]


@pytest.fixture
async def app_shop(application: tuple[Starlette, httpx.AsyncClient]) -> Shop:
    """A shop in the application's database, paid through its sandbox."""
    container = application[0].state.container
    return await open_shop(container.services, container.sandbox)


@pytest.fixture
async def demo(application: tuple[Starlette, httpx.AsyncClient], app_settings: Settings, database_url: str) -> Services:
    """The services of an application with demo data."""
    container = application[0].state.container
    await lay_demo(container.services.db, database_url, app_settings, container.sandbox)
    services: Services = container.services
    return services
