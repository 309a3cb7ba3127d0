"""Two processes on one account at the provider: what one learns of its limit, the other knows."""

import contextlib
import datetime as dt
import pathlib
from collections.abc import AsyncIterator

import pytest

from coffret.sandbox import close
from coffret.services import open_container
from resolvers.payment.checkout import polling
from schema.checkout.checkout import ProductChoice
from schema.core.errors import ProviderTimedOut
from store.core.clock import clock
from store.core.settings import Settings
from store.providers.call_budget import CallClass, calling_as
from store.providers.errors import CallHeldBack, ProviderNotFound, TransientError
from store.providers.transactions import TransactionKind
from tests.fixtures.shop import Shop, open_shop, sandbox_and_provider
from tests.servers.redis_servers import RedisServer


@pytest.fixture
async def processes(database_url: str, redis_server: RedisServer, tmp_path: pathlib.Path) -> AsyncIterator[list[Shop]]:
    """One shop as two processes see it."""
    async with contextlib.AsyncExitStack() as stack:
        sandbox, unused = sandbox_and_provider()
        stack.push_async_callback(close, sandbox)
        await unused.aclose()
        settings = Settings(
            database_url=database_url, redis_url=redis_server.url, data_dir=tmp_path, funnel_scheme="http"
        )
        one, other = [(await stack.enter_async_context(open_container(settings, sandbox))).services for _ in range(2)]
        shop = await open_shop(one, sandbox)
        yield [shop, Shop(other, sandbox, shop.partner, shop.modes)]


async def calls(shop: Shop) -> int:
    """How many calls the provider has answered."""
    return sum((await shop.control("GET", "/stats")).json()["calls"].values())


@pytest.mark.redis
async def test_a_refusal_of_one_process_holds_the_other_back(processes: list[Shop]) -> None:
    one, other = processes
    candle = await one.product()
    begun = await one.start(*await one.ready(ProductChoice(candle.id, 1)))
    with pytest.raises(ProviderNotFound):
        await other.services.provider.get_transaction(TransactionKind.PAYIN, "payin_m_none")  # it has a token now
    await one.control("POST", "/faults", {"kind": "rate_limit"})
    with pytest.raises(TransientError):
        await one.services.provider.get_transaction(TransactionKind.PAYIN, "payin_m_none")
    before, ready = await calls(one), await other.ready(ProductChoice(candle.id, 1))
    with calling_as(CallClass.SWEEP), pytest.raises(CallHeldBack):
        await polling.CHECKS.poll(other.services, begun.attempt_id)
    with pytest.raises(ProviderTimedOut):
        await other.start(*ready)
    assert await calls(one) == before

    clock.advance(dt.timedelta(seconds=61))
    assert (await other.start(*ready)).redirect_url, "a customer finds out that the provider answers again"
    with calling_as(CallClass.SWEEP), pytest.raises(CallHeldBack):
        await polling.CHECKS.poll(one.services, begun.attempt_id)

    clock.advance(dt.timedelta(minutes=16))
    with calling_as(CallClass.SWEEP):
        await polling.CHECKS.poll(one.services, begun.attempt_id)
    assert await one.one("SELECT state FROM checkout_attempt WHERE id = :id", id=begun.attempt_id) == "failed"
