"""Payments at their edges: presses that meet completions, what the provider says differently, what must not be a 500."""

import asyncio
import datetime as dt

import pytest

from resolvers import payment, worker
from resolvers.settlement import settle
from schema.checkout import AttemptStatus, Checkout, CheckoutKey, Choice
from schema.errors import CartNotFound, Unavailable
from store.clock import clock
from store.kv import KeyValue
from tests.shop_world import DECLINED_CARD, Shop


async def state_of(shop: Shop, attempt_id: object) -> str:
    """Where an attempt stands."""
    return str(await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=attempt_id))


async def test_a_double_click_on_a_covered_order_orders_once(shop: Shop) -> None:
    """The second press may find the first one's attempt written, ordered, or the cart gone, but never a new checkout."""
    for orders in range(1, 7):
        card = await shop.gift_card("90.00")
        key, seen = await shop.ready(Choice((await shop.product("30.00")).id, 1), codes=(card.code,))

        async def press(after: float, key: CheckoutKey = key, seen: Checkout = seen) -> None:
            await asyncio.sleep(after)
            try:
                assert (await shop.start(key, seen)).status is AttemptStatus.COMPLETED
            except CartNotFound:
                assert (await payment.payment_outcome(shop.context, key)).status is AttemptStatus.COMPLETED

        await asyncio.gather(*(press(0.003 * n) for n in range(8)))
        assert await shop.count("shop_order") == orders
        assert await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id) == 60


async def test_a_cart_that_could_not_be_deleted_is_not_ordered_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, seen = await shop.ready(Choice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    with monkeypatch.context() as patch:
        patch.setattr(type(shop.services.kv), "delete", _unreachable)
        await worker.settle_attempt(shop.services, started.attempt_id)
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is not None
    again = await shop.start(key, seen)
    assert (again.attempt_id, again.status) == (started.attempt_id, AttemptStatus.COMPLETED)
    assert await shop.count("checkout_attempt") == 1
    await shop.services.carts.replace(shop.partner.id, key.cart_id, [], "")
    with pytest.raises(Exception, match="has changed"):
        await shop.start(key, seen)


async def _unreachable(_kv: KeyValue, _key: str, *, version: int | None = None) -> bool:
    raise Unavailable(what="The cart store")


async def test_the_order_is_shown_whichever_payment_made_it(shop: Shop) -> None:
    """Given up, tried again and declined; then the first is paid in the tab that was still open."""
    key, seen = await shop.ready(Choice((await shop.product(stock=5)).id, 1))
    first = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    clock.advance(dt.timedelta(seconds=1))
    second = await shop.start(key, seen)
    assert second.attempt_id != first.attempt_id
    await shop.pay(second, DECLINED_CARD)
    await settle(shop.services, second.attempt_id)
    await shop.pay(first)
    await settle(shop.services, first.attempt_id)
    assert (await payment.payment_outcome(shop.context, key)).status is AttemptStatus.COMPLETED


async def test_a_payment_that_was_begun_meanwhile_wins_over_one_that_was_given_up(shop: Shop) -> None:
    for _ in range(4):
        key, seen = await shop.ready(Choice((await shop.product(stock=5)).id, 1))
        given_up = await shop.start(key, seen)
        await payment.cancel_payment(shop.context, key)
        await shop.pay(given_up)
        again, _ = await asyncio.gather(
            shop.start(key, seen), settle(shop.services, given_up.attempt_id), return_exceptions=True
        )
        state = await state_of(shop, given_up.attempt_id)
        if isinstance(again, BaseException):
            assert isinstance(again, CartNotFound)
            assert state == "completed"
        elif again.attempt_id == given_up.attempt_id:
            assert again.status is AttemptStatus.COMPLETED
        else:
            assert state == "refunding"
