"""The budget of the provider's calls: known to every process, and the last of it is for customers."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from store.core.clock import clock
from store.kv import KeyValueStore, open_kv
from store.limits.counters import SharedCounters
from store.limits.provider_budget import SharedCallBudget
from store.providers.call_budget import CallAllowance, CallClass, calling_as
from store.providers.errors import CallHeldBack, TransientError
from tests.servers.redis_servers import RedisServer

C = CallClass
QUARTER = 15 * 60.0


def budget_over(kv: KeyValueStore, account: str = "sandbox") -> SharedCallBudget:
    """The budget as one process knows it."""
    return SharedCallBudget(SharedCounters(kv, clock), account, clock)


@pytest.fixture
def budget(kv: KeyValueStore) -> SharedCallBudget:
    """Nothing is known yet."""
    return budget_over(kv)


@pytest.fixture
async def processes(redis_server: RedisServer) -> AsyncIterator[list[SharedCallBudget]]:
    """The budget as two processes know it."""
    stores = [open_kv(redis_server.url, clock) for _ in range(2)]
    yield [budget_over(store) for store in stores]
    for store in stores:
        await store.aclose()


def left(calls: int, limit: int = 2300, resets_in: float = QUARTER) -> CallAllowance:
    """What a response reports."""
    return CallAllowance(calls, limit, resets_in)


async def admitted(budget: SharedCallBudget) -> set[CallClass]:
    """Who may call now."""
    found = set()
    for kind in CallClass:
        with calling_as(kind):
            try:
                await budget.admit()
            except CallHeldBack:
                continue
        found.add(kind)
    return found


async def wait_of(budget: SharedCallBudget, kind: CallClass) -> float:
    """For how long a class is held back."""
    with calling_as(kind), pytest.raises(CallHeldBack) as held:
        await budget.admit()
    return held.value.retry_after


async def test_everybody_may_call_before_anything_is_known(budget: SharedCallBudget) -> None:
    assert await admitted(budget) == set(CallClass)


@pytest.mark.parametrize(
    ("calls", "may"),
    [
        (2300, {C.CUSTOMER, C.PAYOUT, C.SWEEP}),
        (690, {C.CUSTOMER, C.PAYOUT, C.SWEEP}),
        (689, {C.CUSTOMER, C.PAYOUT}),
        (230, {C.CUSTOMER, C.PAYOUT}),
        (229, {C.CUSTOMER}),
        (0, {C.CUSTOMER}),
    ],
)
async def test_the_last_calls_are_for_the_most_urgent(
    budget: SharedCallBudget, calls: int, may: set[CallClass]
) -> None:
    await budget.record([left(calls)])
    assert await admitted(budget) == may


async def test_the_scarcest_period_counts(budget: SharedCallBudget) -> None:
    await budget.record([left(2000), left(4000, 4500), left(8000, 8800), left(20_000, 105_600)])
    assert await admitted(budget) == {C.CUSTOMER, C.PAYOUT}
    await budget.record([left(1900), left(3900, 4500), left(7900, 8800), left(50_000, 105_600)])
    assert await admitted(budget) == set(CallClass)


async def test_what_is_known_gets_old(budget: SharedCallBudget) -> None:
    await budget.record([left(10)])
    assert await wait_of(budget, C.SWEEP) == 60
    clock.advance(dt.timedelta(minutes=5, seconds=1))
    assert await admitted(budget) == set(CallClass)
    await budget.record([left(10, resets_in=30)])
    clock.advance(dt.timedelta(seconds=31))
    assert await admitted(budget) == set(CallClass)


async def test_a_refusal_holds_everybody_back_and_customers_for_a_minute_at_most(budget: SharedCallBudget) -> None:
    await budget.record([], refused_for=600)
    assert await admitted(budget) == set()
    assert 590 < await wait_of(budget, C.SWEEP) <= 600
    assert 50 < await wait_of(budget, C.CUSTOMER) <= 60
    clock.advance(dt.timedelta(seconds=61))
    assert await admitted(budget) == {C.CUSTOMER}
    clock.advance(dt.timedelta(seconds=540))
    assert await admitted(budget) == set(CallClass)


async def test_a_refusal_without_end_ends(budget: SharedCallBudget) -> None:
    await budget.record([], refused_for=10 * 366 * 86400)
    assert await wait_of(budget, C.PAYOUT) <= 3600
    clock.advance(dt.timedelta(hours=1, seconds=1))
    assert await admitted(budget) == set(CallClass)


async def test_accounts_have_budgets_of_their_own(kv: KeyValueStore, budget: SharedCallBudget) -> None:
    await budget.record([left(0)], refused_for=60)
    assert await admitted(budget_over(kv, "mangopay:api.mangopay.com:shop")) == set(CallClass)


@pytest.mark.redis
async def test_one_process_tells_all(processes: list[SharedCallBudget]) -> None:
    one, other = processes
    await one.record([left(300)])
    assert await admitted(other) == {C.CUSTOMER, C.PAYOUT}
    await other.record([left(0)], refused_for=120)
    assert await admitted(one) == set()


@pytest.mark.redis
async def test_without_the_store_calls_go_on(own_server: RedisServer) -> None:
    store = open_kv(own_server.url, clock)
    budget = budget_over(store)
    await budget.record([left(0)], refused_for=600)
    own_server.kill()
    with capture_logs() as logs:
        assert await admitted(budget) == set(CallClass)
        await budget.record([left(300)])
        assert await admitted(budget) == {C.CUSTOMER, C.PAYOUT}, "this process knows what it was told itself"
    assert len([line for line in logs if "per process" in line["event"]]) == 1
    await store.aclose()


async def test_held_back_calls_are_counted(budget: SharedCallBudget) -> None:
    def count() -> float:
        return REGISTRY.get_sample_value("coffret_provider_calls_held_back_total", {"class": "sweep"}) or 0

    await budget.record([left(600)])
    before = count()
    await wait_of(budget, C.SWEEP)
    assert count() == before + 1


def test_a_held_back_call_was_certainly_not_made() -> None:
    assert issubclass(CallHeldBack, TransientError)
