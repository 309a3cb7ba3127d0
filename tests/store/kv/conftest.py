"""A store of keys and values in a process whose clock may be behind."""

from collections.abc import AsyncIterator

import pytest

from store.kv import KeyValueStore, open_kv
from tests.store.kv.operations import ProcessClock


@pytest.fixture
def process_clock() -> ProcessClock:
    """The clock that the store is opened with."""
    return ProcessClock()


@pytest.fixture
async def kv(kv_url: str, process_clock: ProcessClock) -> AsyncIterator[KeyValueStore]:
    """An empty store, once for each engine."""
    store = open_kv(kv_url, process_clock)
    yield store
    await store.aclose()
