"""Counting more than one at a time, taking back, and only looking: alike in every engine."""

import asyncio
import datetime as dt

from store.core.clock import clock
from store.kv import Increment, KeyValueStore

KEY, LIFE = "coffret:{counting}:key", dt.timedelta(minutes=10)


async def test_several_are_counted_and_taken_back(kv: KeyValueStore) -> None:
    assert [(await kv.increment(KEY, LIFE, by=by)).times for by in (5, 0, -2, 0, 1, -9, 0)] == [5, 5, 3, 3, 4, 0, 0]


async def test_looking_and_taking_back_start_no_window(kv: KeyValueStore) -> None:
    for by in (0, -3):
        assert await kv.increment(KEY, LIFE, by=by) == (0, dt.timedelta())
    first = await kv.increment(KEY, LIFE, by=2)
    assert (first.times, first.remaining) == (2, LIFE)
    clock.advance(LIFE / 2)
    assert (await kv.increment(KEY, LIFE, by=0)).remaining <= LIFE / 2
    clock.advance(LIFE / 2)
    assert (await kv.increment(KEY, LIFE, by=0)).times == 0


async def test_what_is_counted_and_taken_back_at_once_is_exact(kv: KeyValueStore) -> None:
    await kv.increment(KEY, LIFE, by=1000)
    await asyncio.gather(*(kv.increment(KEY, LIFE, by=by) for by in [3, -2] * 50))
    assert (await kv.increment(KEY, LIFE, by=0)).times == 1050


async def test_several_counts_are_changed_together(kv: KeyValueStore) -> None:
    first, other = f"{KEY}:1", f"{KEY}:2"
    await kv.increment(other, LIFE, by=4)
    counts = await kv.increment_all(Increment(first, LIFE), Increment(other, LIFE / 2, -1), Increment(KEY, LIFE, 0))
    assert [count.times for count in counts] == [1, 3, 0]
    assert counts[0].remaining == LIFE
    assert [(await kv.increment(key, LIFE, by=0)).times for key in (first, other, KEY)] == [1, 3, 0]
