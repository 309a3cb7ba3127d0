"""Paying: one attempt, one order, nothing charged twice, nothing held for ever."""

import asyncio
import dataclasses
import datetime as dt
from decimal import Decimal

import pytest
from sqlalchemy import text

from resolvers.checkout import steps
from resolvers.payment.checkout import payment, polling
from resolvers.payment.checkout.completion import sync_attempt
from schema.checkout.checkout import AgreedTotals, CheckoutKind, CheckoutNotice, PaymentAttemptStatus, ProductChoice
from schema.core.errors import CartNotFound, CheckoutChanged, NotFound
from schema.delivery.delivery import DeliveryKind
from schema.payment.errors import PaymentsNotActive
from store.core.clock import clock
from store.partner.partners import PartnerRow
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, GOOD_CARD, Shop


async def test_a_card_with_a_challenge_makes_one_order(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=3, vat_rate=Decimal("20.00"))
    key, seen = await shop.ready(
        ProductChoice(candle.id, 2), delivery=DeliveryKind.HOME_DELIVERY, return_url="https://x.example/a"
    )
    assert seen.totals.total == Decimal("45.00")
    started = await shop.start(key, seen)
    assert started.status is PaymentAttemptStatus.WAITING
    assert started.redirect_url
    assert await shop.one("SELECT stock FROM product") == 1
    await shop.pay(started, CHALLENGE_CARD)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert (await shop.order_page(outcome)).number == 1
    assert outcome.return_url == "https://x.example/a"
    assert await shop.count("shop_order") == 1
    assert await shop.one("SELECT sum(payment_amount) FROM payment") == Decimal("45.00")
    assert await shop.one("SELECT vat_amount FROM order_vat") == Decimal("7.50")
    with pytest.raises(CartNotFound):
        await steps.open_checkout(shop.context, key)
    elsewhere = shop.key(await shop.cart(), "another browser")
    assert await payment.is_ordered(shop.context, dataclasses.replace(key, session_id="another browser"))
    assert not await payment.is_ordered(shop.context, elsewhere)
    assert not await payment.is_ordered(shop.context, dataclasses.replace(key, kind=CheckoutKind.BASKET))


async def test_only_the_browser_that_paid_is_told(shop: Shop) -> None:
    candle = await shop.product()
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    with pytest.raises(NotFound):
        await payment.settle_payment(shop.context, "another session", started.attempt_id)
    assert await shop.count("shop_order") == 1
    with pytest.raises(NotFound):
        await payment.payment_outcome(shop.context, shop.key(await shop.cart(), "x"))


async def test_fifty_completions_at_once_make_one_order(shop: Shop) -> None:
    candle = await shop.product(stock=5)
    card = await shop.gift_card("5.00")
    coupon = await shop.coupon(max_usages=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(card.code, coupon.code))
    assert seen.totals.by_card == Decimal("13.00")
    started = await shop.start(key, seen)
    await shop.pay(started)
    payin = await shop.payin_of(started.attempt_id)
    calls = [
        *(payment.settle_payment(shop.context, key.session_id, started.attempt_id) for _ in range(20)),
        *(polling.CHECKS.poll(shop.services, started.attempt_id) for _ in range(20)),
        *(polling.handle_notification(shop.services, payin) for _ in range(10)),
    ]
    await asyncio.gather(*calls)
    assert await shop.count("shop_order") == 1
    assert await shop.one("SELECT last_order_number FROM partner") == 1
    assert await shop.one("SELECT stock FROM product") == 4
    assert await shop.one("SELECT usage_count FROM coupon") == 1
    assert await shop.one("SELECT remaining_amount FROM gift_card") == 0
    assert await shop.one("SELECT sum(amount) FROM gift_card_movement") == 0


async def test_pressing_pay_in_ten_tabs_begins_one_payment(shop: Shop) -> None:
    candle = await shop.product(stock=5)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await asyncio.gather(*(shop.start(key, seen) for _ in range(10)))
    assert len({s.attempt_id for s in started}) == 1
    assert len({s.redirect_url for s in started}) == 1
    assert await shop.count("checkout_attempt") == 1
    stats = (await shop.control("GET", "/stats")).json()
    assert await shop.one("SELECT stock FROM product") == 4, stats


async def test_the_last_piece_is_sold_once(shop: Shop) -> None:
    candle = await shop.product(stock=1)
    ready = [await shop.ready(ProductChoice(candle.id, 1)) for _ in range(12)]
    results = await asyncio.gather(*(shop.start(key, seen) for key, seen in ready), return_exceptions=True)
    won = [r for r in results if not isinstance(r, BaseException)]
    assert len(won) == 1
    assert all(isinstance(r, CheckoutChanged) for r in results if isinstance(r, BaseException))
    assert await shop.one("SELECT stock FROM product") == 0
    assert await shop.count("checkout_attempt") == 1


async def test_the_last_use_of_a_coupon_is_given_once(shop: Shop) -> None:
    candle = await shop.product()
    coupon = await shop.coupon(max_usages=1)
    ready = [await shop.ready(ProductChoice(candle.id, 1), codes=(coupon.code,)) for _ in range(12)]
    results = await asyncio.gather(*(shop.start(key, seen) for key, seen in ready), return_exceptions=True)
    assert len([r for r in results if not isinstance(r, BaseException)]) == 1
    assert await shop.one("SELECT usage_count FROM coupon") == 1


async def test_a_gift_card_never_pays_twice(shop: Shop) -> None:
    candle = await shop.product("30.00")
    card = await shop.gift_card("50.00")
    ready = [await shop.ready(ProductChoice(candle.id, 1), codes=(card.code,)) for _ in range(8)]
    results = await asyncio.gather(*(shop.start(key, seen) for key, seen in ready), return_exceptions=True)
    assert len([r for r in results if not isinstance(r, BaseException)]) == 1
    assert await shop.one("SELECT remaining_amount FROM gift_card") == Decimal("20.00")
    assert await shop.count("shop_order") == 1


async def test_wholly_covered_orders_skip_the_card(shop: Shop) -> None:
    candle = await shop.product("30.00")
    card = await shop.gift_card("50.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 1), codes=(card.code,))
    assert seen.totals.by_card == 0
    started = await shop.start(key, seen)
    assert started.status is PaymentAttemptStatus.COMPLETED
    assert started.redirect_url is None
    outcome = await payment.payment_outcome(shop.context, key)
    page = await shop.order_page(outcome)
    assert page.number == 1
    assert [c.amount for c in page.codes] == [Decimal("30.00")]
    assert await shop.one("SELECT status FROM gift_card") == "using"


async def test_a_declined_card_lets_everything_go_and_another_card_pays(shop: Shop) -> None:
    candle = await shop.product(stock=2)
    card = await shop.gift_card("5.00")
    coupon = await shop.coupon(max_usages=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 2), codes=(card.code, coupon.code))
    first = await shop.start(key, seen)
    await shop.pay(first, DECLINED_CARD)
    outcome = await payment.settle_payment(shop.context, key.session_id, first.attempt_id)
    assert outcome.status is PaymentAttemptStatus.FAILED
    assert outcome.notice is CheckoutNotice.PAYMENT_DECLINED
    assert await shop.one("SELECT stock FROM product") == 2
    assert await shop.one("SELECT usage_count FROM coupon") == 0
    assert await shop.one("SELECT remaining_amount FROM gift_card") == Decimal("5.00")
    assert await shop.count("shop_order") == 0
    again = await steps.open_checkout(shop.context, key)
    assert CheckoutNotice.PAYMENT_DECLINED in again.notices
    assert again.totals == seen.totals
    second = await shop.start(key, again)
    assert second.attempt_id != first.attempt_id
    await shop.pay(second, GOOD_CARD)
    done = await payment.settle_payment(shop.context, key.session_id, second.attempt_id)
    assert done.status is PaymentAttemptStatus.COMPLETED


async def test_a_cancelled_payment_says_so(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started, None)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.notice is CheckoutNotice.PAYMENT_CANCELLED


async def test_a_customer_who_never_comes_back_gets_the_order(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    assert await polling.CHECKS.sweep(shop.services) == 0
    clock.advance(dt.timedelta(minutes=2))
    assert await polling.CHECKS.sweep(shop.services) == 1
    assert await polling.CHECKS.sweep(shop.services) in {0, 1}
    assert await shop.count("pgqueuer") == 1
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.count("shop_order") == 1


async def test_a_payment_that_this_program_cannot_read_keeps_no_other_from_its_check(shop: Shop) -> None:
    for _ in range(2):
        key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
        await shop.start(key, seen)
    await shop.execute(
        """UPDATE checkout_attempt SET delivery = jsonb_set(delivery, '{kind}', '"drone"')
        WHERE id = (SELECT id FROM checkout_attempt ORDER BY created_on LIMIT 1)"""
    )
    clock.advance(dt.timedelta(minutes=2))
    assert await polling.CHECKS.sweep(shop.services) == 2
    assert await shop.count("pgqueuer") == 2


async def test_an_abandoned_payment_times_out_and_frees_the_stock(shop: Shop) -> None:
    candle = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    clock.advance(dt.timedelta(minutes=16))
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.notice is CheckoutNotice.PAYMENT_EXPIRED
    assert await shop.one("SELECT stock FROM product") == 1


async def test_what_no_longer_covers_is_refunded_in_full(shop: Shop) -> None:
    candle = await shop.product("30.00", stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], shop.modes[DeliveryKind.DIGITAL])
    await payment.cancel_payment(shop.context, key)
    assert await shop.one("SELECT state FROM checkout_attempt") == "abandoned"
    other_key, other_seen = await shop.ready(ProductChoice(candle.id, 1))
    other = await shop.start(other_key, other_seen)
    await shop.pay(started)
    await sync_attempt(shop.services, started.attempt_id)
    assert await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=started.attempt_id) == "refunding"
    await send_refunds(shop.services)
    assert await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=started.attempt_id) == "refunded"
    outcome = await payment.payment_outcome(shop.context, key)
    assert outcome.status is PaymentAttemptStatus.REFUNDED
    assert outcome.notice is CheckoutNotice.PAYMENT_REFUNDED
    assert await shop.count("shop_order") == 0
    await shop.pay(other)
    done = await payment.settle_payment(shop.context, other_key.session_id, other.attempt_id)
    assert (await shop.order_page(done)).number == 1
    assert (await shop.control("GET", "/ledger/check")).json()["balanced"] is True


async def test_a_given_up_payment_that_is_paid_after_all_still_becomes_the_order(shop: Shop) -> None:
    candle = await shop.product("30.00", stock=1)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    assert await shop.one("SELECT stock FROM product") == 1
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.count("shop_order") == 1
    assert await shop.one("SELECT stock FROM product") == 0


async def test_a_payment_refuses_a_total_the_customer_has_not_seen(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    with pytest.raises(CheckoutChanged):
        await payment.start_payment(
            shop.context, key, AgreedTotals(seen.totals.total - 1, seen.totals.by_card), "en", "http://x/"
        )
    assert await shop.count("checkout_attempt") == 0


async def test_a_partner_without_active_payments_takes_no_card(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    async with shop.services.db.sessions() as db, db.begin():
        partner = await db.get_one(PartnerRow, shop.partner.id)
        partner.payments_active = False
    with pytest.raises(PaymentsNotActive):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0


async def test_order_numbers_have_no_gaps(shop: Shop) -> None:
    candle = await shop.product("10.00", stock=6)
    ready = [await shop.ready(ProductChoice(candle.id, 1)) for _ in range(9)]
    started = await asyncio.gather(*(shop.start(key, seen) for key, seen in ready), return_exceptions=True)
    good = [s for s in started if not isinstance(s, BaseException)]
    for one in good[:5]:
        await shop.pay(one)
    await shop.pay(good[5], DECLINED_CARD)
    await asyncio.gather(*(polling.CHECKS.poll(shop.services, one.attempt_id) for one in good))
    numbers = [row[0] for row in await shop.services.db.rows(text("SELECT number FROM shop_order ORDER BY 1"))]
    assert numbers == [1, 2, 3, 4, 5]
