"""What every engine tells of records that have reached their end."""

import asyncio
import datetime as dt

import pytest

from store.core.clock import Clock, clock
from store.kv import ExpiredRecord, ExpiryIndex, IdempotentWrite, KeyValueStore, WriteMode, open_kv
from tests.servers.redis_servers import ENGINES, RedisServer
from tests.store.kv.operations import ProcessClock

LIFE = dt.timedelta(hours=2)
SECOND = dt.timedelta(seconds=1)
MARGIN = dt.timedelta(seconds=30)
AFTER, VALUE_KEPT, INDEX_KEPT = LIFE + dt.timedelta(minutes=1), dt.timedelta(minutes=30), dt.timedelta(days=3)
EXPIRIES = ExpiryIndex("test:{p1}:expiries", AFTER, VALUE_KEPT, INDEX_KEPT)
OTHERS = EXPIRIES._replace(key="test:{p1}:others")


def key(name: object) -> str:
    """The key of a record."""
    return f"test:{{p1}}:{name}"


async def write_expiring(
    kv: KeyValueStore, name: object = "a", value: bytes = b"1", when: WriteMode = WriteMode.ALWAYS
) -> int:
    """The version of a record written so that its end is told."""
    written = await kv.write(key(name), value, LIFE, when=when, expiry_index=EXPIRIES)
    assert written is not None
    return written.version


async def expired_records(kv: KeyValueStore, most: int = 100, skip: int = 0) -> list[ExpiredRecord]:
    """Whose end is told now."""
    return await kv.expired(EXPIRIES, limit=most, skip=skip)


async def test_nothing_has_ended_before_anything_was_written(kv: KeyValueStore) -> None:
    assert await expired_records(kv) == []
    await kv.acknowledge(EXPIRIES, [])
    await kv.acknowledge(EXPIRIES, [ExpiredRecord(key("a"), 1, None)])
    assert await expired_records(kv) == []


async def test_an_end_is_told_when_it_is_due_until_it_is_crossed_off(kv: KeyValueStore) -> None:
    version = await write_expiring(kv)
    for wait in (dt.timedelta(), LIFE + SECOND):
        clock.advance(wait)
        assert await expired_records(kv) == []
    assert await kv.get(key("a")) is None
    clock.advance(AFTER - LIFE)
    ended = [ExpiredRecord(key("a"), version, b"1")]
    assert await expired_records(kv) == await expired_records(kv) == ended
    await kv.acknowledge(EXPIRIES, ended)
    assert await expired_records(kv) == []


async def test_a_record_without_an_index_ends_silently(kv: KeyValueStore) -> None:
    await kv.write(key("a"), b"1", LIFE)
    await kv.write(key("b"), b"1", LIFE, expiry_index=OTHERS)
    clock.advance(AFTER + SECOND)
    assert await expired_records(kv) == []
    assert [record.key for record in await kv.expired(OTHERS, limit=9)] == [key("b")]


async def test_a_write_begins_anew(kv: KeyValueStore) -> None:
    await write_expiring(kv)
    clock.advance(LIFE - MARGIN)
    version = await write_expiring(kv, value=b"2", when=WriteMode.PRESENT)
    clock.advance(LIFE - MARGIN)
    assert await expired_records(kv) == []
    clock.advance(AFTER - LIFE + 2 * MARGIN)
    assert await expired_records(kv) == [ExpiredRecord(key("a"), version, b"2")]


async def test_a_refused_write_notes_nothing(kv: KeyValueStore) -> None:
    assert await kv.write(key("a"), b"1", LIFE, when=WriteMode.PRESENT, expiry_index=EXPIRIES) is None
    clock.advance(AFTER + SECOND)
    assert await expired_records(kv) == []


async def test_a_write_once_is_noted_once(kv: KeyValueStore) -> None:

    async def answer(version: int) -> bytes:
        return b"%d" % version

    keep = IdempotentWrite(key("once"), b"f", dt.timedelta(hours=24), answer)
    first = await kv.write(key("a"), b"1", LIFE, idempotent=keep, expiry_index=EXPIRIES)
    assert first is not None
    clock.advance(LIFE / 2)
    again = await kv.write(key("b"), b"1", LIFE, idempotent=keep, expiry_index=EXPIRIES)
    assert again == first._replace(replayed=True)
    clock.advance(AFTER - LIFE / 2 + SECOND)
    assert await expired_records(kv) == [ExpiredRecord(key("a"), first.version, b"1")]


async def test_what_was_deleted_never_ends(kv: KeyValueStore) -> None:
    version = await write_expiring(kv)
    assert await kv.delete(key("a"), version=version - 1, expiry_index=EXPIRIES) is False
    other = await write_expiring(kv, "b")
    assert await kv.delete(key("a"), version=version, expiry_index=EXPIRIES) is True
    clock.advance(AFTER + SECOND)
    assert await expired_records(kv) == [ExpiredRecord(key("b"), other, b"1")]
    assert await kv.delete(key("b"), expiry_index=EXPIRIES) is False
    assert await expired_records(kv) == [ExpiredRecord(key("b"), other, b"1")]


async def test_the_longest_unwritten_come_first_and_some_can_be_passed_over(kv: KeyValueStore) -> None:
    for name in "cab":
        await write_expiring(kv, name)
        clock.advance(SECOND)
    await write_expiring(kv, "a", when=WriteMode.PRESENT)
    clock.advance(AFTER + SECOND)
    assert [record.key for record in await expired_records(kv)] == [key("c"), key("b"), key("a")]
    assert [record.key for record in await expired_records(kv, most=2)] == [key("c"), key("b")]
    assert [record.key for record in await expired_records(kv, most=2, skip=1)] == [key("b"), key("a")]
    assert await expired_records(kv, skip=3) == []


async def test_what_is_told_is_dead_for_who_is_behind(kv: KeyValueStore, process_clock: ProcessClock) -> None:
    """A clock that is behind could bring a record back to life whose end has been told already."""
    version = await write_expiring(kv)
    clock.advance(AFTER + SECOND)
    assert len(await expired_records(kv)) == 1
    process_clock.behind = AFTER
    assert await kv.get(key("a")) is None
    assert await kv.touch(key("a"), LIFE) is None
    for when in (WriteMode.PRESENT, version):
        assert await kv.write(key("a"), b"2", LIFE, when=when, expiry_index=EXPIRIES) is None
    assert await kv.delete(key("a"), version=version, expiry_index=EXPIRIES) is False


async def test_crossing_off_leaves_what_was_written_anew(kv: KeyValueStore) -> None:
    await write_expiring(kv)
    clock.advance(AFTER + SECOND)
    ended = await expired_records(kv)
    version = await write_expiring(kv, value=b"2", when=WriteMode.ABSENT)
    await kv.acknowledge(EXPIRIES, ended)
    assert await expired_records(kv) == []
    clock.advance(AFTER + SECOND)
    assert await expired_records(kv) == [ExpiredRecord(key("a"), version, b"2")]


async def test_a_record_touched_meanwhile_is_told_after_its_new_end(kv: KeyValueStore) -> None:
    version = await write_expiring(kv)
    clock.advance(LIFE - MARGIN)
    assert await kv.touch(key("a"), LIFE) is not None
    clock.advance(LIFE - MARGIN)
    assert await expired_records(kv) == []
    assert await kv.get(key("a")) is not None
    clock.advance(2 * MARGIN)
    assert [(record.key, record.version) for record in await expired_records(kv)] == [(key("a"), version)]


@pytest.mark.redis
@pytest.mark.parametrize("kv_url", ENGINES[1:], indirect=True)
async def test_a_replace_by_who_is_behind_against_the_telling(kv: KeyValueStore, kv_url: str) -> None:
    """Either the record is written anew, and nothing is told, or its end is told, and it cannot be written any more."""
    for number in range(50):
        await write_expiring(kv, number)
    clock.advance(LIFE - MARGIN)
    ahead = Clock()
    ahead.advance(clock.ahead + AFTER - LIFE + 2 * MARGIN)
    teller = open_kv(kv_url, ahead)
    writes = [
        asyncio.create_task(kv.write(key(n), b"2", LIFE, when=WriteMode.PRESENT, expiry_index=EXPIRIES))
        for n in range(50)
    ]
    await asyncio.wait(writes, return_when=asyncio.FIRST_COMPLETED)
    ended = {record.key for record in await teller.expired(EXPIRIES, limit=50)}
    replaced = {key(n) for n, write in enumerate(writes) if await write is not None}
    await teller.aclose()
    assert replaced
    assert replaced.isdisjoint(ended)
    assert len(replaced) + len(ended) == 50


async def test_tellers_at_once_are_told_the_same(kv: KeyValueStore) -> None:
    for number in range(30):
        await write_expiring(kv, number)
    clock.advance(AFTER + SECOND)
    first, *others = await asyncio.gather(*(expired_records(kv) for _ in range(5)))
    assert len(first) == 30
    assert all(other == first for other in others)
    await asyncio.gather(*(kv.acknowledge(EXPIRIES, first) for _ in range(5)))
    assert await expired_records(kv) == []


async def test_an_index_nobody_reads_does_not_grow_for_ever(kv: KeyValueStore) -> None:
    for number in range(5):
        await write_expiring(kv, number)
    clock.advance(INDEX_KEPT - MARGIN)
    await write_expiring(kv, "late")
    clock.advance(AFTER)
    assert len(await expired_records(kv)) == 6
    await write_expiring(kv, "later")
    assert [record.key for record in await expired_records(kv)] == [key("late")]


@pytest.mark.redis
@pytest.mark.parametrize("kv_url", ENGINES[1:2], indirect=True)
async def test_a_value_that_is_no_longer_kept(kv: KeyValueStore, redis_server: RedisServer) -> None:
    version = await write_expiring(kv)
    life = redis_server.tell("PTTL", key("a"))
    assert LIFE + VALUE_KEPT - MARGIN < dt.timedelta(milliseconds=life) <= LIFE + VALUE_KEPT
    assert INDEX_KEPT - MARGIN < dt.timedelta(milliseconds=redis_server.tell("PTTL", EXPIRIES.key)) <= INDEX_KEPT
    redis_server.tell("DEL", key("a"))  # as its expiry does
    clock.advance(AFTER + SECOND)
    assert await expired_records(kv) == [ExpiredRecord(key("a"), version, None)]


async def test_a_value_is_no_longer_kept_in_this_process_either() -> None:
    kv = open_kv("", clock)
    version = await write_expiring(kv)
    clock.advance(LIFE + VALUE_KEPT - MARGIN)
    assert await expired_records(kv) == [ExpiredRecord(key("a"), version, b"1")]
    clock.advance(2 * MARGIN)
    assert await expired_records(kv) == [ExpiredRecord(key("a"), version, None)]
