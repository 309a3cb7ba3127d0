"""How many calls of the provider an abandoned payment costs, and when it is checked."""

import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from coffret.sandbox import tick
from resolvers.payment.checkout import polling
from resolvers.payment.checkout.completion import next_check
from schema.checkout.checkout import ProductChoice, StartedPayment
from store.core.clock import clock
from store.database.db import Database
from store.job.jobs import JobKind
from store.payment.attempts import AttemptRow
from tests.fixtures.payment.notified_shop import NotifiedShop, notified_shop

SECOND, MINUTE = dt.timedelta(seconds=1), dt.timedelta(minutes=1)
READ = "GET /payins/{id}"


@dataclass
class Running(NotifiedShop):
    """A shop whose worker and notifications a test runs minute by minute."""

    began: dt.datetime = field(default_factory=clock.now)
    read_at: list[dt.timedelta] = field(default_factory=list)
    """When the pay-in was read, since the payment began."""

    async def begin(self) -> StartedPayment:
        """A payment that is left at the provider's page."""
        key, seen = await self.shop.ready(ProductChoice((await self.shop.product()).id, 1))
        return await self.shop.start(key, seen)

    async def live(self, duration: dt.timedelta) -> None:
        """Let time pass: every minute what is scheduled, a second later the jobs, and the provider's notifications."""
        self.began = clock.now()
        for minute in range(duration // MINUTE):
            await self.notify()
            await self.run_jobs()
            await polling.CHECKS.sweep(self.shop.services)
            if minute and minute % 15 == 0:
                await polling.enqueue_missed_events(self.shop.services)
            clock.advance(SECOND)
            await self.run_jobs()
            clock.advance(MINUTE - SECOND)
        await self.notify()
        await self.run_jobs()

    async def run_job(self, kind: JobKind, payload: dict[str, Any]) -> None:
        before = (await self.calls())[READ]
        await super().run_job(kind, payload)
        self.read_at += [clock.now() - self.began] * ((await self.calls())[READ] - before)


@pytest.fixture
async def running(database: Database) -> AsyncIterator[Running]:
    """A shop that the sandbox notifies."""
    async with notified_shop(Running, database) as found:
        yield found


def payment_calls(before: Counter[str], after: Counter[str]) -> tuple[int, int]:
    """The POSTs and GETs of payments. The list of events is read whether somebody pays or not."""
    made = after - before
    posts = sum(number for call, number in made.items() if call.startswith("POST") and "oauth" not in call)
    gets = sum(number for call, number in made.items() if call.startswith("GET") and call != "GET /events")
    return posts, gets


async def test_an_abandoned_payment_costs_two_posts_and_five_gets(running: Running) -> None:
    before = await running.calls()
    await running.begin()
    await running.live(16 * MINUTE)
    assert await running.shop.one("SELECT state FROM checkout_attempt") == "failed"
    assert payment_calls(before, await running.calls()) == (2, 5)
    ages = [at // MINUTE for at in running.read_at]
    assert ages == [0, 1, 3, 8, 15]


async def test_a_second_one_of_the_same_address_costs_one_post(running: Running) -> None:
    await running.begin()
    await running.live(16 * MINUTE)
    before = await running.calls()
    await running.begin()
    await running.live(16 * MINUTE)
    assert payment_calls(before, await running.calls())[0] == 1


async def test_nothing_is_read_again_because_it_is_in_the_list_of_events(running: Running) -> None:
    before = await running.calls()
    await running.begin()
    await running.live(dt.timedelta(hours=3))
    assert payment_calls(before, await running.calls()) == (2, 5)


async def test_without_notifications_a_payment_is_checked_every_minute(running: Running) -> None:
    await running.shop.control("POST", "/hooks/policy", {"kind": "dropped"})
    await running.begin()
    await running.live(17 * MINUTE)
    assert await running.shop.one("SELECT state FROM checkout_attempt") == "failed"
    assert sorted({at // MINUTE for at in running.read_at}) == list(range(1, 16))


async def test_an_event_that_was_only_listed_is_no_sign_of_notifications(running: Running) -> None:
    await running.shop.control("POST", "/hooks/policy", {"kind": "dropped"})
    await running.begin()
    assert await polling.enqueue_missed_events(running.shop.services) > 0
    await running.live(5 * MINUTE)
    assert await running.shop.one("SELECT notified FROM checkout_attempt") is False


async def test_an_event_is_handled_once(running: Running) -> None:
    await running.shop.control("POST", "/hooks/policy", {"kind": "dropped"})
    await running.begin()
    assert await polling.enqueue_missed_events(running.shop.services) == 1
    assert await polling.enqueue_missed_events(running.shop.services) == 1, "nobody has handled it yet"
    await running.live(MINUTE)
    assert await polling.enqueue_missed_events(running.shop.services) == 0
    clock.advance(20 * MINUTE)
    await tick(running.shop.sandbox)
    assert await polling.enqueue_missed_events(running.shop.services) == 1, "the failure is another event"


async def test_a_lost_notification_of_success_is_made_up_for(running: Running) -> None:
    started = await running.begin()
    await running.live(2 * MINUTE)
    await running.shop.control("POST", "/hooks/policy", {"kind": "dropped"})
    await running.shop.pay(started)
    await running.live(2 * MINUTE)
    assert await running.shop.count("shop_order") == 1


@pytest.mark.parametrize(
    ("age", "at"),
    [(0, 60), (40, 60), (50, 180), (170, 480), (700, 960), (965, 1860), (2700, 3660), (86400, 108_000)],
)
def test_when_a_notified_payment_is_checked(age: int, at: int) -> None:
    created = clock.now()
    attempt = SimpleNamespace(created_on=created, notified=True)
    assert next_check(cast("AttemptRow", attempt), created + age * SECOND) == created + at * SECOND
