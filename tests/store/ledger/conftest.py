"""What tests of the ledger may ask for."""

import pathlib
from collections.abc import AsyncIterator

import pytest

from tests.fixtures.ledger import Ledger, open_ledger
from tests.fixtures.tenants import Tenants, open_tenants


@pytest.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """Two marketplaces with three partners, each with a gift card."""
    async with open_tenants(database_url, tmp_path) as found:
        yield found


@pytest.fixture
async def ledger(tenants: Tenants) -> Ledger:
    """The book of the partner a1."""
    return await open_ledger(tenants)
