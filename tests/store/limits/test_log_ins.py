"""Held log-ins, in each engine: who misses waits, who shares a name or an address with them hardly does."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator

import pytest

from schema.core.errors import TooManyRequests, Unavailable, WrongCredentials
from store.core.clock import clock
from store.kv import KeyValueStore, open_kv
from store.limits.counters import SharedCounters
from store.limits.log_ins import (
    ADDRESS_BACKOFF,
    KNOWN_ADDRESS_LIFE,
    MAX_CONCURRENT,
    MAX_WAITING,
    PAIR_BACKOFF,
    RESERVED_FOR_KNOWN,
    RETRY_AFTER_SECONDS,
    USER_BACKOFF,
    LogInLimiter,
)
from tests.servers.redis_servers import RedisServer

HERE, THERE, ELSEWHERE = "192.0.2.1", "192.0.2.2", "2001:db8::7"


@pytest.fixture
def log_ins(kv: KeyValueStore) -> LogInLimiter:
    """Nobody has tried yet."""
    return LogInLimiter(SharedCounters(kv, clock))


async def held(log_ins: LogInLimiter, user: str = "ada", address: str = HERE, *, good: bool = False) -> int:
    """Try once; the seconds that it was held for, 0 where the password was looked at."""
    try:
        with contextlib.suppress(WrongCredentials):
            async with log_ins.attempt(user, address) as attempt:
                attempt.succeeded = checked(good=good)
    except TooManyRequests as error:
        return error.retry_after
    return 0


def checked(*, good: bool) -> bool:
    """A password, checked."""
    if not good:
        raise WrongCredentials
    return True


async def missed(log_ins: LogInLimiter, times: int, user: str = "ada", address: str = HERE) -> None:
    """Misses, each after whatever hold there was."""
    for _ in range(times):
        while wait := await held(log_ins, user, address):
            clock.advance(dt.timedelta(seconds=wait))


async def test_from_the_fifth_miss_on_each_is_followed_by_a_longer_hold(log_ins: LogInLimiter) -> None:
    assert [await held(log_ins) for _ in range(5)] == [0] * 5
    for seconds in (1, 2, 4, 8, 16, 32):
        assert [await held(log_ins), await held(log_ins, good=True)] == [seconds, seconds]
        clock.advance(dt.timedelta(seconds=seconds))
        assert await held(log_ins) == 0


async def test_what_is_refused_does_not_count(log_ins: LogInLimiter) -> None:
    await missed(log_ins, 5)
    assert {await held(log_ins) for _ in range(30)} == {1}
    clock.advance(dt.timedelta(seconds=1))
    assert await held(log_ins) == 0
    assert await held(log_ins) == 2


async def test_a_hold_is_never_longer_than_an_hour(log_ins: LogInLimiter) -> None:
    await missed(log_ins, 20)
    assert 3595 < await held(log_ins) <= 3600


async def test_of_many_guesses_at_once_only_the_free_ones_are_looked_at(
    log_ins: LogInLimiter, kv: KeyValueStore
) -> None:
    other_process = LogInLimiter(SharedCounters(kv, clock))
    waits = await asyncio.gather(*(held(process) for process in (log_ins, other_process) for _ in range(50)))
    assert waits.count(0) == PAIR_BACKOFF.free_misses + 1


async def test_honest_log_ins_at_once_do_not_count_against_each_other(log_ins: LogInLimiter) -> None:
    assert set(await asyncio.gather(*(held(log_ins, good=True) for _ in range(60)))) == {0}
    different = (held(log_ins, f"user {n}", THERE, good=True) for n in range(4 * ADDRESS_BACKOFF.free_misses))
    assert set(await asyncio.gather(*different)) == {0}


async def test_a_success_clears_the_pair_and_nothing_else(log_ins: LogInLimiter) -> None:
    await missed(log_ins, 4)
    assert await held(log_ins, good=True) == 0
    assert [await held(log_ins) for _ in range(6)] == [0] * 5 + [1]
    await missed(log_ins, 4, address=THERE)
    await held(log_ins, address=ELSEWHERE, good=True)
    assert [await held(log_ins, address=THERE) for _ in range(2)] == [0, 1]


async def test_a_stranger_can_lock_nobody_out(log_ins: LogInLimiter) -> None:
    """Guessing from anywhere holds a name for half a minute at most, and not where its user has logged in before."""
    await held(log_ins, good=True)
    longest = 0
    for n in range(60):
        while wait := await held(log_ins, address=f"198.51.100.{n}"):
            longest = max(longest, wait)
            clock.advance(dt.timedelta(seconds=wait))
    assert longest == USER_BACKOFF.max_delay.total_seconds()
    assert 0 < await held(log_ins, address=ELSEWHERE, good=True) <= 30
    assert await held(log_ins, good=True) == 0
    clock.advance(dt.timedelta(seconds=30))
    assert await held(log_ins, address=ELSEWHERE, good=True) == 0


async def test_an_address_is_known_for_a_while_only(log_ins: LogInLimiter) -> None:
    await held(log_ins, good=True)
    clock.advance(KNOWN_ADDRESS_LIFE)
    for n in range(USER_BACKOFF.free_misses + 1):
        await held(log_ins, address=f"198.51.100.{n}")
    assert await held(log_ins, good=True) == 1


async def test_many_users_tried_from_one_address_are_held(log_ins: LogInLimiter) -> None:
    await held(log_ins, "regular", good=True)
    for n in range(ADDRESS_BACKOFF.free_misses + 1):
        assert await held(log_ins, f"user {n}") == 0
    assert await held(log_ins, "another") == 1
    assert await held(log_ins, "another", THERE) == 0
    assert await held(log_ins, "regular", good=True) == 0


async def test_one_good_account_does_not_reset_the_count_of_its_address(log_ins: LogInLimiter) -> None:
    for n in range(ADDRESS_BACKOFF.free_misses):
        assert await held(log_ins, "own", good=True) == 0
        assert await held(log_ins, f"user {n}") == 0
    assert await held(log_ins, "one more") == 0
    assert await held(log_ins, "another") == 1


async def test_addresses_of_one_ipv6_network_are_one(log_ins: LogInLimiter) -> None:
    for n in range(5):
        await held(log_ins, address=f"2001:db8::{n}")
    assert await held(log_ins, address="2001:db8::ffff") == 1
    assert await held(log_ins, address="2001:db8:0:1::1") == 0


async def test_without_an_address_only_the_short_hold_applies(log_ins: LogInLimiter) -> None:
    await missed(log_ins, 30, address="")
    assert 0 < await held(log_ins, address="") <= 30


async def test_what_fails_for_another_reason_is_no_miss(log_ins: LogInLimiter) -> None:
    for _ in range(20):
        with pytest.raises(Unavailable):
            async with log_ins.attempt("ada", HERE):
                raise Unavailable(what="The database")
    assert [await held(log_ins) for _ in range(6)] == [0] * 5 + [1]


async def test_giving_up_half_way_is_a_miss(log_ins: LogInLimiter) -> None:
    async def interrupted() -> None:
        async with log_ins.attempt("ada", HERE):
            raise asyncio.CancelledError

    for _ in range(5):
        with contextlib.suppress(asyncio.CancelledError):
            await interrupted()
    assert await held(log_ins) == 1


async def test_passwords_are_checked_a_few_at_a_time(log_ins: LogInLimiter) -> None:
    running = most = 0

    async def log_in(n: int) -> None:
        nonlocal running, most
        async with log_ins.attempt(f"user {n}", HERE) as attempt:
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.05)
            running -= 1
            attempt.succeeded = True

    await asyncio.gather(*(log_in(n) for n in range(40)))
    assert 1 < most <= MAX_CONCURRENT


@pytest.fixture
async def two_processes(redis_server: RedisServer) -> AsyncIterator[tuple[LogInLimiter, LogInLimiter]]:
    """Two processes with connections of their own."""
    stores = [open_kv(redis_server.url, clock) for _ in range(2)]
    one, other = (LogInLimiter(SharedCounters(store, clock)) for store in stores)
    yield one, other
    for store in stores:
        await store.aclose()


@pytest.mark.redis
async def test_processes_share_what_they_count(two_processes: tuple[LogInLimiter, LogInLimiter]) -> None:
    one, other = two_processes
    await missed(one, 3)
    await missed(other, 2)
    assert (await held(one), await held(other)) == (1, 1)
    clock.advance(dt.timedelta(seconds=1))
    assert await held(one, good=True) == 0
    assert [await held(other) for _ in range(6)] == [0] * 5 + [1]


@pytest.mark.redis
async def test_without_the_store_each_process_counts_alone(own_server: RedisServer) -> None:
    store = open_kv(own_server.url, clock)
    log_ins = LogInLimiter(SharedCounters(store, clock))
    await missed(log_ins, 2)
    own_server.kill()
    assert [await held(log_ins) for _ in range(6)] == [0] * 5 + [1]
    await store.aclose()


async def test_a_flood_of_strangers_waits_in_a_line_of_its_own_that_ends(log_ins: LogInLimiter) -> None:
    async with log_ins.attempt("ada", HERE) as attempt:
        attempt.succeeded = True
    released = asyncio.Event()
    refused: list[int] = []

    async def stranger(number: int) -> None:
        try:
            with contextlib.suppress(WrongCredentials):
                async with log_ins.attempt(f"stranger{number}", f"198.51.{number // 250}.{number % 250}"):
                    await released.wait()
                    raise WrongCredentials
        except TooManyRequests as error:
            refused.append(error.retry_after)

    flood = [asyncio.create_task(stranger(number)) for number in range(400)]
    async with asyncio.timeout(60):
        while len(refused) < 400 - MAX_CONCURRENT - MAX_WAITING + RESERVED_FOR_KNOWN:
            await asyncio.sleep(0.01)
        assert await held(log_ins, "bea", THERE) == RETRY_AFTER_SECONDS
        assert await held(log_ins, good=True) == 0
        released.set()
        await asyncio.gather(*flood)
        assert await held(log_ins, "bea", THERE) == 0
    assert set(refused) == {RETRY_AFTER_SECONDS}
