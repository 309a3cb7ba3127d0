"""What tests of the back office may ask for."""

import pathlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.admin.office import Office, demo_office
from tests.fixtures.tenants import Tenants, open_tenants
from tests.servers.coffret_programs import DataDirectories


@pytest.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """Two marketplaces with three partners, and whoever works for them."""
    async with open_tenants(database_url, tmp_path) as found:
        yield found


@pytest.fixture
async def office(tenants: Tenants) -> AsyncIterator[Office]:
    """The back office of the tenants."""
    made = Office(tenants)
    yield made
    await made.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def demo(data_directories: DataDirectories, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    """The back office over the demo data, which has something of almost every kind. Tests that use it change nothing."""
    async with demo_office(data_directories, tmp_path_factory.mktemp("files")) as made:
        yield made
