"""Carts in the process are bounded in number and bytes; what expired goes first, and all else goes on."""

import datetime as dt
import tracemalloc

import pytest
from prometheus_client import REGISTRY

from schema.cart.cart import CartItem
from schema.core.errors import CartStoreFull
from store.cart.carts import Carts, IdempotentSave
from store.checkout.sessions import Sessions
from store.core.clock import clock
from store.kv import KeyValueStore, MemoryLimit, open_kv
from store.kv.memory import MemoryKeyValue
from tests.store.kv.operations import an_answer

ITEMS = [CartItem(number, 2, None, {5: "Zoë"}) for number in range(3)]
MANY = 64 * 1024 * 1024
PLACE = "https://shop.example/"


def kv_of(carts: int = 100_000, bytes: int = MANY) -> KeyValueStore:
    return open_kv("", clock, MemoryLimit(carts, bytes))


def key(name: str) -> IdempotentSave:
    return IdempotentSave(1, name, b"f", an_answer)


def memory_used(kv: KeyValueStore) -> MemoryLimit:
    """What is counted as taken."""
    assert isinstance(kv, MemoryKeyValue)
    return MemoryLimit(kv._carts, kv._bytes)


async def test_one_more_than_there_is_room_for_is_refused_and_changes_nothing() -> None:
    carts = Carts(kv := kv_of(carts=3))
    held = [(await carts.create(1, ITEMS, PLACE)).cart for _ in range(3)]
    for once in (None, key("k")):
        with pytest.raises(CartStoreFull) as refused:
            await carts.create(2, ITEMS, PLACE, idempotent=once)
        assert (refused.value.status, refused.value.retry_after) == (503, 30)
    assert [await carts.get(1, cart.id) for cart in held] == held
    assert memory_used(kv).carts == 3
    assert await carts.delete_if_unchanged(1, held[0].id, held[0].last_modified)
    assert not (await carts.create(2, ITEMS, PLACE, idempotent=key("k"))).replayed  # nothing was kept of the refusal
    assert memory_used(kv).carts == 3
    await kv.aclose()


async def test_bytes_are_bounded_as_well_and_a_cart_may_become_smaller() -> None:
    carts = Carts(kv := kv_of(bytes=15_000))
    large = [CartItem(number, 1, None, {1: "x" * 100}) for number in range(80)]
    first = (await carts.create(1, large, "")).cart
    with pytest.raises(CartStoreFull):
        await carts.create(1, large, "")
    with pytest.raises(CartStoreFull):
        await carts.replace(1, first.id, large * 2, "")
    assert await carts.get(1, first.id) == first
    assert (await carts.replace(1, first.id, large[:-1], "")) is not None
    before = memory_used(kv).bytes
    assert (await carts.replace(1, first.id, ITEMS, "", idempotent=key("smaller"))) is not None
    assert memory_used(kv).bytes < before
    await carts.create(1, large, "")


async def test_what_expired_goes_first() -> None:
    carts = Carts(kv := kv_of(carts=3))
    for _ in range(3):
        await carts.create(1, ITEMS, PLACE)
    clock.advance(dt.timedelta(hours=2, minutes=29))
    with pytest.raises(CartStoreFull):  # its end is still to be told
        await carts.create(1, ITEMS, PLACE)
    clock.advance(dt.timedelta(minutes=2))
    for _ in range(3):
        await carts.create(1, ITEMS, PLACE)
    with pytest.raises(CartStoreFull):
        await carts.create(1, ITEMS, PLACE)
    assert memory_used(kv).carts == 3


async def test_what_was_told_to_have_expired_makes_room_at_once() -> None:
    carts = Carts(kv := kv_of(carts=2))
    for _ in range(2):
        await carts.create(1, ITEMS, PLACE)
    clock.advance(dt.timedelta(hours=2, minutes=2))
    ended = await carts.expired(1, limit=10)
    assert len(ended) == 2
    assert all(cart.content for cart in ended)
    with pytest.raises(CartStoreFull):
        await carts.create(1, ITEMS, PLACE)
    await carts.acknowledge(1, ended)
    for _ in range(2):
        await carts.create(1, ITEMS, PLACE)
    assert memory_used(kv).carts == 2


async def test_sessions_and_counts_go_on_where_there_is_no_room() -> None:
    kv = kv_of(carts=1)
    carts, sessions = Carts(kv), Sessions(kv)
    cart = (await carts.create(1, ITEMS, PLACE)).cart
    with pytest.raises(CartStoreFull):
        await carts.create(1, ITEMS, PLACE)
    version = await sessions.save(1, "id", b"{}")
    assert version is not None
    assert await sessions.save(1, "id", b"{" + b" " * 10_000 + b"}", version) is not None
    assert (await kv.increment("coffret:count", dt.timedelta(minutes=1))).times == 1
    assert await carts.delete_if_unchanged(1, cart.id, cart.last_modified)
    assert memory_used(kv) == (0, 0)


async def test_what_there_is_adds_up_whatever_happened() -> None:
    kv = kv_of()
    carts = Carts(kv)
    held = [(await carts.create(1, ITEMS, PLACE, idempotent=key(str(n)))).cart for n in range(2000)]
    for number, cart in enumerate(held):
        if number % 3 == 0:
            await carts.replace(1, cart.id, ITEMS[:1], "", idempotent=key(f"again {number}"))
        if number % 5 == 0:
            await carts.delete_if_unchanged(1, cart.id, cart.last_modified)
    assert isinstance(kv, MemoryKeyValue)
    left = kv._records.values()
    assert (
        memory_used(kv).carts
        == sum(record.carts for record in left)
        == 2000 - sum(n % 5 == 0 and n % 3 > 0 for n in range(2000))
    )
    assert memory_used(kv).bytes == sum(record.weight for record in left)


async def _carts(kv: KeyValueStore) -> None:
    carts = Carts(kv)
    for _ in range(2000):
        await carts.create(1, ITEMS, PLACE)


async def test_a_cart_takes_about_what_it_is_counted_for() -> None:
    kv = kv_of()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        await _carts(kv)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.5 * memory_used(kv).bytes < taken < 1.2 * memory_used(kv).bytes
    assert taken / 2000 < 1_000


def in_memory() -> list[float]:
    """What the metrics tell of carts and bytes."""
    names = ("coffret_carts_in_memory", "coffret_carts_in_memory_bytes")
    return [REGISTRY.get_sample_value(name) or 0 for name in names]


async def test_metrics_tell_how_full_it_is() -> None:
    kv, others = kv_of(), in_memory()
    carts = Carts(kv)
    for name in ("a", "b"):
        await carts.create(1, ITEMS, PLACE, idempotent=key(name))
    assert [now - before for now, before in zip(in_memory(), others, strict=True)] == list(memory_used(kv))
    assert memory_used(kv).carts == 2
    await kv.aclose()
    assert in_memory() == others
