"""The checkout of a real shop, on a real database, paid through the provider's sandbox."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from coffret import media
from coffret.middleware import RequestId
from funnel.routes import routes
from store.settings import Settings
from tests.funnel.customer import Customer
from tests.shop_world import Shop

HOST = "http://shop.localhost"


@dataclass(frozen=True)
class House:
    """What the application of a test holds."""

    services: object


def checkout_app(shop: Shop, settings: Settings) -> Starlette:
    """The checkout alone, as the application mounts it."""
    app = Starlette(routes=[*routes(settings), *media.ROUTES], middleware=[Middleware(RequestId)])
    app.state.house = House(shop.services)
    return app


@pytest.fixture
async def visitors(shop: Shop) -> AsyncIterator[Callable[[], Customer]]:
    """Makes customers, each with a browser of their own."""
    app = checkout_app(shop, shop.services.settings)
    clients: list[httpx.AsyncClient] = []

    def new() -> Customer:
        transport = httpx.ASGITransport(app, client=("192.0.2.7", 1234))
        clients.append(httpx.AsyncClient(transport=transport, base_url=HOST))
        return Customer(clients[-1])

    yield new
    for client in clients:
        await client.aclose()


@pytest.fixture
def customer(visitors: Callable[[], Customer]) -> Customer:
    """A customer."""
    return visitors()
