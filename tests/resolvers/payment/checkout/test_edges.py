"""Payments at their edges: presses that meet completions, what the provider says differently, what must not be a 500."""

import asyncio
import dataclasses
import datetime as dt
from decimal import Decimal

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from resolvers.checkout import steps
from resolvers.core.operation import Call
from resolvers.payment.checkout import payment, polling
from resolvers.payment.checkout.completion import PAYIN, read_attempt, sync_attempt
from resolvers.payment.refunds import sending
from schema.checkout.checkout import AgreedTotals, CheckoutKey, PaymentAttemptStatus, ProductChoice, StartedPayment
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound, NotFound, PartnerInactive, ProviderFailed, ProviderTimedOut, Unavailable
from schema.delivery.delivery import DeliveryKind
from store.core.clock import clock
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.gift_card.movements import issue_value
from store.kv import KeyValueStore
from store.ledger.posting import post
from store.providers.errors import InvalidRequest
from store.providers.keys import new_idempotency_key
from store.providers.money import MinorAmount
from store.providers.transactions import CardRefundRequest, Transaction, TransactionKind, TransactionStatus
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import DECLINED_CARD, Shop, open_shop
from tests.statements import executed


async def state_of(shop: Shop, attempt_id: object) -> str:
    """Where an attempt stands."""
    return str(await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=attempt_id))


async def test_a_double_click_on_a_covered_order_orders_once(shop: Shop) -> None:
    """The second press may find the first one's attempt written, ordered, or the cart gone, but never a new checkout."""
    for orders in range(1, 7):
        card = await shop.gift_card("90.00")
        key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1), codes=(card.code,))

        async def press(after: float, key: CheckoutKey = key, seen: Checkout = seen) -> None:
            await asyncio.sleep(after)
            try:
                assert (await shop.start(key, seen)).status is PaymentAttemptStatus.COMPLETED
            except CartNotFound:
                assert (await payment.payment_outcome(shop.context, key)).status is PaymentAttemptStatus.COMPLETED

        await asyncio.gather(*(press(0.003 * n) for n in range(8)))
        assert await shop.count("shop_order") == orders
        assert await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id) == 60


async def test_a_cart_that_could_not_be_deleted_is_not_ordered_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    with monkeypatch.context() as patch:
        patch.setattr(type(shop.services.kv), "delete", _unreachable)
        await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is not None
    again = await shop.start(key, seen)
    assert (again.attempt_id, again.status) == (started.attempt_id, PaymentAttemptStatus.COMPLETED)
    assert await shop.count("checkout_attempt") == 1
    await shop.services.carts.replace(shop.partner.id, key.cart_id, [], "")
    with pytest.raises(Exception, match="has changed"):
        await shop.start(key, seen)


async def _unreachable(_kv: KeyValueStore, _key: str, **_conditions: object) -> bool:
    raise Unavailable(what="The cart store")


async def test_the_order_is_shown_whichever_payment_made_it(shop: Shop) -> None:
    """Given up, tried again and declined; then the first is paid in the tab that was still open."""
    key, seen = await shop.ready(ProductChoice((await shop.product(stock=5)).id, 1))
    first = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    clock.advance(dt.timedelta(seconds=1))
    second = await shop.start(key, seen)
    assert second.attempt_id != first.attempt_id
    await shop.pay(second, DECLINED_CARD)
    await sync_attempt(shop.services, second.attempt_id)
    await shop.pay(first)
    await sync_attempt(shop.services, first.attempt_id)
    assert (await payment.payment_outcome(shop.context, key)).status is PaymentAttemptStatus.COMPLETED


async def test_a_payment_that_was_begun_meanwhile_wins_over_one_that_was_given_up(shop: Shop) -> None:
    for _ in range(4):
        key, seen = await shop.ready(ProductChoice((await shop.product(stock=5)).id, 1))
        given_up = await shop.start(key, seen)
        await payment.cancel_payment(shop.context, key)
        await shop.pay(given_up)
        again, _ = await asyncio.gather(
            shop.start(key, seen), sync_attempt(shop.services, given_up.attempt_id), return_exceptions=True
        )
        state = await state_of(shop, given_up.attempt_id)
        if isinstance(again, BaseException):
            assert isinstance(again, CartNotFound)
            assert state == "completed"
        elif again.attempt_id == given_up.attempt_id:
            assert again.status is PaymentAttemptStatus.COMPLETED
        else:
            assert state == "refunding"


async def test_a_covered_order_is_made_although_the_process_died(shop: Shop) -> None:
    """Killed between the attempt and its completion: no provider will ever tell of it, the worker sees it."""
    card = await shop.gift_card("50.00")
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1), codes=(card.code,))
    await payment._begin(Call(shop.context, None), key, AgreedTotals.of(seen.totals), "en", None)
    clock.advance(dt.timedelta(minutes=1))
    assert await polling.CHECKS.sweep(shop.services) == 1
    await polling.CHECKS.poll(shop.services, await shop.one("SELECT id FROM checkout_attempt"))
    assert await shop.one("SELECT card_amount FROM shop_order") == 0
    assert await shop.one("SELECT remaining_amount FROM gift_card") == 20


async def test_a_refusal_that_nobody_was_there_to_hear_lets_everything_go(shop: Shop) -> None:
    """Killed between the provider's refusal and our commit: the key tells the refusal, and nothing can be paid."""
    key, seen = await shop.ready(ProductChoice((await shop.product(stock=1)).id, 1))
    await execute(shop, "UPDATE partner SET provider_wallet_id = 'gone'")
    with pytest.raises(ProviderFailed):
        await shop.start(key, seen)
    await execute(shop, "UPDATE checkout_attempt SET state = 'starting', held = true, failure_reason = ''")
    await execute(shop, "UPDATE product SET stock = 0")
    attempt = await shop.one("SELECT id FROM checkout_attempt")
    clock.advance(dt.timedelta(minutes=9))
    await polling.CHECKS.poll(shop.services, attempt)
    assert await state_of(shop, attempt) == "failed"
    assert await shop.one("SELECT stock FROM product") == 1


@pytest.mark.parametrize("asked", [20, 40])
async def test_whatever_was_charged_is_given_back(shop: Shop, asked: int) -> None:
    """The provider charged 30 where we had asked for something else: there is no order, and all 30 go back."""
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00", stock=1)).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    await execute(shop, "UPDATE checkout_attempt SET card_amount = :asked, total_amount = :asked", asked=asked)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await state_of(shop, started.attempt_id) == "refunding"
    await send_refunds(shop.services)
    assert await state_of(shop, started.attempt_id) == "refunded"
    assert await refunded(shop, started) == [3000]
    assert await shop.count("shop_order") == 0
    assert await shop.one("SELECT stock FROM product") == 1


async def paid_after_giving_up(shop: Shop) -> StartedPayment:
    """A payment that was given up and went through all the same, of what is no longer sold."""
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00", stock=1)).id, 1))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await execute(shop, "UPDATE product SET is_active = false")
    await shop.pay(started)
    return started


async def test_what_somebody_gave_back_already_is_not_given_back_again(shop: Shop) -> None:
    started = await paid_after_giving_up(shop)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    provider, payin_id = shop.services.provider, await shop.payin_of(started.attempt_id)
    payin = await provider.get_transaction(TransactionKind.PAYIN, payin_id)
    some, nothing = MinorAmount("EUR", 1000), MinorAmount("EUR", 0)
    request = CardRefundRequest("by hand", payin_id, payin.payer_id, some, nothing)
    await provider.refund(request, key=new_idempotency_key(), sent_at=clock.now())
    for _ in range(2):
        await send_refunds(shop.services)
    assert await state_of(shop, started.attempt_id) == "refunded"
    assert await refunded(shop, started) == [1000, 2000]
    await send_refunds(shop.services)
    assert await refunded(shop, started) == [1000, 2000]


async def test_a_refund_that_fails_is_tried_until_it_succeeds(shop: Shop) -> None:
    started = await paid_after_giving_up(shop)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    gone = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": "005405", "times": 3}
    await shop.control("POST", "/faults", gone)
    for _ in range(3):
        await send_refunds(shop.services)
        assert await state_of(shop, started.attempt_id) == "refunding"
        clock.advance(dt.timedelta(days=1))
        assert await sending.CHECKS.sweep(shop.services) == 1
    await send_refunds(shop.services)
    assert await state_of(shop, started.attempt_id) == "refunded"
    assert await refunded(shop, started) == [3000]


async def _refused() -> Transaction:
    raise InvalidRequest("No.", code="101101")


@pytest.mark.parametrize("left", [1, 0])
async def test_a_payment_that_failed_and_is_paid_after_all_is_not_forgotten(shop: Shop, left: int) -> None:
    """It becomes the order while the goods are there; else the card has its money back."""
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00", stock=1)).id, 1))
    started = await shop.start(key, seen)
    payin = await shop.payin_of(started.attempt_id)
    with pytest.raises(InvalidRequest):
        await PAYIN.send(shop.services, await read_attempt(shop.services, started.attempt_id), _refused())
    await execute(shop, "UPDATE product SET stock = :left", left=left)
    await polling.handle_notification(shop.services, payin)
    assert await state_of(shop, started.attempt_id) == "failed"
    await shop.pay(started)
    await polling.handle_notification(shop.services, payin)
    await send_refunds(shop.services)
    assert await state_of(shop, started.attempt_id) == ("completed" if left else "refunded")
    assert await shop.count("shop_order") == left


@pytest.mark.parametrize("left", [1, 0])
async def test_an_answer_that_comes_after_it_was_given_up_is_not_lost(shop: Shop, left: int) -> None:
    """The call that starts a payment may outlive the patience of the worker, and be paid by then."""
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00", stock=1)).id, 1))
    started = await shop.start(key, seen)
    payin = await shop.payin_of(started.attempt_id)
    await shop.pay(started)
    with pytest.raises(InvalidRequest):
        await PAYIN.send(shop.services, await read_attempt(shop.services, started.attempt_id), _refused())
    await execute(shop, "UPDATE checkout_attempt SET payin_id = '', payer_id = '', check_on = NULL")
    await execute(shop, "UPDATE product SET stock = :left", left=left)
    late = shop.services.provider.get_transaction(TransactionKind.PAYIN, payin)
    await PAYIN.send(shop.services, await read_attempt(shop.services, started.attempt_id), late)
    assert await state_of(shop, started.attempt_id) == ("completed" if left else "refunding")
    assert await shop.one("SELECT payin_id FROM checkout_attempt") == payin
    assert await shop.count("shop_order") == left


async def test_changing_ones_mind_never_waits_in_a_circle(shop: Shop) -> None:
    """Each press lets go of one product and takes another, while others want both, with the same coupon."""
    coupon = await shop.coupon()
    first, second = await shop.product(stock=500), await shop.product(stock=500)
    collect = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    for _ in range(2):
        presses = []
        for _ in range(6):
            key, seen = await shop.ready(ProductChoice(second.id, 1), codes=(coupon.code,))
            await shop.start(key, seen)
            presses.append(
                (key, await steps.choose_items(shop.context, key, [ProductChoice(first.id, 2)], collect, "FR"))
            )
            presses.append(
                await shop.ready(ProductChoice(first.id, 1), ProductChoice(second.id, 1), codes=(coupon.code,))
            )
        await asyncio.gather(*(shop.start(key, seen) for key, seen in presses))
    assert await shop.one("SELECT usage_count FROM coupon") == 2 * 12
    assert await shop.one("SELECT stock FROM product WHERE id = :id", id=first.id) == 500 - 2 * 18
    assert await shop.one("SELECT stock FROM product WHERE id = :id", id=second.id) == 500 - 2 * 6


async def test_a_large_cart_takes_no_more_statements_than_a_small_one(shop: Shop) -> None:
    """While an order is written, whoever orders next of the same partner waits for its number."""
    candles = [await shop.product(stock=9) for _ in range(5)]
    choices = [
        ProductChoice(c.id, 1, (await shop.variant(c, "9.00", 9)).id if c is not candles[2] else None) for c in candles
    ]
    card, counts = await shop.gift_card("500.00"), []
    for wanted in (choices[:3], choices):
        key, seen = await shop.ready(*wanted, codes=(card.code,))
        with executed(shop.services.db) as statements:
            assert (await shop.start(key, seen)).status is PaymentAttemptStatus.COMPLETED
        counts.append(len(statements))
    assert counts[1] <= counts[0]
    sold = "SELECT op.product_id, ov.variant_id FROM order_product op LEFT JOIN order_variant ov ON ov.id = order_variant_id"
    rows = await shop.services.db.rows(text(f"{sold} WHERE op.order_id = 2 ORDER BY op.id"))
    assert [tuple(row) for row in rows] == [(choice.product_id, choice.variant_id) for choice in choices]


async def test_a_part_that_is_held_stays_when_others_spend_the_rest(shop: Shop) -> None:
    """30 of 50 are held by a payment that is open, 20 are spent by somebody else: the card is used up, but for its holder."""
    card = await shop.gift_card("30.00")
    key, seen = await shop.ready(ProductChoice((await shop.product("40.00")).id, 1), codes=(card.code,))
    started = await shop.start(key, seen)
    await execute(shop, "UPDATE gift_card SET value_amount = 50, remaining_amount = 20")
    card.value_amount = Decimal("20.00")
    async with shop.services.db.sessions() as db, db.begin():
        await post(db, [dataclasses.replace(issue_value(card), source_id="more")])
    other, its = await shop.ready(ProductChoice((await shop.product("20.00")).id, 1), codes=(card.code,))
    assert (await shop.start(other, its)).status is PaymentAttemptStatus.COMPLETED
    assert await shop.one("SELECT status FROM gift_card") == "used"
    assert (await steps.open_checkout(shop.context, key)).totals == seen.totals
    assert (await shop.start(key, seen)).attempt_id == started.attempt_id
    await payment.cancel_payment(shop.context, key)
    assert (await shop.start(key, seen)).attempt_id != started.attempt_id


@pytest.mark.parametrize("when", ["before", "after"])
async def test_nobody_waits_for_ever_for_a_provider_that_hangs(
    shop: Shop, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither who begins to pay, nor who comes back: both can try again, and it is the same payment."""
    monkeypatch.setattr(payment, "PROVIDER_TIMEOUT", dt.timedelta(seconds=0.3))
    key, seen = await shop.ready(ProductChoice((await shop.product(stock=1)).id, 1))
    hangs = {"path": "/payins*", "kind": "hang", "seconds": 30, "when": when}
    await shop.control("POST", "/faults", hangs)
    with pytest.raises(ProviderTimedOut):
        await shop.start(key, seen)
    started = await shop.start(key, seen)
    await shop.pay(started)
    await shop.control("POST", "/faults", hangs)
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.WAITING
    outcome = await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert await shop.count("checkout_attempt") == 1
    assert sum((await shop.control("GET", "/stats")).json()["charges"].values()) == 1


async def test_a_payment_of_another_shop_is_none(shop: Shop) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    for asked in (
        payment.settle_payment(other.context, key.session_id, started.attempt_id),
        payment.payment_outcome(other.context, key),
        payment.cancel_payment(other.context, key),
    ):
        with pytest.raises((NotFound, CartNotFound)):
            await asked
    assert await state_of(shop, started.attempt_id) == "open"


async def test_a_test_partner_takes_no_real_money(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    await execute(shop, "UPDATE partner SET status = 't'")
    real = Settings(provider=ProviderName.MANGOPAY, mangopay_client_id="x", mangopay_api_key=SecretStr("x"))
    there = dataclasses.replace(shop, services=dataclasses.replace(shop.services, settings=real))
    with pytest.raises(PartnerInactive):
        await there.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
    assert (await shop.start(key, seen)).redirect_url, "the sandbox takes none"


async def execute(shop: Shop, statement: str, **parameters: object) -> None:
    """Something that happens in the database."""
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text(statement), parameters)


async def refunded(shop: Shop, started: StartedPayment) -> list[int]:
    """The refunds that were made of a payment, in cents."""
    payin = await shop.payin_of(started.attempt_id)
    made = await shop.services.provider.list_children(TransactionKind.PAYIN, payin)
    assert (await shop.control("GET", "/ledger/check")).json()["balanced"] is True
    return [refund.amount.minor for refund in made if refund.status is TransactionStatus.SUCCEEDED]


@pytest.mark.parametrize(
    "asked",
    [
        "checkout_attempt WHERE partner_id = 1 AND cart_id = '018f2f8e-0000-7000-8000-000000000000'",
        "checkout_attempt WHERE payin_id = 'payin_m_1'",
        "payment_transaction WHERE type = 'refund' AND provider_id = 'refund_m_1' AND provider_id <> ''",
    ],
)
async def test_a_payment_is_found_by_an_index_however_many_there_are(shop: Shop, asked: str) -> None:
    """Every page asks for the last payment of its cart, every notification for the payment that it is about."""
    async with shop.services.db.sessions() as db, db.begin():
        connection = await db.connection()
        await connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = str((await connection.execute(text(f"EXPLAIN SELECT 1 FROM {asked}"))).all())  # noqa: S608
    assert "Index Cond" in plan
    assert "Filter" not in plan
