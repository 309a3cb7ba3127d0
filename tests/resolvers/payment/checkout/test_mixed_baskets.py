"""Baskets of experiences and gift cards: one order, one payment, everything issued."""

import asyncio
import uuid
from decimal import Decimal

import pytest
from sqlalchemy import text

from resolvers.checkout import basket, steps
from resolvers.payment.refunds.order_refunds import refund_order
from schema.checkout.basket import VoucherChoice
from schema.checkout.checkout import PaymentAttemptStatus, ShopKind
from schema.checkout.codes import CodeProblem
from schema.core.errors import CheckoutChanged
from schema.coupon.coupon import CouponTarget, ReceptionMode
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
)
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.shop import Shop
from tests.resolvers.payment.checkout.test_commission import add_rule, fees_wallet


async def test_it_is_one_order_with_everything_issued(shop: Shop, sold: Experiences) -> None:
    chosen = for_two(sold), card_of("50.00", giftee=GIFTEE)
    outcome = await bought(shop, *chosen, reception=ReceptionMode.GIFTEE_EMAIL)
    assert (outcome.status, outcome.kind) == (PaymentAttemptStatus.COMPLETED, ShopKind.MIXED)
    assert await shop.one("SELECT array_agg(kind) FROM shop_order") == ["mixed"]
    assert await columns(shop, "payment", "product", "payment_amount") == [("mixed", Decimal("244.00"))]
    assert await columns(shop, "voucher", "order_id", "purchase_price_amount") == [(1, Decimal("194.00"))]
    assert await columns(shop, "gift_card", "order_id", "value_amount") == [(1, Decimal("50.00"))]
    assert await columns(shop, "order_vat", "rate", "gross_amount") == [(Decimal("20.00"), Decimal("194.00"))]
    page = await shop.order_page(outcome)
    assert [line.issued_item is not None for line in page.lines] == [True, True]
    sent = await shop.one("SELECT json_agg(kind ORDER BY kind) FROM mail WHERE recipient = 'grace@example.com'")
    assert sent == ["gift_card", "voucher"]


async def test_a_gift_card_pays_for_the_experiences_only(shop: Shop, sold: Experiences) -> None:
    paying = await shop.gift_card("500.00")
    await bought(shop, for_two(sold), card_of("50.00"), codes=(paying.code,))
    assert await columns(shop, "shop_order", "gift_card_amount", "card_amount") == [
        (Decimal("194.00"), Decimal("50.00"))
    ]
    left = await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=paying.id)
    assert left == Decimal("306.00")
    _, seen = await fill_basket(shop, card_of("50.00"), codes=(paying.code,))
    (code,) = seen.codes
    assert (code.amount, code.problem) == (Decimal(0), CodeProblem.PAYS_NO_GIFT_CARDS)
    assert seen.totals.by_card == Decimal("50.00")


@pytest.mark.parametrize(
    ("target", "prototypes", "off"),
    [
        (CouponTarget.VOUCHERS, False, "19.40"),
        (CouponTarget.GIFT_CARDS, False, "5.00"),
        (CouponTarget.GIFT_CARDS, True, "5.00"),
        (CouponTarget.VOUCHERS, True, "0.00"),
    ],
)
async def test_a_coupon_is_for_what_it_names(
    shop: Shop, sold: Experiences, target: CouponTarget, prototypes: bool, off: str
) -> None:
    coupon = await sale_coupon(shop, targets=[target], voucher_prototype_ids=[sold.meal.id] if prototypes else [])
    _, seen = await fill_basket(shop, for_two(sold), card_of("50.00"), codes=(coupon.code,))
    assert seen.totals.discount == Decimal(off)
    assert seen.codes[0].problem is (None if Decimal(off) else CodeProblem.NOT_FOR_THESE)


async def test_each_part_has_the_commission_of_its_rule(shop: Shop, sold: Experiences) -> None:
    vat = Decimal("20.00")
    await add_rule(shop, product="vouchers", percentage=Decimal("10.00"), fixed_amount=Decimal("0.20"), vat_rate=vat)
    await add_rule(shop, product="gift_cards", percentage=Decimal("2.00"), fixed_amount=Decimal("0.30"), vat_rate=vat)
    paying = await shop.gift_card("94.00")
    await bought(shop, for_two(sold), card_of("50.00"), codes=(paying.code,))
    # 100.00 of the experiences and 50.00 of the gift card are paid by bank card: 10.00 + 1.00 + 0.30, and 20 % VAT
    assert await fees_wallet(shop) == 1356
    row = await columns(shop, "payment", "commission_amount", "commission_vat_amount", "fee_rule_id")
    assert row == [(Decimal("13.56"), Decimal("2.26"), None)]


@pytest.mark.parametrize("first", [0, 1])
async def test_each_line_is_refunded_to_what_paid_for_it(shop: Shop, sold: Experiences, first: int) -> None:
    """A gift card that paid for an experience never becomes another gift card, nor money."""
    paying = await shop.gift_card("150.00")
    await bought(shop, for_two(sold), card_of("50.00"), codes=(paying.code,))  # 150 of 194, and 44 + 50 by bank card
    by_line = {0: (Decimal("150.00"), Decimal("44.00")), 1: (Decimal(0), Decimal("50.00"))}
    for line in (first, 1 - first):
        refunded = await refund_order(shop.manager, await refund_wish(shop, line))
        parts = "SELECT coalesce(sum(transaction_amount) FILTER (WHERE payment_method = :method), 0) FROM payment_transaction WHERE refund_id = :id"
        got = [await shop.one(parts, method=method, id=refunded.id) for method in ("gift_card", "credit_card")]
        assert tuple(got) == by_line[line], line
    assert await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=paying.id) == Decimal("150.00")


async def test_a_gift_card_does_not_reach_the_minimum_of_a_coupon_for_experiences(
    shop: Shop, sold: Experiences
) -> None:
    coupon = await sale_coupon(shop, targets=[CouponTarget.VOUCHERS], minimum_basket_amount=Decimal("200.00"))
    _, seen = await fill_basket(shop, for_two(sold), card_of("50.00"), codes=(coupon.code,))
    assert (seen.totals.discount, seen.codes[0].problem) == (Decimal(0), CodeProblem.MINIMUM_BASKET)


async def test_a_basket_that_changed_kind_has_one_payment(shop: Shop, sold: Experiences) -> None:
    key, seen = await fill_basket(shop, VoucherChoice(sold.meal.id, adults=2))
    first = await shop.start(key, seen)
    await basket.put_line(shop.context, key, uuid.uuid4(), card_of("50.00"))
    both = await steps.open_checkout(shop.context, key)
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    started = await shop.start(key, both)
    states = dict(await columns(shop, "checkout_attempt", "kind", "state"))
    assert states == {"vouchers": "abandoned", "mixed": "open"}
    await shop.pay(first)
    await settled(shop, key, started)
    assert (await shop.count("shop_order"), await shop.count("gift_card"), await shop.count("voucher")) == (1, 1, 1)


async def test_any_number_of_completions_issue_everything_once(shop: Shop, sold: Experiences) -> None:
    coupon = await sale_coupon(shop, max_usages=1)
    key, seen = await fill_basket(shop, for_two(sold), card_of("40.00"), codes=(coupon.code,))
    pressed = await asyncio.gather(*(shop.start(key, seen) for _ in range(5)))
    assert len({started.attempt_id for started in pressed}) == 1
    await shop.pay(pressed[0])
    results = await asyncio.gather(*await all_at_once(shop, key, pressed[0]), return_exceptions=True)
    assert [r for r in results if isinstance(r, BaseException)] == []
    tables = ("shop_order", "payment", "voucher", "gift_card", "order_product")
    assert [await shop.count(table) for table in tables] == [1, 1, 1, 1, 2]
    assert await shop.services.db.rows(text("SELECT usage_count FROM coupon")) == [(1,)]
