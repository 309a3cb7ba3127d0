"""The provider loses answers, is silent, repeats itself, or we are killed: one order, one charge, or none of both."""

import asyncio
import datetime as dt
import random
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from coffret.sandbox import tick
from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.checkout import completion, payment, polling
from schema.checkout.checkout import PaymentAttemptStatus, ProductChoice, StartedPayment
from schema.core.errors import ProviderFailed, ProviderTimedOut
from store.checkout.placement import fill_order
from store.core.clock import clock
from store.providers.base import InboundWebhook
from store.providers.transactions import TransactionKind
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import GOOD_CARD, Shop


async def charges(shop: Shop) -> int:
    """How many pay-ins the provider has taken money for."""
    stats = (await shop.control("GET", "/stats")).json()
    return sum(stats["charges"].values())


async def fault(shop: Shop, **said: Any) -> None:
    """Let the next call that starts a payment fail."""
    answer = await shop.control("POST", "/faults", {"method": "POST", "path": "/payins/card/web", **said})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "drop", "when": "after"},
        {"kind": "drop", "when": "before"},
        {"kind": "status", "status": 502, "when": "after"},
        {"kind": "status", "status": 500, "when": "before"},
        {"kind": "truncated", "when": "after"},
        {"kind": "html", "when": "after"},
    ],
    ids=str,
)
async def test_a_lost_call_or_answer_begins_one_payment(shop: Shop, said: dict[str, Any]) -> None:
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    await fault(shop, **said)
    started = await shop.start(key, seen)
    assert started.redirect_url
    await shop.pay(started)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert await charges(shop) == 1


async def test_a_provider_that_stays_silent_is_tried_again_with_the_same_payment(shop: Shop) -> None:
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    await fault(shop, kind="drop", times=1000)
    with pytest.raises(ProviderTimedOut):
        await shop.start(key, seen)
    assert await shop.one("SELECT state FROM checkout_attempt") == "starting"
    assert await shop.one("SELECT stock FROM product") == 0
    await shop.control("DELETE", "/faults")
    started = await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 1
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.count("shop_order") == 1


async def test_a_payment_the_provider_never_heard_of_is_let_go(shop: Shop) -> None:
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    await fault(shop, kind="drop", times=1000)
    with pytest.raises(ProviderTimedOut):
        await shop.start(key, seen)
    attempt = await shop.one("SELECT id FROM checkout_attempt")
    await polling.CHECKS.poll(shop.services, attempt)
    assert await shop.one("SELECT stock FROM product") == 0, "the call may still be on its way"
    clock.advance(dt.timedelta(minutes=9))
    await polling.CHECKS.poll(shop.services, attempt)
    assert await shop.one("SELECT state FROM checkout_attempt") == "failed"
    assert await shop.one("SELECT stock FROM product") == 1


async def test_an_outcome_nobody_remembers_is_found_by_the_events(shop: Shop) -> None:
    """Keys are forgotten after a day: the goods are free again long before, and the events still tell of the payment."""
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    payin = await shop.payin_of(started.attempt_id)
    async with shop.services.db.sessions() as db, db.begin():
        forgotten = (
            "UPDATE checkout_attempt SET state = 'starting', payin_id = '', redirect_url = '', link_expires_on = NULL"
        )
        await (await db.connection()).execute(text(forgotten))
    clock.advance(dt.timedelta(hours=25))
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.one("SELECT state FROM checkout_attempt") == "abandoned"
    assert await shop.one("SELECT stock FROM product") == 1
    await polling.handle_notification(shop.services, payin)
    assert await shop.count("shop_order") == 1
    assert await shop.one("SELECT stock FROM product") == 0


async def test_refused_at_once_lets_everything_go(shop: Shop) -> None:
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    await shop.services.db.rows(text("SELECT 1"))
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE partner SET provider_wallet_id = 'gone'"))
    with pytest.raises(ProviderFailed):
        await shop.start(key, seen)
    assert await shop.one("SELECT state FROM checkout_attempt") == "failed"
    assert await shop.one("SELECT stock FROM product") == 1


async def test_killed_after_the_charge_and_before_the_answer_was_stored(shop: Shop) -> None:
    """The process dies between the provider's answer and our commit: the order appears once, nothing is charged twice."""
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    async with shop.services.db.sessions() as db, db.begin():
        forgotten = (
            "UPDATE checkout_attempt SET state = 'starting', payin_id = '', redirect_url = '', link_expires_on = NULL"
        )
        await (await db.connection()).execute(text(forgotten))
    clock.advance(dt.timedelta(minutes=2))
    assert await polling.CHECKS.sweep(shop.services) == 1
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.count("shop_order") == 1
    assert await charges(shop) == 1


async def test_killed_in_the_middle_of_completing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash inside the completing transaction leaves nothing of it behind; the next call does it whole."""
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)

    async def dying(*arguments: Any) -> Any:
        await fill_order(*arguments)
        raise asyncio.CancelledError

    monkeypatch.setattr("resolvers.payment.checkout.completion.fill_order", dying)
    with pytest.raises(asyncio.CancelledError):
        await completion.sync_attempt(shop.services, started.attempt_id)
    assert await shop.count("shop_order") == 0
    assert await shop.one("SELECT last_order_number FROM partner") == 0
    monkeypatch.undo()
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.one("SELECT number FROM shop_order") == 1


async def test_a_refund_whose_answer_is_lost_is_made_once(shop: Shop) -> None:
    candle = await shop.product("30.00", stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE product SET stock = 0"))
    await shop.pay(started)
    lost = {"method": "POST", "path": "/payins/*/refunds", "kind": "drop", "when": "after"}
    await shop.control("POST", "/faults", lost)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    await asyncio.gather(*(send_refunds(shop.services) for _ in range(5)))
    assert await shop.one("SELECT state FROM checkout_attempt") == "refunded"
    payin = await shop.payin_of(started.attempt_id)
    refunds = await shop.services.provider.list_children(TransactionKind.PAYIN, payin)
    assert [r.amount.minor for r in refunds] == [3000]
    assert (await shop.control("GET", "/ledger/check")).json()["balanced"] is True


async def test_return_and_notification_at_the_same_time(shop: Shop) -> None:
    candle = await shop.product(stock=1)
    for number in range(1, 4):
        key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
        started = await shop.start(key, seen)
        await shop.pay(started)
        payin = await shop.payin_of(started.attempt_id)
        await asyncio.gather(
            payment.settle_payment(shop.context, key.session_id, started.attempt_id),
            polling.handle_notification(shop.services, payin),
        )
        assert await shop.count("shop_order") == number
    assert await shop.one("SELECT stock FROM product WHERE id = :id", id=candle.id) == 1


async def hear(shop: Shop, url: str) -> None:
    """What the notification's address does with it."""
    address = httpx.URL(url)
    said = InboundWebhook(method="GET", path=address.path, query=address.query.decode(), headers={}, body=b"")
    for hint in shop.services.provider.read_webhook(said):
        await dispatch_notification(shop.services, hint.subject, hint.resource_id)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(seed=st.integers(0, 10_000), paid=st.lists(st.booleans(), min_size=1, max_size=3))
async def test_notifications_in_any_order_any_number_end_the_same(shop: Shop, seed: int, paid: list[bool]) -> None:
    """Replayed, reordered and dropped notifications, then one look each: the orders are those that were paid."""
    chance = random.Random(seed)
    before = await shop.count("shop_order")
    candle = await shop.product()
    begun: list[StartedPayment] = []
    for good in paid:
        key, seen = await shop.ready(ProductChoice(candle.id, 1))
        begun.append(await shop.start(key, seen))
        await shop.pay(begun[-1], GOOD_CARD if good else None)
    notices = [
        f"http://x/provider/hooks/hook-secret?EventType=PAYIN_NORMAL_{kind}&RessourceId={await shop.payin_of(one.attempt_id)}"
        f"&Date={int(clock.timestamp())}"
        for one in begun
        for kind in ("CREATED", "SUCCEEDED", "FAILED")
    ]
    heard = [url for url in notices * 2 if chance.random() < 0.5]
    chance.shuffle(heard)
    await asyncio.gather(*(hear(shop, url) for url in heard))
    await tick(shop.sandbox)
    for one in begun:
        await polling.CHECKS.poll(shop.services, one.attempt_id)
    assert await shop.count("shop_order") - before == sum(paid)
