"""What every engine promises alike: in this process, on Redis, on a Redis Cluster."""

import asyncio
import datetime as dt
import itertools
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schema.core.errors import IdempotencyMismatch
from store.core.clock import Clock, clock
from store.kv import (
    ExpiredRecord,
    ExpiryIndex,
    IdempotentWrite,
    KeyValueStore,
    Record,
    WriteCondition,
    WriteMode,
    WriteResult,
    open_kv,
)
from store.kv.memory import MIN_SWEEP_SIZE, MemoryKeyValue
from tests.servers.redis_servers import ENGINES
from tests.store.kv.operations import ProcessClock

LIFE = dt.timedelta(hours=2)
SECOND = dt.timedelta(seconds=1)
MARGIN = dt.timedelta(seconds=30)
"""Time that a busy machine may take between two lines of a test."""
KEY = "test:{p1}:record"
_names = itertools.count()


def once(
    key: str = "k", fingerprint: bytes = b"f", answer: Callable[[int], bytes] = lambda version: b"v%d" % version
) -> IdempotentWrite:
    """An idempotency key that is kept for 24 hours."""

    async def make_answer(version: int) -> bytes:
        await asyncio.sleep(0)  # others write meanwhile
        return answer(version)

    return IdempotentWrite(f"test:{{p1}}:once:{key}", fingerprint, dt.timedelta(hours=24), make_answer)


async def write_version(
    kv: KeyValueStore, value: bytes, *, when: WriteCondition = WriteMode.ALWAYS, key: str = KEY
) -> int:
    """The version of a write that must take place."""
    result = await kv.write(key, value, LIFE, when=when)
    assert result is not None
    return result.version


async def test_nothing_is_there_before_it_is_written(kv: KeyValueStore) -> None:
    assert await kv.get(KEY) is None
    assert await kv.touch(KEY, LIFE) is None
    assert await kv.delete(KEY) is False


@pytest.mark.parametrize("value", [b"", b"\x00\xff\r\n", bytes(range(256)) * 4096], ids=["empty", "binary", "1 MiB"])
async def test_a_value_comes_back_as_it_was(kv: KeyValueStore, value: bytes) -> None:
    for when in (WriteMode.ALWAYS, WriteMode.PRESENT):
        version = await write_version(kv, value, when=when)
        assert await kv.get(KEY) == Record(value, version)


async def test_a_version_is_the_moment_of_the_write(kv: KeyValueStore) -> None:
    before = clock.milliseconds()
    version = await write_version(kv, b"1")
    assert before <= version <= clock.milliseconds()


async def test_versions_rise_however_fast_the_writes(kv: KeyValueStore) -> None:
    versions = [await write_version(kv, b"0")]
    versions += [await write_version(kv, b"1", when=WriteMode.PRESENT) for _ in range(100)]
    assert versions == sorted(set(versions))


async def test_versions_rise_where_clocks_disagree(kv: KeyValueStore, process_clock: ProcessClock) -> None:
    clock.advance(LIFE / 2)
    ahead = await write_version(kv, b"by a process whose clock is ahead")
    process_clock.behind = LIFE / 4
    assert await write_version(kv, b"1", when=WriteMode.PRESENT) == ahead + 1
    assert await write_version(kv, b"2", when=ahead + 1) == ahead + 2
    assert await kv.get(KEY) == Record(b"2", ahead + 2)


async def test_a_condition_that_does_not_hold_changes_nothing(kv: KeyValueStore) -> None:
    for when in (WriteMode.PRESENT, 0, 1, clock.milliseconds()):
        assert await kv.write(KEY, b"no", LIFE, when=when) is None
        assert await kv.get(KEY) is None
    version = await write_version(kv, b"yes", when=WriteMode.ABSENT)
    for refused in (WriteMode.ABSENT, version - 1, version + 1, 0, -1):
        assert await kv.write(KEY, b"no", LIFE, when=refused) is None
        assert await kv.get(KEY) == Record(b"yes", version)
    assert await write_version(kv, b"then", when=version) > version


async def test_only_one_of_many_is_first(kv: KeyValueStore) -> None:
    results = await asyncio.gather(*(kv.write(KEY, b"same", LIFE, when=WriteMode.ABSENT) for _ in range(50)))
    assert sum(result is not None for result in results) == 1


async def test_only_one_of_many_follows_a_version(kv: KeyValueStore) -> None:
    version = await write_version(kv, b"0")
    results = await asyncio.gather(*(kv.write(KEY, b"same", LIFE, when=version) for _ in range(50)))
    (won,) = [result for result in results if result is not None]
    assert await kv.get(KEY) == Record(b"same", won.version)


async def test_expiry_is_by_our_clock(kv: KeyValueStore) -> None:
    version = await write_version(kv, b"1")
    clock.advance(LIFE - MARGIN)
    assert await kv.get(KEY) == Record(b"1", version)
    clock.advance(2 * MARGIN)
    assert await kv.get(KEY) is None
    assert await kv.touch(KEY, LIFE) is None
    assert await kv.delete(KEY) is False
    assert await kv.delete(KEY, version=version) is False
    for when in (WriteMode.PRESENT, version):
        assert await kv.write(KEY, b"2", LIFE, when=when) is None
    await write_version(kv, b"3", when=WriteMode.ABSENT)


async def test_reading_does_not_extend_life_and_touching_does(kv: KeyValueStore) -> None:
    for key in ("test:{p1}:read", "test:{p1}:touched"):
        await write_version(kv, b"1", key=key)
    version = await write_version(kv, b"1", key="test:{p1}:touched", when=WriteMode.PRESENT)
    clock.advance(LIFE - MARGIN)
    assert await kv.get("test:{p1}:read") is not None
    assert await kv.touch("test:{p1}:touched", LIFE) == Record(b"1", version)
    clock.advance(LIFE - MARGIN)
    assert await kv.get("test:{p1}:read") is None
    assert await kv.get("test:{p1}:touched") == Record(b"1", version)


async def test_deleting_one_version_leaves_another(kv: KeyValueStore) -> None:
    version = await write_version(kv, b"1")
    assert await kv.delete(KEY, version=version + 1) is False
    assert await kv.get(KEY) == Record(b"1", version)
    assert await kv.delete(KEY, version=version) is True
    assert await kv.get(KEY) is None
    await write_version(kv, b"2")
    assert await kv.delete(KEY) is True
    assert await kv.get(KEY) is None


async def test_once_answers_the_first_answer_again(kv: KeyValueStore) -> None:
    first = await kv.write(KEY, b"1", LIFE, idempotent=once())
    assert first is not None
    assert first.response == b"v%d" % first.version
    assert not first.replayed
    assert await kv.delete(KEY)
    for when in (WriteMode.ALWAYS, WriteMode.PRESENT, WriteMode.ABSENT, 7):
        again = await kv.write(KEY, b"2", LIFE, when=when, idempotent=once(answer=lambda _: b"never kept"))
        assert again == first._replace(replayed=True)
    assert await kv.get(KEY) is None


async def test_once_refuses_another_request(kv: KeyValueStore) -> None:
    first = await kv.write(KEY, b"1", LIFE, idempotent=once())
    assert first is not None
    with pytest.raises(IdempotencyMismatch):
        await kv.write(KEY, b"2", LIFE, when=WriteMode.PRESENT, idempotent=once(fingerprint=b"another"))
    assert await kv.get(KEY) == Record(b"1", first.version)
    assert await kv.write(KEY, b"1", LIFE, idempotent=once()) == first._replace(replayed=True)


async def test_once_keeps_no_refusal(kv: KeyValueStore) -> None:
    assert await kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT, idempotent=once()) is None
    version = await write_version(kv, b"2")
    result = await kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT, idempotent=once(fingerprint=b"another"))
    assert result is not None
    assert not result.replayed
    assert result.version > version


async def test_once_lasts_24_hours(kv: KeyValueStore) -> None:
    first = await kv.write(KEY, b"1", LIFE, idempotent=once())
    clock.advance(dt.timedelta(hours=24) - MARGIN)
    again = await kv.write(KEY, b"1", LIFE, idempotent=once())
    assert first is not None
    assert again == first._replace(replayed=True)
    clock.advance(2 * MARGIN)
    other = await kv.write(KEY, b"2", LIFE, idempotent=once(fingerprint=b"another"))
    assert other is not None
    assert not other.replayed


async def test_the_kept_answer_tells_the_version_that_was_written(
    kv: KeyValueStore, process_clock: ProcessClock
) -> None:
    clock.advance(LIFE / 2)
    ahead = await write_version(kv, b"by a process whose clock is ahead")
    process_clock.behind = LIFE / 4
    result = await kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT, idempotent=once())
    assert result is not None
    assert (result.version, result.response) == (ahead + 1, b"v%d" % (ahead + 1))
    assert await kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT, idempotent=once()) == result._replace(replayed=True)


async def test_writes_at_once_with_keys_of_their_own_all_tell_their_version(kv: KeyValueStore) -> None:
    await write_version(kv, b"0")
    results = await asyncio.gather(
        *(kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT, idempotent=once(f"k{i}")) for i in range(50))
    )
    versions = [result.version for result in results if result]
    assert len(set(versions)) == 50
    assert [result.response for result in results if result] == [b"v%d" % version for version in versions]
    record = await kv.get(KEY)
    assert record is not None
    assert record.version == max(versions)


async def test_an_answer_that_cannot_be_made_writes_nothing(kv: KeyValueStore) -> None:
    def fails(version: int) -> bytes:
        raise ArithmeticError(version)

    with pytest.raises(ArithmeticError):
        await kv.write(KEY, b"1", LIFE, idempotent=once(answer=fails))
    assert await kv.get(KEY) is None
    result = await kv.write(KEY, b"1", LIFE, idempotent=once())
    assert result is not None
    assert not result.replayed


async def test_counting(kv: KeyValueStore) -> None:
    counts = await asyncio.gather(*(kv.increment(KEY, LIFE) for _ in range(50)))
    assert sorted(count.times for count in counts) == list(range(1, 51))
    assert all(LIFE - MARGIN < count.remaining <= LIFE for count in counts)
    clock.advance(LIFE - MARGIN)
    last = await kv.increment(KEY, LIFE)
    assert last.times == 51
    assert dt.timedelta() < last.remaining <= MARGIN
    clock.advance(2 * MARGIN)
    again = await kv.increment(KEY, LIFE)
    assert again.times == 1
    assert LIFE - MARGIN < again.remaining <= LIFE


async def test_a_count_can_be_read_and_forgotten(kv: KeyValueStore) -> None:
    for _ in range(3):
        await kv.increment(KEY, LIFE)
    assert await kv.get(KEY) == Record(b"", 3)
    assert await kv.delete(KEY)
    assert (await kv.increment(KEY, LIFE)).times == 1


async def test_it_answers(kv: KeyValueStore) -> None:
    await kv.ping()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["get", "touch", "write", "delete", "wait", "count", "expired", "cross off"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([WriteMode.ALWAYS, WriteMode.ABSENT, WriteMode.PRESENT, "latest", "other"]),
        st.sampled_from(["", "k1", "k2"]),
        st.binary(max_size=4),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@pytest.mark.parametrize("kv_url", ENGINES[1:], indirect=True)
async def test_engines_cannot_be_told_apart(
    kv_url: str, steps: list[tuple[str, str, WriteMode | str, str, bytes]]
) -> None:
    """Whatever is asked of the one in this process and of another in the same order, both answer the same."""
    still = _StillClock()
    engines = (open_kv("", still), open_kv(kv_url, still))
    run, latest = next(_names), dict.fromkeys("ab", 0)
    expiries = ExpiryIndex(f"test:{{p1}}:{run}:expiries", LIFE, LIFE / 2, 3 * LIFE)
    for action, name, when, key, value in steps:
        condition = when if isinstance(when, WriteMode) else latest[name] + (when == "other")
        answers = [
            await _step(
                engine, action, f"test:{{p1}}:{run}:{name}", condition, f"{run}:{key}" if key else "", value, expiries
            )
            for engine in engines
        ]
        assert answers[0] == answers[1]
        if isinstance(answers[0], WriteResult):
            latest[name] = answers[0].version
        if action == "wait":
            still.advance(dt.timedelta(minutes=40))
    for engine in engines:
        await engine.aclose()


async def _step(
    kv: KeyValueStore, action: str, key: str, when: WriteCondition, once_key: str, value: bytes, expiries: ExpiryIndex
) -> object:
    match action:
        case "get":
            return await kv.get(key)
        case "touch":
            # Not a record with an index of expiries, which no part of Coffret touches: when its value is gone then is told by
            # the real time of Redis, and not by the clock of these tests.
            return await kv.touch(f"{key}:count", LIFE)
        case "write":
            try:
                keep = once(once_key, value) if once_key else None
                return await kv.write(key, value, LIFE, when=when, idempotent=keep, expiry_index=expiries)
            except IdempotencyMismatch:
                return "mismatch"
        case "delete":
            return await kv.delete(key, version=when if isinstance(when, int) else None, expiry_index=expiries)
        case "expired":
            return await kv.expired(expiries, limit=2, skip=len(value) // 4)
        case "cross off":
            version = when if isinstance(when, int) else 0
            await kv.acknowledge(expiries, [ExpiredRecord(key, version, None)])
            return None
        case "count":
            return await kv.increment(f"{key}:count", LIFE)
        case _:
            return None


class _StillClock(Clock):
    """Time that only moves when told to."""

    def __init__(self) -> None:
        super().__init__()
        self._start = clock.now()

    def now(self) -> dt.datetime:
        return self._start + self._ahead

    def timestamp(self) -> float:
        return self.now().timestamp()


async def test_memory_forgets_what_is_dead() -> None:
    kv = MemoryKeyValue(clock)
    for number in range(MIN_SWEEP_SIZE - 1):
        await kv.write(f"dead {number}", b"", LIFE)
    clock.advance(LIFE + SECOND)
    await kv.write("live", b"1", LIFE)
    assert list(kv._records) == ["live"]
    for number in range(3 * MIN_SWEEP_SIZE):
        await kv.write(f"live {number}", b"", LIFE)
    assert len(kv._records) == 3 * MIN_SWEEP_SIZE + 1
