"""The provider that demo data is laid with."""

from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette

from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import clock


@pytest.fixture
async def sandbox() -> AsyncIterator[Starlette]:
    """An empty provider."""
    app = sandbox_app(SandboxSettings(public_url="http://provider.test/_provider", clock=clock))
    yield app
    await close(app)
