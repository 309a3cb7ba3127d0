"""Selling vouchers and gift cards with coupons and gift cards, by many at once, and when something goes wrong."""

import asyncio
import uuid
from decimal import Decimal

import pytest

from resolvers.checkout import basket, steps
from resolvers.payment.checkout import payment, polling
from resolvers.payment.checkout.completion import sync_attempt
from schema.checkout.basket import VoucherChoice
from schema.checkout.checkout import CheckoutNotice, PaymentAttemptStatus, ShopKind
from schema.checkout.codes import CodeProblem
from schema.core.errors import AppError, InvalidInput
from schema.coupon.coupon import ReceptionMode
from store.core.codes import generate_code
from tests.fixtures.basket import (
    GIFTEE,
    Experiences,
    all_at_once,
    bought,
    card_of,
    columns,
    fill_basket,
    for_two,
    sale_coupon,
    settled,
    untouched,
)
from tests.fixtures.shop import DECLINED_CARD, Shop

# ---- coupons and gift cards


async def test_a_coupon_is_shared_out_to_the_cent(shop: Shop, sold: Experiences) -> None:
    coupon = await sale_coupon(
        shop, discount_percentage=None, discount_amount=Decimal("10.00"), new_validity_period="24", max_usages=1
    )
    three = [for_two(sold, adults=1, options={sold.rose.id: 1}) for _ in range(3)]
    outcome = await bought(shop, *three, codes=(coupon.code,))
    page = await shop.order_page(outcome)
    assert (page.totals.discount, page.totals.total) == (Decimal("10.00"), Decimal("296.00"))
    paid = [row[0] for row in await columns(shop, "voucher", "purchase_price_amount")]
    assert (sum(paid), set(paid)) == (Decimal("296.00"), {Decimal("98.66"), Decimal("98.67")})
    rents = await columns(shop, "voucher", "bought_rent_price_amount + 12 - purchase_price_amount")
    assert all(Decimal(0) < row[0] < Decimal("0.5") for row in rents)
    assert await columns(shop, "voucher", "coupon_id") == [(coupon.id,)] * 3
    assert await shop.one("SELECT usage_count FROM coupon") == 1
    years = await shop.one(
        "SELECT extract(year FROM age(expires_on + interval '1 day', created_on)) FROM voucher LIMIT 1"
    )
    assert years == 2
    key, _ = await fill_basket(shop, for_two(sold))
    with pytest.raises(InvalidInput):  # used up
        await steps.apply_code(shop.context, key, coupon.code)


async def test_coupons_work_on_what_they_are_for(shop: Shop, sold: Experiences) -> None:
    only_stays = await sale_coupon(shop, "STAYS", voucher_prototype_ids=[sold.stay.id])
    by_mail = await sale_coupon(shop, "MAIL", reception_modes=[ReceptionMode.GIFTEE_EMAIL])
    for_shop = await shop.coupon("SHOPONLY")
    key, seen = await fill_basket(
        shop, for_two(sold), VoucherChoice(sold.stay.id, adults=2), codes=(only_stays.code, by_mail.code)
    )
    assert [(code.amount, code.applies) for code in seen.codes] == [(Decimal("24.00"), True), (Decimal("0.00"), False)]
    with pytest.raises(InvalidInput):
        await steps.apply_code(shop.context, key, for_shop.code)
    with pytest.raises(InvalidInput):
        await steps.apply_code(shop.context, key, generate_code())
    later = await basket.choose_reception(shop.context, key, ReceptionMode.GIFTEE_EMAIL)
    assert later.codes[1].applies
    await untouched(shop)


async def test_a_coupon_may_raise_the_value_instead(shop: Shop, sold: Experiences) -> None:
    plus = await sale_coupon(shop, "PLUS10", increases_value=True, increases_value_repeatedly=True)
    outcome = await bought(shop, card_of("50.00"), card_of("80.00"), codes=(plus.code,))
    page = await shop.order_page(outcome)
    assert (page.totals.total, page.totals.discount) == (Decimal("130.00"), Decimal(0))
    assert [(c.amount, c.added_value) for c in page.codes] == [(Decimal(0), Decimal("13.00"))]
    values = await columns(shop, "gift_card", "value_amount", "remaining_amount")
    assert values == [(Decimal("55.00"), Decimal("55.00")), (Decimal("88.00"), Decimal("88.00"))]
    assert await columns(shop, "order_product", "total_amount") == [(Decimal("50.00"),), (Decimal("80.00"),)]
    once = await sale_coupon(shop, "PLUSONCE", increases_value=True)
    await bought(shop, for_two(sold), VoucherChoice(sold.meal.id, adults=2), codes=(once.code,))
    worth = await columns(shop, "voucher", "total_price_amount", "purchase_price_amount")
    assert worth == [(Decimal("213.40"), Decimal("194.00")), (Decimal("110.00"), Decimal("110.00"))]


async def test_gift_cards_pay_for_vouchers_but_not_for_gift_cards(shop: Shop, sold: Experiences) -> None:
    card = await shop.gift_card("500.00")
    _, seen = await fill_basket(shop, card_of("50.00"), codes=(card.code,))
    assert (seen.totals.gift_cards, seen.codes[0].problem) == (Decimal(0), CodeProblem.PAYS_NO_GIFT_CARDS)
    await untouched(shop)
    outcome = await bought(shop, for_two(sold), codes=(card.code,))
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert await shop.one("SELECT payment_type FROM voucher") == "gift_card"
    assert await shop.one("SELECT remaining_amount FROM gift_card") == Decimal("306.00")
    part = await shop.gift_card("5.00")
    await bought(shop, for_two(sold), codes=(part.code,))
    assert await shop.one("SELECT payment_type FROM voucher ORDER BY id DESC LIMIT 1") == "gift_card,credit_card"


# ---- races, and what goes wrong


@pytest.mark.parametrize("kind", [ShopKind.VOUCHERS, ShopKind.GIFT_CARDS])
async def test_any_number_of_completions_make_one_order_and_issue_once(
    shop: Shop, sold: Experiences, kind: ShopKind
) -> None:
    choices = (
        [for_two(sold), VoucherChoice(sold.meal.id, adults=2)] if kind is ShopKind.VOUCHERS else [card_of("40.00")] * 2
    )
    coupon = await sale_coupon(shop, max_usages=1)
    key, seen = await fill_basket(shop, *choices, codes=(coupon.code,))
    pressed = await asyncio.gather(*(shop.start(key, seen) for _ in range(5)))
    assert len({started.attempt_id for started in pressed}) == 1
    await shop.pay(pressed[0])
    results = await asyncio.gather(*await all_at_once(shop, key, pressed[0]), return_exceptions=True)
    assert [r for r in results if isinstance(r, BaseException)] == []
    table = "voucher" if kind is ShopKind.VOUCHERS else "gift_card"
    assert (await shop.count("shop_order"), await shop.count(table), await shop.count("order_product")) == (1, 2, 2)
    assert await shop.one("SELECT usage_count FROM coupon") == 1
    issued = await shop.one(f"SELECT count(*) FROM event WHERE type = '{table}.issued'")  # noqa: S608
    assert issued == 2


async def test_many_customers_at_once_lose_and_double_nothing(shop: Shop, sold: Experiences) -> None:
    async def buy(position: int) -> None:
        both = [VoucherChoice(sold.meal.id, adults=2, giftee=GIFTEE), for_two(sold)]
        key, seen = await fill_basket(shop, *(both if position % 2 else reversed(both)))
        started = await shop.start(key, seen)
        await shop.pay(started)
        await asyncio.gather(
            payment.settle_payment(shop.context, key.session_id, started.attempt_id),
            polling.CHECKS.poll(shop.services, started.attempt_id),
        )

    await asyncio.gather(*(buy(position) for position in range(8)))
    assert await shop.one("SELECT array_agg(number ORDER BY number) FROM shop_order") == list(range(1, 9))
    assert await shop.count("voucher") == 16
    assert await shop.one("SELECT count(DISTINCT normal_code) FROM voucher") == 16
    assert await shop.one("SELECT sum(nb_orders) FROM voucher_prototype") == 16
    assert await shop.count("customer") == 2
    assert await shop.one("SELECT sum(purchase_price_amount) FROM voucher") == await shop.one(
        "SELECT sum(total_amount) FROM shop_order"
    )


async def test_a_declined_card_issues_nothing_and_lets_go(shop: Shop, sold: Experiences) -> None:
    card, coupon = await shop.gift_card("5.00"), await sale_coupon(shop, max_usages=1)
    key, seen = await fill_basket(shop, for_two(sold), codes=(card.code, coupon.code))
    started = await shop.start(key, seen)
    outcome = await settled(shop, key, started, DECLINED_CARD)
    assert outcome.notice is CheckoutNotice.PAYMENT_DECLINED
    assert (await shop.count("voucher"), await shop.count("shop_order")) == (0, 0)
    assert await shop.one("SELECT usage_count FROM coupon") == 0
    assert await shop.one("SELECT remaining_amount FROM gift_card") == Decimal("5.00")
    again = await basket.open_basket(shop.context, key)
    assert (again.totals, again.basket_lines) == (seen.totals, seen.basket_lines)
    await settled(shop, key, await shop.start(key, again))
    assert await shop.count("voucher") == 1


@pytest.mark.parametrize("gone", ["coupon", "gift_card", "prototype"])
async def test_what_is_gone_when_a_given_up_payment_is_paid_after_all_goes_back(
    shop: Shop, sold: Experiences, gone: str
) -> None:
    card, coupon = await shop.gift_card("5.00"), await sale_coupon(shop, max_usages=1)
    key, seen = await fill_basket(shop, for_two(sold), codes=(card.code, coupon.code))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    changes = {
        "coupon": "UPDATE coupon SET usage_count = 1",
        "gift_card": "UPDATE gift_card SET status = 'cncld'",
        "prototype": "UPDATE voucher_prototype SET is_active = false",
    }
    await shop.execute(changes[gone])
    await shop.pay(started)
    for _ in range(2):
        await sync_attempt(shop.services, started.attempt_id)
    outcome = await payment.payment_outcome(shop.context, key)
    assert (outcome.status, outcome.notice) == (PaymentAttemptStatus.REFUNDED, CheckoutNotice.PAYMENT_REFUNDED)
    assert (await shop.count("voucher"), await shop.count("shop_order")) == (0, 0)
    assert await shop.one("SELECT remaining_amount FROM gift_card") == Decimal("5.00")
    assert (await shop.control("GET", "/ledger/check")).json()["balanced"] is True


async def test_a_given_up_payment_that_is_paid_after_all_still_issues(shop: Shop, sold: Experiences) -> None:
    key, seen = await fill_basket(shop, for_two(sold))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert (await shop.count("shop_order"), await shop.count("voucher")) == (1, 1)


async def test_a_changed_basket_is_another_payment_and_only_one_of_them_is_an_order(
    shop: Shop, sold: Experiences
) -> None:
    key, seen = await fill_basket(shop, for_two(sold))
    first = await shop.start(key, seen)
    more = await basket.put_line(shop.context, key, uuid.uuid4(), VoucherChoice(sold.meal.id, adults=2))
    with pytest.raises(AppError):
        await shop.start(key, seen)
    second = await shop.start(key, more)
    assert second.attempt_id != first.attempt_id
    await shop.pay(first)
    await shop.pay(second)
    await asyncio.gather(*(polling.CHECKS.poll(shop.services, one.attempt_id) for one in (first, second)))
    assert await columns(shop, "shop_order", "total_amount") == [(Decimal("304.00"),)]
    assert await shop.count("voucher") == 2
    assert await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=first.attempt_id) in {
        "refunding",
        "refunded",
    }
