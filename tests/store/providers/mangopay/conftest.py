"""Fixtures of the providers' tests."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.world import running
from tests.store.providers.mangopay.account import Account
from tests.store.providers.mangopay.api_server import Desk, adapter_of


@pytest.fixture
async def account() -> AsyncIterator[Account]:
    """A Mangopay adapter wired to routes of ours."""
    account = Account()
    yield account
    await account.adapter.aclose()


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """A desk at an empty sandbox."""
    async with running() as world:
        adapter = adapter_of(world)
        yield Desk(world, adapter)
        await adapter.aclose()
