"""One application for all tests of a module, and each way to ask it."""

import copy
import pathlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from tests.fixtures.partner import Partners, partners_over
from tests.fixtures.tenants import PASSWORD, Tenants, open_tenants
from tests.servers.databases import Databases
from tests.transports import TRANSPORTS, Transport


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tenants(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tenants]:
    """Two marketplaces with three partners and whoever works for them.

    A user of the first partner has a password, another may do nothing; the second partner's customers go to one host only.
    """
    folder: pathlib.Path = tmp_path_factory.mktemp("data")
    async with databases.one() as url, open_tenants(url, folder) as found:
        await found.user("powerless", "partner", [], partner_id=found.partners["a1"].id)
        await found.with_password("a1", PASSWORD)
        await found.only_returns_to("a2", "shop.example")
        yield found


@pytest.fixture(params=TRANSPORTS, ids=lambda kind: kind.name)
def transport(request: pytest.FixtureRequest, tenants: Tenants) -> Transport:
    """A way to ask."""
    made: Transport = request.param(tenants)
    return made


@pytest.fixture
def partners(transport: Transport) -> Partners:
    """Partners, by each way to ask."""
    return partners_over(transport)


COUNTED = (":rate:", ":log-in:", ":{guesses}:", "provider-calls")


@pytest.fixture
def stored(tenants: Tenants) -> Callable[[], Awaitable[Any]]:
    """All that is kept: every row, and every cart. Who asks too often, and who may not log in, is counted beside them."""

    async def look() -> Any:
        held: dict[str, Any] = tenants.services.kv._records  # type: ignore[attr-defined]
        carts = {key: value for key, value in held.items() if not any(counted in key for counted in COUNTED)}
        return await tenants.snapshot(), copy.deepcopy(carts)

    return look
