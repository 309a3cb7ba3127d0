"""The demo data in a database, and the provider that it is laid with."""

import pathlib
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette

from coffret.demo.seed import DemoData
from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import clock
from store.core.settings import Settings
from store.database.db import Database
from tests.fixtures.demo import lay_demo


@pytest.fixture
async def sandbox() -> AsyncIterator[Starlette]:
    """An empty provider."""
    app = sandbox_app(SandboxSettings(public_url="http://provider.test/_provider", clock=clock))
    yield app
    await close(app)


@pytest.fixture
def settings(tmp_path: pathlib.Path) -> Settings:
    """The settings that it is laid with."""
    return Settings(funnel_scheme="http", port=8123, data_dir=tmp_path)


@pytest.fixture
async def demo_data(database: Database, database_url: str, sandbox: Starlette, settings: Settings) -> DemoData:
    """The demo data, in a database that was empty."""
    return await lay_demo(database, database_url, settings, sandbox)
