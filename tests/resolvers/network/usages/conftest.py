"""Who takes part when gift cards and vouchers of networks are used."""

import pytest

from tests.fixtures.network import link
from tests.fixtures.tenants import Tenants


@pytest.fixture(autouse=True)
async def linked(tenants: Tenants) -> None:
    """Partners a1 and b1 take part in their networks, a2 does not."""
    await link(tenants, "a1")
    await link(tenants, "b1", source_id=200)
