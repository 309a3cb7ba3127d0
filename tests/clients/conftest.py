"""The demo installation, as the README has it, and the description that it serves."""

import json
import pathlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.described import description
from tests.documents import Installation, demo_installation
from tests.servers.databases import Databases


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def installation(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    """A demo installation."""
    async with databases.one() as url, demo_installation(url, tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The description, as a file."""
    path = tmp_path_factory.mktemp("described") / "openapi.json"
    path.write_text(json.dumps(description()))
    return path
