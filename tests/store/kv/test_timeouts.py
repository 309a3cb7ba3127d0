"""Giving up on a store that does not answer, with one timer for all who wait."""

import asyncio
import contextlib
import datetime as dt
import time
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from store.core.clock import clock
from store.kv import open_kv
from store.kv.server import ServerKeyValue
from store.kv.timeouts import CHECKS_PER_TIMEOUT, TimeoutScheduler
from tests.servers.redis_servers import RedisServer

SECONDS = 0.2
LATEST = SECONDS * (1 + 1 / CHECKS_PER_TIMEOUT) + 0.15
"""With some time for a busy machine."""


async def waiting(scheduler: TimeoutScheduler, seconds: float) -> str:
    """Wait so long, with a timeout."""
    with scheduler():
        await asyncio.sleep(seconds)
    return "done"


async def test_a_wait_that_takes_too_long_is_ended() -> None:
    begun = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        await waiting(TimeoutScheduler(SECONDS), 60)
    assert SECONDS <= asyncio.get_running_loop().time() - begun < LATEST


async def test_each_wait_has_its_own_time() -> None:
    scheduler = TimeoutScheduler(SECONDS)

    async def later(after: float, seconds: float) -> str:
        await asyncio.sleep(after)
        return await waiting(scheduler, seconds)

    results = await asyncio.gather(
        waiting(scheduler, 60), waiting(scheduler, SECONDS / 2), later(SECONDS * 0.8, SECONDS * 0.8), later(SECONDS, 60),
        return_exceptions=True,
    )  # fmt: skip
    assert [type(result) for result in results] == [TimeoutError, str, str, TimeoutError]


async def test_it_begins_to_look_again_after_a_quiet_time() -> None:
    scheduler = TimeoutScheduler(SECONDS)
    assert await waiting(scheduler, 0) == "done"
    await asyncio.sleep(SECONDS)
    with pytest.raises(TimeoutError):
        await waiting(scheduler, 60)


async def test_time_in_which_the_loop_was_busy_does_not_count() -> None:
    scheduler, answered = TimeoutScheduler(SECONDS), asyncio.get_running_loop().create_future()

    async def busy() -> None:
        for _ in range(CHECKS_PER_TIMEOUT - 1):
            time.sleep(2 * SECONDS)  # noqa: ASYNC251 - as work that does not let others run
            await asyncio.sleep(0)
        answered.set_result("done")

    working = asyncio.create_task(busy())
    with scheduler():
        assert await answered == "done"
    await working
    with pytest.raises(TimeoutError):
        await waiting(scheduler, 60)


async def test_a_wait_may_begin_anew_for_as_long_as_there_is_reason_to() -> None:
    scheduler, reasons = TimeoutScheduler(SECONDS), [True, True, False]
    begun = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError), scheduler(lambda: reasons.pop(0)):
        await asyncio.sleep(60)
    assert reasons == []
    assert asyncio.get_running_loop().time() - begun >= 3 * SECONDS


async def test_who_is_cancelled_by_somebody_else_is_cancelled() -> None:
    task = asyncio.create_task(waiting(TimeoutScheduler(SECONDS), 60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_fails_by_itself_fails_as_it_is() -> None:
    scheduler = TimeoutScheduler(SECONDS)
    with pytest.raises(ValueError, match="mine"), scheduler():
        raise ValueError("mine")
    await asyncio.sleep(LATEST)  # nobody is given up on afterwards


async def test_a_timeout_around_it_is_told_apart() -> None:
    async def inner() -> str:
        try:
            return await waiting(TimeoutScheduler(60), 60)
        except TimeoutError:
            return "the wrong one"

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(inner(), SECONDS / 4)


@pytest.fixture
async def hanging_once(redis_server: RedisServer) -> AsyncIterator[int]:
    """A port behind which is the server, but on the first connection nobody answers."""
    connections = 0

    async def carry(client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        hangs = connections == 1
        server, requests = await asyncio.open_connection("127.0.0.1", redis_server.port)
        with contextlib.closing(answers), contextlib.closing(requests):
            while request := await client.read(65536):
                if not hangs:
                    requests.write(request)
                    answers.write(await server.read(65536))

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()


@pytest.mark.redis
async def test_a_connection_that_hangs_is_replaced(hanging_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.kv.clients.TIMEOUT", dt.timedelta(seconds=SECONDS))
    kv = open_kv(f"redis://127.0.0.1:{hanging_once}", clock)
    try:
        await kv.write("test:hanging", b"1", dt.timedelta(minutes=1))
        record = await kv.get("test:hanging")
        assert record is not None
        assert record.value == b"1"
    finally:
        await kv.aclose()


@pytest.fixture
async def slow(redis_server: RedisServer) -> AsyncIterator[int]:
    """A port behind which is the server, a tenth of a second away."""

    async def carry(client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, requests = await asyncio.open_connection("127.0.0.1", redis_server.port)
        with contextlib.closing(answers), contextlib.closing(requests):
            while request := await client.read(65536):
                requests.write(request)
                answer = await server.read(65536)
                await asyncio.sleep(0.1)
                answers.write(answer)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.redis
async def test_who_waits_for_a_turn_waits_as_long_as_others_are_answered(slow: int) -> None:
    client = Redis.from_url(f"redis://127.0.0.1:{slow}", retry=Retry(NoBackoff(), 0))
    kv = ServerKeyValue(client, clock, connections=2, timeout=dt.timedelta(seconds=1))
    try:
        assert await asyncio.gather(*(kv.get(f"key {number}") for number in range(60))) == [None] * 60
    finally:
        await kv.aclose()
