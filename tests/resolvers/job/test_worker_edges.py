"""The worker when things go wrong: jobs that fail, looks that fail, a queue that ends."""

import asyncio
import dataclasses
import datetime as dt
from typing import Any

import pytest
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.errors import FailingListenerError
from sqlalchemy import text

from resolvers.payment.checkout import polling
from schema.checkout.checkout import ProductChoice, StartedPayment
from schema.core.errors import Unavailable
from store.core.clock import clock
from store.job.jobs import JobKind, enqueue_job
from store.kv import KeyValueStore
from store.providers.base import Subject
from tests.fixtures.shop import Shop
from tests.resolvers.job.workers import working


async def begun(shop: Shop) -> StartedPayment:
    """A payment of a cart of its own."""
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    return await shop.start(key, seen)


async def test_a_cart_is_deleted_once_the_store_is_back(
    shop: Shop, workers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete, calls = type(shop.services.kv).delete, 0

    async def twice_away(kv: KeyValueStore, key: str, **options: Any) -> bool:
        nonlocal calls
        calls += 1
        if calls <= 2:
            raise Unavailable(what="The cart store")
        return await delete(kv, key, **options)

    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    monkeypatch.setattr(type(shop.services.kv), "delete", twice_away)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is not None
    await shop.becomes("SELECT count(*) FROM pgqueuer", 0)
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is None
    assert calls == 3


async def test_a_notification_is_followed_once_the_provider_is_back(shop: Shop, workers: None) -> None:
    """Its attempt has lost the pay-in's id, so that only the provider can tell whose it is."""
    started = await begun(shop)
    await shop.pay(started)
    payin = await shop.payin_of(started.attempt_id)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE checkout_attempt SET payin_id = '', state = 'starting'"))
        down = {"method": "GET", "path": f"/payins/{payin}", "kind": "drop", "times": 7}
        await shop.control("POST", "/faults", down)
        await enqueue_job(db, JobKind.PROVIDER_HINT, {"subject": Subject.PAYIN, "id": payin})
    await shop.becomes("SELECT count(*) FROM shop_order", 1)


async def test_looks_that_fail_do_not_keep_others_waiting(shop: Shop) -> None:
    one_by_one = dataclasses.replace(polling.CHECKS, batch=1)
    attempts = {(await begun(shop)).attempt_id for _ in range(3)}
    clock.advance(dt.timedelta(minutes=2))
    assert [await one_by_one.sweep(shop.services) for _ in range(4)] == [1, 1, 1, 0]
    looked_at = await shop.services.db.rows(text("SELECT convert_from(payload, 'UTF8')::json ->> 'id' FROM pgqueuer"))
    assert {row[0] for row in looked_at} == {str(id) for id in attempts}
    clock.advance(dt.timedelta(minutes=2))
    assert await one_by_one.sweep(shop.services) == 1, "a look whose job is lost is looked at again"


async def test_a_queue_that_ends_begins_anew(shop: Shop, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a computer slept: the queue takes its listener for dead."""
    healthy, ended = QueueManager.listener_healthy, asyncio.Event()

    async def once_deaf(queue: QueueManager, **options: Any) -> object:
        if ended.is_set():
            return await healthy(queue, **options)
        ended.set()
        raise FailingListenerError

    monkeypatch.setattr(QueueManager, "listener_healthy", once_deaf)
    async with working(shop.services, database_url) as (task,):
        await ended.wait()
        started = await begun(shop)
        await shop.pay(started)
        async with shop.services.db.sessions() as db, db.begin():
            await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": started.attempt_id})
        await shop.becomes("SELECT count(*) FROM shop_order", 1)
        await asyncio.sleep(1.5)
        assert not task.done()
