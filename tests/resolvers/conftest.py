"""What tests of operations may ask for."""

import pathlib
from collections.abc import AsyncIterator

import pytest

from tests.changes import Direct, OverGraphQL, Transport
from tests.fixtures.basket import Experiences, experiences
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants, open_tenants
from tests.fixtures.webhook import Hooks
from tests.resolvers.job.workers import working
from tests.servers.receivers import Receiver, receiving


@pytest.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """Two marketplaces with three partners, and whoever works for them."""
    async with open_tenants(database_url, tmp_path) as found:
        yield found


@pytest.fixture
async def workers(shop: Shop, database_url: str) -> AsyncIterator[None]:
    """Two workers on the database of the shop."""
    async with working(shop.services, database_url, 2):
        yield


@pytest.fixture
def hooks(shop: Shop) -> Hooks:
    """The webhooks of a shop, which may be sent to this machine."""
    return Hooks.of(shop)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver of webhooks."""
    async with receiving() as found:
        yield found


@pytest.fixture
async def sold(shop: Shop) -> Experiences:
    """What the shop sells, besides products."""
    return await experiences(shop)


@pytest.fixture(params=[Direct, OverGraphQL], ids=["operation", "graphql"])
def ask(request: pytest.FixtureRequest, tenants: Tenants) -> Transport:
    """A way to ask for a change."""
    transport: Transport = request.param(tenants)
    return transport
