"""Guesses are counted for whoever makes them, look-up by look-up, and nobody's guessing stops anybody else."""

import asyncio
import dataclasses
import datetime as dt
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from schema.core.errors import InvalidInput, NotFound, TooManyRequests, Unavailable
from store.core.clock import clock
from store.core.settings import Settings
from store.kv import Increment, KeyValueStore, WindowCount, open_kv
from tests.servers.redis_servers import RedisServer

HERE, THERE = "192.0.2.1", "192.0.2.2"
HOUR = dt.timedelta(hours=1)


def services(kv: KeyValueStore, **settings: Any) -> Services:
    """What a process holds, as far as guessing needs it."""
    held: dict[str, Any] = {part.name: None for part in dataclasses.fields(Services) if part.init}
    return Services(**(held | {"kv": kv, "clock": clock, "settings": Settings(**settings)}))


@pytest.fixture
def process(kv: KeyValueStore) -> Services:
    """A process with small allowances."""
    return services(
        kv,
        guesses_per_address="20/hour",
        guesses_per_user="50/hour",
        guesses_per_shop="100/hour",
        guesses_in_all="200/hour",
    )


def customer(process: Services, address: str = HERE, partner_id: int = 1) -> Context:
    """A request in a shop's checkout."""
    return Context(process, Caller.customer(partner_id, 1), address=address)


def user(process: Services, user_id: int = 1, address: str = HERE, token_id: int = 1) -> Context:
    """A request with a token."""
    caller = Caller(Role.PARTNER, frozenset(), user_id=user_id, token_id=token_id, partner_id=1, marketplace_id=1)
    return Context(process, caller, address=address)


async def nothing() -> object | None:
    return None


async def something() -> object | None:
    return "found"


async def no_rows() -> object | None:
    return []


async def no_such_row() -> object | None:
    raise NotFound(thing="card")


async def tried(context: Context, look: Callable[[], Awaitable[object]] = nothing) -> str:
    """How a look-up ends."""
    try:
        return "hit" if await throttled_lookup(context, "card", look) else "miss"
    except NotFound:
        return "miss"
    except TooManyRequests as error:
        return "refused" if 0 < error.retry_after <= HOUR.total_seconds() else f"refused for {error.retry_after}"


async def times(count: int, context: Context, look: Callable[[], Awaitable[object]] = nothing) -> list[str]:
    """How so many look-ups end, one after the other."""
    return [await tried(context, look) for _ in range(count)]


@pytest.mark.parametrize("miss", [nothing, no_rows, no_such_row])
async def test_misses_run_out_and_come_back(process: Services, miss: Callable[[], Awaitable[object]]) -> None:
    assert await times(22, customer(process), miss) == ["miss"] * 20 + ["refused"] * 2
    clock.advance(HOUR)
    assert await times(21, customer(process), miss) == ["miss"] * 20 + ["refused"]


async def test_hits_cost_nothing_and_are_refused_with_the_rest(process: Services) -> None:
    assert await times(100, customer(process), something) == ["hit"] * 100
    await times(20, customer(process))
    looked = False

    async def look() -> object:
        nonlocal looked
        looked = True
        return "found"

    assert await tried(customer(process), look) == "refused"
    assert not looked


async def test_a_hundred_at_once_are_a_hundred(process: Services) -> None:
    other = dataclasses.replace(process)
    for one in (process, other):  # the store is reached, however busy the machine is
        assert await times(30, customer(one), something) == ["hit"] * 30
    tries = [tried(customer(one)) for one in (process, other) for _ in range(50)]
    ends = await asyncio.gather(*tries)
    assert ends.count("miss") <= 20
    assert (await times(21, customer(process))).count("miss") == 20 - ends.count("miss")


async def test_honest_look_ups_at_once_all_find(process: Services) -> None:
    many = services(process.kv)
    assert set(await asyncio.gather(*(tried(user(many), something) for _ in range(200)))) == {"hit"}


async def test_all_tokens_of_a_user_have_one_allowance(process: Services) -> None:
    ends = [await tried(user(process, token_id=n, address=f"198.51.100.{n}")) for n in range(60)]
    assert ends == ["miss"] * 50 + ["refused"] * 10
    assert await tried(user(process, user_id=2, address=THERE)) == "miss"


async def test_all_users_at_an_address_have_one_allowance(process: Services) -> None:
    ends = [await tried(user(process, user_id=n)) for n in range(60)]
    assert ends == ["miss"] * 50 + ["refused"] * 10
    assert await tried(user(process, user_id=99, address=THERE)) == "miss"


async def test_customers_and_users_at_an_address_do_not_stop_each_other(process: Services) -> None:
    await times(21, customer(process))
    assert await tried(user(process)) == "miss"
    await times(60, user(process))
    assert await tried(customer(process, THERE)) == "miss"


@pytest.mark.parametrize("elsewhere", ["198.51.100.1", "2001:db8:ffff::1"])
async def test_who_guesses_from_many_addresses_stops_nobody_else(process: Services, elsewhere: str) -> None:
    for n in range(10):
        await times(20, customer(process, f"203.0.113.{n}", partner_id=n // 5 + 1))
    assert await times(2, customer(process, elsewhere), something) == ["hit"] * 2
    assert await times(3, customer(process, elsewhere)) == ["miss", "miss", "refused"]
    assert await times(6, user(process, address=THERE)) == ["miss"] * 5 + ["refused"]
    assert await tried(user(process, user_id=2, address="198.51.100.9"), something) == "hit"
    clock.advance(HOUR)
    assert await times(21, customer(process, elsewhere)) == ["miss"] * 20 + ["refused"]


async def test_a_shop_that_is_guessed_at_is_an_alarm_for_itself_alone(process: Services) -> None:
    for n in range(6):
        await times(20, customer(process, f"203.0.113.{n}"))
    assert await times(3, customer(process, THERE)) == ["miss", "miss", "refused"]
    assert await times(5, customer(process, "198.51.100.1", partner_id=2)) == ["miss"] * 5
    assert await times(9, user(process, address=THERE)) == ["miss"] * 9


async def test_refusals_count_against_nobody(process: Services) -> None:
    await times(500, customer(process))
    assert await times(5, customer(process, THERE)) == ["miss"] * 5


async def test_what_fails_on_our_side_is_no_guess(process: Services) -> None:
    async def away() -> object:
        raise Unavailable(what="The database")

    for _ in range(40):
        with pytest.raises(Unavailable):
            await throttled_lookup(customer(process), "card", away)
    assert await times(21, customer(process)) == ["miss"] * 20 + ["refused"]


async def test_a_hit_does_not_wait_until_it_is_taken_back(kv: KeyValueStore, monkeypatch: pytest.MonkeyPatch) -> None:
    process, hold = services(kv, guesses_per_address="1/hour"), asyncio.Event()
    count = kv.increment_all

    async def slow(*increments: Increment) -> list[WindowCount]:
        if any(increment.by < 0 for increment in increments):
            await hold.wait()
        return await count(*increments)

    monkeypatch.setattr(kv, "increment_all", slow)
    assert await tried(customer(process), something) == "hit"
    following = asyncio.create_task(tried(customer(process), something))
    await asyncio.sleep(0.01)
    assert not following.done()  # it counts after the first was taken back, so it is not refused
    hold.set()
    assert await following == "hit"


async def test_giving_up_half_way_is_a_guess(process: Services) -> None:
    for _ in range(20):
        begun = asyncio.Event()

        async def never(begun: asyncio.Event = begun) -> object:
            begun.set()
            return await asyncio.Future()

        task = asyncio.create_task(tried(customer(process), never))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await tried(customer(process)) == "refused"


async def test_what_is_wrong_with_a_hit_is_no_guess(process: Services) -> None:
    async def conflicting() -> object:
        raise InvalidInput.at("value", "Too much.")

    for _ in range(40):
        with pytest.raises(InvalidInput):
            await throttled_lookup(user(process), "card", conflicting)
    assert await tried(user(process)) == "miss"


async def test_limits_that_are_off_count_nothing(kv: KeyValueStore) -> None:
    free = services(kv, guesses_per_address="off", guesses_per_user="off", guesses_per_shop="off", guesses_in_all="off")
    assert set(await times(100, customer(free))) | set(await times(400, user(free))) == {"miss"}


async def test_guesses_and_refusals_are_metrics(process: Services) -> None:
    def value(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0

    def now() -> tuple[float, float, float]:
        return (
            value("coffret_guesses_total", what="card"),
            value("coffret_refusals_total", kind="guess"),
            value("coffret_guessing_alarms_total", where="shop"),
        )

    before = now()
    for n in range(6):
        await times(21, customer(process, f"203.0.113.{n}", partner_id=7))
    misses, refusals, alarms = (after - past for after, past in zip(now(), before, strict=True))
    assert (misses, misses + refusals, alarms) == (102, 126, 1)


@pytest.mark.redis
async def test_processes_share_what_they_count_and_go_on_alone(own_server: RedisServer) -> None:
    stores = [open_kv(own_server.url, clock) for _ in range(2)]
    one, other = (services(store) for store in stores)
    await times(15, customer(one))
    assert await times(6, customer(other)) == ["miss"] * 5 + ["refused"]
    own_server.kill()
    assert await times(21, customer(one)) == ["miss"] * 20 + ["refused"]
    for store in stores:
        await store.aclose()
