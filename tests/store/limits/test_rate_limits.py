"""The general limit: exact where one process counts, within a known bound where many do, and nobody waits for it."""

import asyncio
import datetime as dt
import math
from collections.abc import AsyncIterator, Callable

import pytest
from pydantic import ValidationError

from schema.core.errors import TooManyRequests, Unavailable
from store.core.clock import clock
from store.core.rates import rate_of
from store.core.settings import Settings
from store.kv import KeyValueStore, open_kv
from store.limits.counters import SharedCounters
from store.limits.rate_limits import SYNC_SHARE, RateLimit, RateLimits
from tests.servers.redis_servers import RedisServer


@pytest.fixture
def limit(kv: KeyValueStore) -> Callable[[str], RateLimit]:
    """Makes the limit of one process."""

    def make(text: str) -> RateLimit:
        rate = rate_of(text)
        assert rate is not None
        return RateLimit("token", rate, SharedCounters(kv, clock), clock)

    return make


@pytest.fixture(autouse=True)
def window_begins() -> None:
    """No test runs into the next minute."""
    clock.advance(dt.timedelta(seconds=60 - clock.timestamp() % 60))


async def let_through(limit: RateLimit, times: int, client: str = "one") -> int:
    """How many of so many requests are."""
    return sum([not (await limit.count(client)).is_exceeded for _ in range(times)])


async def test_what_is_allowed_is_let_through_and_no_more(limit: Callable[[str], RateLimit]) -> None:
    for amount in (1, 10, 49, 50, 51, 1000):
        assert await let_through(limit(f"{amount}/minute"), amount + 200, f"client of {amount}") == amount


async def test_clients_do_not_share(limit: Callable[[str], RateLimit]) -> None:
    tokens = limit("10/minute")
    await let_through(tokens, 20)
    assert await let_through(tokens, 20, "another") == 10


async def test_each_answer_tells_what_remains_and_until_when(limit: Callable[[str], RateLimit]) -> None:
    tokens = limit("3/minute")
    told = [await tokens.count("one") for _ in range(5)]
    assert [(standing.remaining, standing.is_exceeded) for standing in told] == [
        (2, False), (1, False), (0, False), (0, True), (0, True)
    ]  # fmt: skip
    assert all(50 < standing.reset <= 60 for standing in told)
    assert tokens.policy == (b"ratelimit-policy", b'"token";q=3;w=60')
    assert tokens.header(told[1]) == (b"ratelimit", b'"token";r=1;t=%d' % told[1].reset)


async def test_the_next_window_begins_anew(limit: Callable[[str], RateLimit]) -> None:
    tokens = limit("10/minute")
    assert await let_through(tokens, 20) == 10
    wait = (await tokens.count("one")).reset
    clock.advance(dt.timedelta(seconds=wait - 5))
    assert await let_through(tokens, 1) == 0
    clock.advance(dt.timedelta(seconds=5))
    assert await let_through(tokens, 20) == 10


async def test_processes_go_beyond_the_limit_by_their_own_shares_at_most(limit: Callable[[str], RateLimit]) -> None:
    processes, amount = [limit("1000/minute") for _ in range(5)], 1000

    async def shop(process: RateLimit) -> int:
        passed = 0
        for _ in range(amount):
            passed += not (await process.count("one")).is_exceeded
        return passed

    passed = sum(await asyncio.gather(*map(shop, processes)))
    assert amount <= passed <= amount + len(processes) * amount // SYNC_SHARE


async def test_small_limits_are_exact_in_any_number_of_processes(limit: Callable[[str], RateLimit]) -> None:
    processes = [limit("20/minute") for _ in range(4)]
    assert sum([await let_through(process, 10) for process in processes]) == 20


class Counting:
    """A store that only counts how often it is asked."""

    def __init__(self, kv: KeyValueStore) -> None:
        self.kv = kv
        self.asked = 0

    async def increment(self, *arguments: object, **more: object) -> object:
        """Count, and pass on."""
        self.asked += 1
        return await self.kv.increment(*arguments, **more)  # type: ignore[arg-type]


async def test_nearly_no_request_asks_the_store(kv: KeyValueStore) -> None:
    store = Counting(kv)
    rate = rate_of("6000/minute")
    assert rate is not None
    tokens = RateLimit("token", rate, SharedCounters(store, clock), clock)  # type: ignore[arg-type]
    await let_through(tokens, 119)
    assert store.asked == 0
    await let_through(tokens, 6000)
    assert store.asked == SYNC_SHARE


@pytest.mark.redis
async def test_without_the_store_each_process_goes_on_by_itself(own_server: RedisServer) -> None:
    store = open_kv(own_server.url, clock)
    rate = rate_of("100/minute")
    assert rate is not None
    counts = SharedCounters(store, clock)
    tokens = RateLimit("token", rate, counts, clock)
    assert await let_through(tokens, 10) == 10
    own_server.kill()
    assert await let_through(tokens, 100) == 90
    await store.aclose()


class Dying:
    """A store that is away until told otherwise."""

    def __init__(self) -> None:
        self.asked = 0
        self.away = True

    async def increment(self, *_: object, **__: object) -> object:
        """Count, or be away."""
        self.asked += 1
        if self.away:
            raise Unavailable(what="The cart store")
        return await open_kv("", clock).increment("key", dt.timedelta(minutes=1))


async def test_a_store_that_is_away_is_not_asked_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store, now = Dying(), 100.0
    monkeypatch.setattr("store.limits.counters.time.monotonic", lambda: now)
    counts = SharedCounters(store, clock)  # type: ignore[arg-type]

    async def count() -> int:
        return (await counts.run(lambda kv: kv.increment("key", dt.timedelta(minutes=1)))).times

    assert [await count() for _ in range(10)] == list(range(1, 11))
    assert store.asked == 1
    now, store.away = 105.0, False
    assert await count() == 1
    assert await count() == 1
    assert store.asked == 3


# ---- settings


@pytest.mark.parametrize("text", ["6000/minute", "20 per hour", "5 per 10 minutes", "1/second", "off"])
def test_rates_are_written_as_people_say_them(text: str) -> None:
    settings = Settings(rate_limit=text)
    assert (rate_of(settings.rate_limit) is None) is (text == "off")


@pytest.mark.parametrize(
    "text", ["", "often", "0/minute", "-1/minute", "5", "5/fortnight", "1/second; 5/minute", "5/minute,1/hour"]
)
def test_what_is_no_rate_stops_the_start(text: str) -> None:
    with pytest.raises(ValidationError):
        Settings(guesses_in_all=text)


def test_a_limit_that_is_off_is_none() -> None:
    settings = Settings(rate_limit="off", rate_limit_anonymous="off", rate_limit_forms="off")
    limits = RateLimits(settings, open_kv("", clock), clock)
    assert (limits.tokens, limits.addresses, limits.forms) == (None, None, None)


@pytest.fixture
async def stores(redis_server: RedisServer) -> AsyncIterator[list[KeyValueStore]]:
    """Two processes' connections."""
    made = [open_kv(redis_server.url, clock) for _ in range(2)]
    yield made
    for store in made:
        await store.aclose()


@pytest.mark.redis
async def test_a_refusal_says_until_when_and_the_other_process_refuses_too(stores: list[KeyValueStore]) -> None:
    settings = Settings(rate_limit_forms="2/minute")
    one, other = (RateLimits(settings, store, clock).forms for store in stores)
    assert one is not None
    assert other is not None
    await one.check("192.0.2.1")
    await other.check("192.0.2.1")
    for process in (one, other):
        with pytest.raises(TooManyRequests) as refused:
            await process.check("192.0.2.1")
        assert refused.value.retry_after == math.ceil(60 - clock.timestamp() % 60)
