"""Fixtures of the providers' tests."""

from collections.abc import AsyncIterator

import pytest

from tests.store.providers.mangopay_account import Account


@pytest.fixture
async def account() -> AsyncIterator[Account]:
    """A Mangopay adapter wired to routes of ours."""
    account = Account()
    yield account
    await account.adapter.aclose()
