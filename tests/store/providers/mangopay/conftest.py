"""Fixtures of the providers' tests."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import running
from tests.store.providers.mangopay.account import Account
from tests.store.providers.mangopay.connected_provider import ConnectedProvider, adapter_of


@pytest.fixture
async def account() -> AsyncIterator[Account]:
    """A Mangopay adapter wired to routes of ours."""
    account = Account()
    yield account
    await account.adapter.aclose()


@pytest.fixture
async def provider() -> AsyncIterator[ConnectedProvider]:
    """A provider at an empty sandbox."""
    async with running() as api:
        adapter = adapter_of(api)
        yield ConnectedProvider(api, adapter)
        await adapter.aclose()
