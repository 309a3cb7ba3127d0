"""Shops are told of each cart that expires: once, whoever looks and whoever dies, and never of one that is ordered."""

import asyncio
import datetime as dt
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from resolvers.cart import expiry
from resolvers.cart.expiry import emit_expired_carts
from resolvers.checkout import steps
from resolvers.job.registry import SCHEDULES
from resolvers.payment.checkout import payment, polling
from resolvers.payment.checkout.completion import sync_attempt
from schema.cart.cart import Cart, CartItem
from schema.checkout.checkout import CheckoutKey, ProductChoice, StartedPayment
from schema.core.errors import Unavailable
from schema.delivery.delivery import DeliveryKind
from schema.event import EVENT_DATA_KEYS, EventType
from store.cart.carts import Carts
from store.core.clock import clock
from store.kv import open_kv
from store.order import events
from tests.fixtures.shop import BUYER, Shop, open_shop, services_over
from tests.servers.redis_servers import RedisServer

LIFE = dt.timedelta(hours=2)
DUE = dt.timedelta(hours=2, minutes=1, seconds=1)
URL = "https://shop.example/thanks"


async def event_data(shop: Shop, kind: str = "cart.expired") -> list[dict[str, Any]]:
    """The data of the events of a kind."""
    rows = await shop.services.db.rows(text("SELECT data FROM event WHERE type = :kind ORDER BY id"), {"kind": kind})
    return [row[0] for row in rows]


async def started(shop: Shop, cart: Cart, product_id: int) -> StartedPayment:
    """A customer who has pressed pay for a cart."""
    key = CheckoutKey(cart.id, f"browser of {cart.id}")
    mode = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    await steps.choose_items(shop.context, key, [ProductChoice(product_id, 1)], mode, "FR")
    return await shop.start(key, await steps.identify_buyer(shop.context, key, BUYER))


async def expired_carts(shop: Shop) -> list[UUID]:
    """The carts that are still to be told of."""
    return [cart.id for cart in await shop.services.carts.expired(shop.partner.id, limit=1000)]


async def test_a_cart_that_expires_is_told_once(shop: Shop) -> None:
    cart = await shop.cart(CartItem(7, 2), CartItem(8, 0, 3, {5: "red"}), return_url=URL)
    assert await emit_expired_carts(shop.services) == 0
    clock.advance(LIFE)
    assert await emit_expired_carts(shop.services) == 0
    clock.advance(DUE - LIFE)
    assert await emit_expired_carts(shop.services) == 1
    assert await emit_expired_carts(shop.services) == 0
    (data,) = await event_data(shop)
    ended = dt.datetime.fromtimestamp(cart.last_modified / 1000, dt.UTC) + LIFE
    assert dt.datetime.fromisoformat(data.pop("expired_on")) == ended
    assert data == {
        "id": str(cart.id),
        "last_modified": cart.last_modified,
        "return_url": URL,
        "items": [
            {"product_id": 7, "variant_id": None, "quantity": 2},
            {"product_id": 8, "variant_id": 3, "quantity": 0},
        ],
    }
    subject = await shop.services.db.rows(text("SELECT subject, partner_id FROM event"))
    assert [tuple(row) for row in subject] == [(str(cart.id), shop.partner.id)]


async def test_a_cart_told_late_is_told_without_its_content(shop: Shop) -> None:
    await shop.cart(CartItem(7, 2), return_url=URL)
    clock.advance(dt.timedelta(days=2))
    assert await emit_expired_carts(shop.services) == 1
    (data,) = await event_data(shop)
    assert (data["items"], data["return_url"]) == (None, None)
    assert set(data) == set(EVENT_DATA_KEYS[EventType.CART_EXPIRED])


async def test_many_carts_of_several_partners(shop: Shop) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    carts = [await owner.cart(CartItem(1, 1)) for owner in (shop, other) for _ in range(60)]
    await other.cart()
    clock.advance(DUE)
    await asyncio.gather(*(emit_expired_carts(shop.services) for _ in range(3)))
    data = await event_data(shop)
    assert len(data) == len({event["id"] for event in data}) == 121
    assert {str(cart.id) for cart in carts} <= {event["id"] for event in data}
    assert await shop.one("SELECT count(*) FROM event WHERE partner_id = :id", id=shop.partner.id) == 60


async def test_who_dies_between_commit_and_crossing_off_is_repeated_without_effect(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.cart(CartItem(1, 1))
    clock.advance(DUE)

    async def dies(*_: object) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as broken:
        broken.setattr(Carts, "acknowledge", dies)
        with pytest.raises(asyncio.CancelledError):
            await emit_expired_carts(shop.services)
    assert (len(await event_data(shop)), len(await expired_carts(shop))) == (1, 1)
    await emit_expired_carts(shop.services)
    assert (len(await event_data(shop)), len(await expired_carts(shop))) == (1, 0)


async def test_what_cannot_be_written_is_told_later(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    await shop.cart(CartItem(1, 1))
    await other.cart(CartItem(1, 1))
    clock.advance(DUE)
    emit = events.emit_cart_expired

    async def fails(db: Any, partner_id: int, cart: Any) -> None:
        await emit(db, partner_id, cart)
        if partner_id == shop.partner.id:
            raise ConnectionError

    with monkeypatch.context() as broken, capture_logs() as logs:
        broken.setattr(expiry, "emit_cart_expired", fails)
        await emit_expired_carts(shop.services)
    assert [entry["event"] for entry in logs] == ["cart.expired events could not be emitted"]
    assert [row[0] for row in await shop.services.db.rows(text("SELECT partner_id FROM event"))] == [other.partner.id]
    await emit_expired_carts(shop.services)
    assert len(await event_data(shop)) == 2


# ---- carts that are paid for ------------------------------------------------------------------------------------------


async def test_a_cart_whose_payment_is_undecided_is_not_told(shop: Shop) -> None:
    product = await shop.product()
    cart = await shop.cart(CartItem(product.id, 1))
    payment_of_it = await started(shop, cart, product.id)
    await shop.pay(payment_of_it)
    clock.advance(DUE)
    assert await emit_expired_carts(shop.services) == 0
    assert await expired_carts(shop) == [cart.id]
    assert (await sync_attempt(shop.services, payment_of_it.attempt_id)).state == "completed"
    await emit_expired_carts(shop.services)
    assert (await event_data(shop), await expired_carts(shop)) == ([], [])
    assert [event["id"] for event in await event_data(shop, "cart.completed")] == [str(cart.id)]


@pytest.mark.parametrize("given_up", [False, True])
async def test_a_cart_whose_payment_fails_is_told_then(shop: Shop, given_up: bool) -> None:
    product = await shop.product()
    cart = await shop.cart(CartItem(product.id, 1))
    payment_of_it = await started(shop, cart, product.id)
    if given_up:
        await payment.cancel_payment(shop.context, CheckoutKey(cart.id, f"browser of {cart.id}"))
    clock.advance(DUE)
    await emit_expired_carts(shop.services)
    assert await event_data(shop) == []
    assert (await sync_attempt(shop.services, payment_of_it.attempt_id)).state == "failed"
    await emit_expired_carts(shop.services)
    assert [event["last_modified"] for event in await event_data(shop)] == [cart.last_modified]


async def test_a_cart_whose_money_went_back_expires(shop: Shop) -> None:
    product = await shop.product(stock=1)
    cart = await shop.cart(CartItem(product.id, 1))
    payment_of_it = await started(shop, cart, product.id)
    await payment.cancel_payment(shop.context, CheckoutKey(cart.id, f"browser of {cart.id}"))
    await shop.execute("UPDATE product SET stock = 0")
    await shop.pay(payment_of_it)
    assert (await sync_attempt(shop.services, payment_of_it.attempt_id)).state == "refunding"
    clock.advance(DUE)
    await emit_expired_carts(shop.services)
    assert [event["id"] for event in await event_data(shop)] == [str(cart.id)]
    assert await event_data(shop, "cart.completed") == []


async def test_an_ordered_cart_that_could_not_be_deleted_does_not_expire(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = await shop.product()
    cart = await shop.cart(CartItem(product.id, 1))
    payment_of_it = await started(shop, cart, product.id)
    await shop.pay(payment_of_it)

    async def away(*_: object) -> bool:
        raise Unavailable(what="The cart store")

    with monkeypatch.context() as broken:
        broken.setattr(Carts, "delete_if_unchanged", away)
        await sync_attempt(shop.services, payment_of_it.attempt_id)
    clock.advance(DUE)
    assert await expired_carts(shop) == [cart.id]
    await emit_expired_carts(shop.services)
    assert (await event_data(shop), await expired_carts(shop)) == ([], [])


async def test_a_cart_replaced_after_it_was_bought_expires_as_what_it_became(shop: Shop) -> None:
    product = await shop.product()
    cart = await shop.cart(CartItem(product.id, 1))
    payment_of_it = await started(shop, cart, product.id)
    replaced = await shop.services.carts.replace(shop.partner.id, cart.id, [CartItem(9, 9)], "")
    assert replaced is not None
    await shop.pay(payment_of_it)
    await sync_attempt(shop.services, payment_of_it.attempt_id)
    clock.advance(DUE)
    await emit_expired_carts(shop.services)
    assert [event["last_modified"] for event in await event_data(shop, "cart.completed")] == [cart.last_modified]
    assert [event["last_modified"] for event in await event_data(shop)] == [replaced.cart.last_modified]


async def test_undecided_carts_do_not_keep_others_waiting(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "BATCH_SIZE", 2)
    product = await shop.product()
    for _ in range(3):
        await started(shop, await shop.cart(CartItem(product.id, 1)), product.id)
    carts = [await shop.cart(CartItem(1, 1)) for _ in range(5)]
    clock.advance(DUE)
    assert await emit_expired_carts(shop.services) == 5
    assert {event["id"] for event in await event_data(shop)} == {str(cart.id) for cart in carts}
    assert len(await expired_carts(shop)) == 3


@pytest.mark.parametrize("seed", range(10))
async def test_a_completion_at_the_moment_of_expiry(shop: Shop, seed: int) -> None:
    product = await shop.product()
    cart = await shop.cart(CartItem(product.id, 1))
    clock.advance(LIFE - dt.timedelta(minutes=1))
    payment_of_it = await started(shop, cart, product.id)
    await shop.pay(payment_of_it)
    clock.advance(DUE - LIFE + dt.timedelta(minutes=1))

    async def look() -> None:
        for _ in range(10):
            await emit_expired_carts(shop.services)
            await asyncio.sleep(seed / 2000)

    await asyncio.gather(look(), sync_attempt(shop.services, payment_of_it.attempt_id), look())
    await emit_expired_carts(shop.services)
    assert (len(await event_data(shop, "cart.completed")), await event_data(shop), await expired_carts(shop)) == (
        1,
        [],
        [],
    )


# ---- the store --------------------------------------------------------------------------------------------------------


@pytest.mark.redis
async def test_a_store_out_of_reach_is_told_once_and_asked_again(
    shop: Shop, own_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for domain in ("b.localhost", "c.localhost"):
        await open_shop(shop.services, shop.sandbox, domain)
    monkeypatch.setattr("store.kv.clients.TIMEOUT", dt.timedelta(seconds=2))
    kv = open_kv(own_server.url, clock)
    services = services_over(shop.services.db, kv, shop.services.provider)  # type: ignore[arg-type]
    await services.carts.create(shop.partner.id, [CartItem(1, 1)], "")
    clock.advance(DUE)
    own_server.pause()
    with capture_logs() as logs:
        assert await emit_expired_carts(services) == 0
    own = [entry["log_level"] for entry in logs if entry["event"] == "expired carts could not be read"]
    assert own == ["warning"]
    own_server.resume()
    assert await emit_expired_carts(services) == 1
    await kv.aclose()


async def test_it_is_done_each_minute() -> None:
    task = SCHEDULES["tell_expired_carts"]
    assert (task.cron, task.run) == ("* * * * *", emit_expired_carts)


async def test_what_is_swept_and_told_ends_by_itself(shop: Shop) -> None:
    """A customer who leaves for the provider and never comes back: the worker alone ends the payment, and then the cart."""
    product = await shop.product()
    cart = await shop.cart(CartItem(product.id, 1))
    payment_of_it = await started(shop, cart, product.id)
    for _ in range(30):
        clock.advance(dt.timedelta(minutes=10))
        await polling.CHECKS.sweep(shop.services)
        await polling.CHECKS.poll(shop.services, payment_of_it.attempt_id)
        await emit_expired_carts(shop.services)
    assert [event["id"] for event in await event_data(shop)] == [str(cart.id)]
