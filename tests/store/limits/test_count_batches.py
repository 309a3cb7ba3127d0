"""Additions to counts wait for one another and are sent together, and each gets what it would have got alone."""

import asyncio
import datetime as dt

import pytest

from store.core.clock import clock
from store.kv import Increment, KeyValueStore, WindowCount, open_kv
from store.limits.count_batches import BATCH_SIZE, CountBatches
from store.limits.counters import SharedCounters

HOUR = dt.timedelta(hours=1)
ONE, OTHER = (Increment(f"{{batches}}:{name}", HOUR) for name in ("one", "other"))
LESS = ONE._replace(by=-1)
READ = ONE._replace(by=0)


class Watched:
    """A store that notes how many additions each call brings, and fails when told to."""

    def __init__(self, kv: KeyValueStore) -> None:
        self.kv = kv
        self.calls: list[int] = []
        self.fails = False

    async def increment_all(self, *increments: Increment) -> list[WindowCount]:
        """Note, and pass on."""
        self.calls.append(len(increments))
        await asyncio.sleep(0.001)
        if self.fails:
            raise RuntimeError("A bug.")
        return await self.kv.increment_all(*increments)


@pytest.fixture
def store(kv: KeyValueStore) -> Watched:
    """A watched store, on each engine."""
    return Watched(kv)


@pytest.fixture
def batches(store: Watched) -> CountBatches:
    """What is tested."""
    return CountBatches(SharedCounters(store, clock))  # type: ignore[arg-type]


async def times(batches: CountBatches, *increments: Increment) -> list[int]:
    """The counts after an addition."""
    return [count.times for count in await batches.add(increments)]


async def test_what_is_added_at_once_is_sent_in_few_calls_and_in_order(store: Watched, batches: CountBatches) -> None:
    counts = await asyncio.gather(*(times(batches, ONE, OTHER) for _ in range(20)))
    assert counts == [[n, n] for n in range(1, 21)]
    assert store.calls == [40]


async def test_what_comes_while_the_store_answers_is_sent_next(store: Watched, batches: CountBatches) -> None:
    first = asyncio.create_task(times(batches, ONE))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    rest = asyncio.gather(*(times(batches, ONE) for _ in range(3)))
    assert await first == [1]
    assert await rest == [[2], [3], [4]]
    assert store.calls == [1, 3]


async def test_no_call_brings_more_than_a_batch(store: Watched, batches: CountBatches) -> None:
    counts = await asyncio.gather(*(times(batches, ONE) for _ in range(BATCH_SIZE + 1)))
    assert counts[-1] == [BATCH_SIZE + 1]
    assert store.calls == [BATCH_SIZE, 1]


async def test_what_nobody_waits_for_comes_before_what_follows(batches: CountBatches) -> None:
    assert await times(batches, ONE) == [1]
    batches.add_later([LESS])
    assert await times(batches, ONE) == [1]


async def test_what_nobody_waits_for_is_sent_before_the_end(store: Watched, batches: CountBatches) -> None:
    batches.add_later([ONE])
    await batches.aclose()
    assert [count.times for count in await store.kv.increment_all(READ)] == [1]
    await batches.aclose()


async def test_nothing_is_sent_for_nothing(store: Watched, batches: CountBatches) -> None:
    batches.add_later([])
    assert await times(batches) == []
    assert store.calls == []


async def test_who_gives_up_is_counted_and_disturbs_nobody(batches: CountBatches) -> None:
    gone, stays = (asyncio.create_task(times(batches, ONE)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == [2]


async def test_a_bug_reaches_all_who_wait_and_no_one_after_them(store: Watched, batches: CountBatches) -> None:
    store.fails = True
    failed = await asyncio.gather(*(times(batches, ONE) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in failed] == [RuntimeError] * 3
    batches.add_later([ONE])
    await batches.aclose()
    store.fails = False
    assert await times(batches, ONE) == [1]


@pytest.mark.redis
async def test_two_processes_count_together(kv_url: str) -> None:
    stores = [open_kv(kv_url, clock) for _ in range(2)] if kv_url else [open_kv("", clock)] * 2
    one, other = (CountBatches(SharedCounters(store, clock)) for store in stores)
    counts = await asyncio.gather(*(times(process, ONE) for process in (one, other) for _ in range(30)))
    assert sorted(counts) == [[n] for n in range(1, 61)]
    for store in stores:
        await store.aclose()
