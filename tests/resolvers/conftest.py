"""What tests of operations may ask for."""

import pathlib
from collections.abc import AsyncIterator

import pytest

from tests.tenants import Direct, OverGraphQL, Tenants, Transport, open_tenants


@pytest.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """Two marketplaces with three partners, and whoever works for them."""
    async with open_tenants(database_url, tmp_path) as found:
        yield found


@pytest.fixture(params=[Direct, OverGraphQL], ids=["operation", "graphql"])
def ask(request: pytest.FixtureRequest, tenants: Tenants) -> Transport:
    """A way to ask for a change."""
    transport: Transport = request.param(tenants)
    return transport
