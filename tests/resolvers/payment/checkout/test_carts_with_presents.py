"""Carts with goods, experiences and gift cards: one order, one payment, one delivery; nothing lost, nothing doubled."""

import asyncio
import dataclasses
import uuid
from decimal import Decimal

import pytest

from resolvers.checkout import basket, steps
from resolvers.checkout.moving import find_movable_basket, move_basket
from resolvers.payment.checkout import payment
from resolvers.payment.refunds.order_refunds import refund_order
from schema.cart.cart import CartItem
from schema.checkout.basket import BasketChoice
from schema.checkout.checkout import CheckoutKey, CheckoutNotice, CheckoutStep, PaymentAttemptStatus, ProductChoice
from schema.checkout.view import Checkout
from schema.core.errors import CheckoutChanged, InvalidInput
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.payment.input import RefundOrderLine
from store.product.products import ProductRow
from tests.fixtures.basket import (
    GIFTEE,
    Experiences,
    all_at_once,
    card_of,
    columns,
    fill_basket,
    for_two,
    new_key,
    sale_coupon,
    settled,
)
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import BUYER, Shop
from tests.resolvers.payment.checkout.test_commission import add_rule, fees_wallet

HOME, COLLECT = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT
MAIL, POST, TO_GIFTEE = (
    ReceptionMode.GIFTEE_EMAIL,
    ReceptionMode.EXPEDITION,
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY,
)


async def filled(
    shop: Shop,
    product: ProductRow,
    *presents: BasketChoice,
    reception: ReceptionMode | None = None,
    delivery: DeliveryKind = COLLECT,
    codes: tuple[str, ...] = (),
) -> tuple[CheckoutKey, Checkout]:
    """A cart with one of a product and with these presents, which only needs paying."""
    key, _ = await shop.ready(ProductChoice(product.id, 1), delivery=delivery)
    for choice in presents:
        id = uuid.uuid4()
        await basket.put_line(shop.context, key, id, choice)
        way = reception or (MAIL if choice.giftee.email else ReceptionMode.PRINT_AT_HOME)
        mode = None if way.is_by_email else shop.modes[delivery]
        await basket.choose_reception(shop.context, key, way, mode, "FR", line_id=id)
    seen = await steps.identify_buyer(shop.context, key, BUYER)
    for code in codes:
        seen = await steps.apply_code(shop.context, key, code)
    assert seen.furthest_step is CheckoutStep.PAYMENT
    return key, seen


async def ordered(shop: Shop, *of: BasketChoice, codes: tuple[str, ...] = ()) -> ProductRow:
    """A paid order of a product of 20.00, of which there are three, and of these presents."""
    candle = await shop.product("20.00", stock=3)
    key, seen = await filled(shop, candle, *of, codes=codes)
    outcome = await settled(shop, key, await shop.start(key, seen))
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    return candle


async def test_it_is_one_order_with_everything_in_it(shop: Shop, sold: Experiences) -> None:
    await ordered(shop, for_two(sold), card_of("50.00", giftee=GIFTEE))
    assert await columns(shop, "shop_order", "kind", "has_goods", "total_amount", "fulfilment_state") == [
        ("mixed", True, Decimal("264.00"), "to_prepare")
    ]
    assert await columns(shop, "order_product", "product_id IS NULL", "voucher_id", "gift_card_id") == [
        (False, None, None),
        (True, 1, None),
        (True, None, 1),
    ]
    assert await columns(shop, "payment", "product", "payment_amount") == [("mixed", Decimal("264.00"))]
    sent = await shop.one("SELECT json_agg(kind ORDER BY kind) FROM mail WHERE recipient = 'grace@example.com'")
    assert sent == ["gift_card", "voucher"]
    assert await broken_rules(shop.services.db) == {}


async def test_each_part_has_the_commission_of_its_rule(shop: Shop, sold: Experiences) -> None:
    for product, share in (("products", "10.00"), ("vouchers", "5.00"), ("gift_cards", "1.00")):
        await add_rule(shop, product=product, percentage=Decimal(share))
    paying = await shop.gift_card("107.00")
    await ordered(shop, for_two(sold), card_of("50.00"), codes=(paying.code,))
    # half of the goods and the experience is left to the bank card: 10.00, 97.00, and all of the gift card
    assert await fees_wallet(shop) == 100 + 485 + 50


async def test_what_a_coupon_is_for(shop: Shop, sold: Experiences) -> None:
    goods = await shop.coupon("GOODS50", "50.00", targets=[CouponTarget.ECOMMERCE])
    spa = await sale_coupon(shop, targets=[CouponTarget.VOUCHERS])
    key, seen = await filled(shop, await shop.product("20.00"), for_two(sold), codes=(goods.code, spa.code))
    assert [code.amount for code in seen.codes] == [Decimal("10.00"), Decimal("19.40")]
    bare, _ = await shop.ready(ProductChoice((await shop.product("20.00")).id, 1))
    with pytest.raises(InvalidInput):
        await steps.apply_code(shop.context, bare, spa.code)
    for line in seen.basket_lines:
        seen = await basket.remove_line(shop.context, key, line.id)
    assert CheckoutNotice.CODE_NO_LONGER_VALID in seen.notices


async def test_each_line_is_refunded_by_itself(shop: Shop, sold: Experiences) -> None:
    candle = await ordered(shop, for_two(sold), card_of("50.00"))
    ids = [row[0] for row in await columns(shop, "order_product", "id")]
    wish = await refund_wish(shop, 0)
    await refund_order(shop.manager, wish.model_copy(update={"restock": True}))
    assert await shop.one("SELECT stock FROM product WHERE id = :id", id=candle.id) == 3
    assert await columns(shop, "shop_order", "fulfilment_state") == [("cancelled",)], "the rest is e-mailed"
    lines = [RefundOrderLine(id=id, quantity=1) for id in ids[1:]]
    wish = (await refund_wish(shop, 1)).model_copy(update={"lines": lines})
    await refund_order(shop.manager, wish)
    await send_refunds(shop.services)
    assert await shop.one("SELECT status FROM shop_order") == "refunded"
    assert await broken_rules(shop.services.db) == {}


@pytest.mark.parametrize(
    ("chosen", "delivery", "received"),
    [
        (POST, COLLECT, "on_site"),
        (POST, HOME, "expedition"),
        (POST, DeliveryKind.DIGITAL, "print_at_home"),
        (TO_GIFTEE, COLLECT, "on_site"),
        (TO_GIFTEE, HOME, "postal_mail_to_beneficiary"),
        (TO_GIFTEE, DeliveryKind.DIGITAL, "giftee_email"),
        (MAIL, COLLECT, "giftee_email"),
    ],
)
async def test_what_is_not_mailed_follows_the_goods(
    shop: Shop, chosen: ReceptionMode, delivery: DeliveryKind, received: str
) -> None:
    product = await shop.product("20.00", is_physical=False)
    first = COLLECT if chosen is ReceptionMode.ON_SITE else HOME
    key, _ = await filled(shop, product, card_of("50.00", giftee=GIFTEE), reception=chosen, delivery=first)
    await steps.choose_items(shop.context, key, [ProductChoice(product.id, 1)], shop.modes[delivery], "FR")
    seen = await steps.identify_buyer(shop.context, key, BUYER)
    assert [line.reception for line in seen.basket_lines] == [received]
    assert seen.delivery is not None
    assert seen.delivery.kind is delivery
    await settled(shop, key, await shop.start(key, seen))
    assert await columns(shop, "gift_card", "reception_mode") == [(received,)]
    assert await columns(shop, "shop_order", "delivery_kind") == [(delivery.value,)]


async def test_goods_move_to_the_way_of_a_posted_present(shop: Shop) -> None:
    key, seen = await filled(shop, await shop.product("20.00"), card_of("50.00", giftee=GIFTEE), delivery=COLLECT)
    (line,) = seen.basket_lines
    opened = await basket.price_line(shop.context, key, line.id, None)
    posted = [option for option in opened.receptions if option.delivery_id == shop.modes[HOME]]
    assert {option.moves_others for option in posted} == {True}
    moved = await basket.choose_reception(shop.context, key, POST, shop.modes[HOME], "FR", line_id=line.id)
    assert moved.delivery_id == shop.modes[HOME]
    mailed = await basket.choose_reception(shop.context, key, MAIL, None, "FR", line_id=line.id)
    assert mailed.delivery_id == shop.modes[HOME], "goods stay where they are"


async def test_a_replaced_cart_keeps_what_was_added(shop: Shop) -> None:
    candle = await shop.product("20.00")
    key, seen = await filled(shop, candle, card_of("50.00"))
    await shop.services.carts.replace(shop.partner.id, key.cart_id, [CartItem(candle.id, 2)], "")
    again = await steps.open_checkout(shop.context, key)
    assert CheckoutNotice.CART_REPLACED in again.notices
    assert [line.id for line in again.basket_lines] == [line.id for line in seen.basket_lines]
    with pytest.raises(CheckoutChanged):
        await shop.start(key, again)


async def test_what_is_ordered_is_not_in_the_next_version_of_a_cart(shop: Shop) -> None:
    candle = await shop.product("20.00")
    key, seen = await filled(shop, candle, card_of("50.00"))
    started = await shop.start(key, seen)
    await shop.services.carts.replace(shop.partner.id, key.cart_id, [CartItem(candle.id, 2)], "")
    await settled(shop, key, started)
    again = await steps.open_checkout(shop.context, key)
    assert ([line.choice.quantity for line in again.lines], again.basket_lines) == ([2], ())


async def test_presents_alone_keep_their_delivery(shop: Shop) -> None:
    candle = await shop.product("20.00")
    key, _ = await filled(shop, candle, card_of("50.00"), reception=POST, delivery=HOME)
    await steps.choose_items(shop.context, key, [], None)
    seen = await steps.identify_buyer(shop.context, key, BUYER)
    assert (seen.delivery_id, seen.country) == (shop.modes[HOME], "FR")
    assert [line.reception for line in seen.basket_lines] == [POST]


@pytest.mark.parametrize(("present", "price"), [("card", "5.00"), ("massage", "0.00")])
async def test_prepaid_money_makes_no_delivery_free(shop: Shop, sold: Experiences, present: str, price: str) -> None:
    await shop.execute("UPDATE delivery_mode SET free_above_amount = 60 WHERE id = :id", id=shop.modes[HOME])
    choice: BasketChoice = card_of("500.00") if present == "card" else for_two(sold)
    _, seen = await filled(shop, await shop.product("20.00"), choice, delivery=HOME)
    assert seen.totals.delivery == Decimal(price)


# ---- a basket is taken along ------------------------------------------------------------------------------------------


async def test_a_basket_is_taken_along_once(shop: Shop) -> None:
    key, _ = await filled(shop, await shop.product("20.00"))
    of = dataclasses.replace(new_key(), session_id=key.session_id)
    await fill_basket(shop, card_of("50.00"), card_of("30.00"), key=of)
    moves = [move_basket(shop.context, key, of) for _ in range(5)]
    seen = await asyncio.gather(*moves)
    assert {len(each.basket_lines) for each in seen} == {2}
    assert (await basket.open_basket(shop.context, of)).basket_lines == ()


async def test_what_is_taken_along_is_received_as_it_was_chosen(shop: Shop) -> None:
    key, _ = await filled(shop, await shop.product("20.00"), card_of("20.00"))
    of = dataclasses.replace(new_key(), session_id=key.session_id)
    await fill_basket(shop, card_of("50.00", giftee=GIFTEE), key=of, reception=MAIL)
    seen = await move_basket(shop.context, key, of)
    assert [line.reception for line in seen.basket_lines] == [ReceptionMode.PRINT_AT_HOME, MAIL]


async def test_a_basket_whose_payment_was_given_up_stays_until_it_is_settled(shop: Shop) -> None:
    """It could still be paid: what is in it would be sold twice."""
    key, _ = await filled(shop, await shop.product("20.00"))
    of = dataclasses.replace(new_key(), session_id=key.session_id)
    _, seen = await fill_basket(shop, card_of("50.00"), key=of)
    await shop.start(of, seen)
    await payment.cancel_payment(shop.context, of)
    assert await find_movable_basket(shop.context, of) is None
    with pytest.raises(CheckoutChanged):
        await move_basket(shop.context, key, of)


async def test_a_basket_is_taken_along_or_paid(shop: Shop) -> None:
    key, _ = await filled(shop, await shop.product("20.00"))
    of = dataclasses.replace(new_key(), session_id=key.session_id)
    _, seen = await fill_basket(shop, card_of("50.00"), key=of)
    tried = [coroutine for _ in range(4) for coroutine in (move_basket(shop.context, key, of), shop.start(of, seen))]
    results = await asyncio.gather(*tried, return_exceptions=True)
    assert {type(each) for each in results if isinstance(each, BaseException)} <= {CheckoutChanged}
    is_paid = await shop.one("SELECT count(*) FROM checkout_attempt WHERE state = 'open'")
    in_cart = len((await steps.open_checkout(shop.context, key)).basket_lines)
    assert is_paid + in_cart == 1


async def test_a_basket_that_does_not_fit_stays(shop: Shop) -> None:
    key, _ = await filled(shop, await shop.product("20.00"), card_of("20.00"))
    of = dataclasses.replace(new_key(), session_id=key.session_id)
    await fill_basket(shop, *(card_of("50.00") for _ in range(basket.MOST_LINES)), key=of)
    with pytest.raises(InvalidInput):
        await move_basket(shop.context, key, of)
    assert len((await basket.open_basket(shop.context, of)).basket_lines) == basket.MOST_LINES
    assert len((await steps.open_checkout(shop.context, key)).basket_lines) == 1


async def test_a_basket_that_is_being_paid_stays(shop: Shop) -> None:
    key, _ = await filled(shop, await shop.product("20.00"))
    of = dataclasses.replace(new_key(), session_id=key.session_id)
    _, seen = await fill_basket(shop, card_of("50.00"), key=of)
    started = await shop.start(of, seen)
    with pytest.raises(CheckoutChanged):
        await move_basket(shop.context, key, of)
    assert (await settled(shop, of, started)).status is PaymentAttemptStatus.COMPLETED


# ---- races ------------------------------------------------------------------------------------------------------------


async def test_everybody_at_once_makes_one_order(shop: Shop, sold: Experiences) -> None:
    key, seen = await filled(shop, await shop.product("20.00", stock=1), for_two(sold), card_of("50.00"))
    started = await asyncio.gather(*(shop.start(key, seen) for _ in range(5)))
    assert len({each.attempt_id for each in started}) == 1
    await shop.pay(started[0])
    results = await asyncio.gather(*await all_at_once(shop, key, started[0]), return_exceptions=True)
    assert [each for each in results if isinstance(each, Exception)] == []
    assert [await shop.count(table) for table in ("shop_order", "voucher", "gift_card")] == [1, 1, 1]
    assert await columns(shop, "product", "stock") == [(0,)]


async def test_the_last_piece_goes_to_one(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=1)
    filled_carts = [await filled(shop, candle, card_of("50.00")) for _ in range(4)]
    begun = await asyncio.gather(*(shop.start(*each) for each in filled_carts), return_exceptions=True)
    refused = [each for each in begun if isinstance(each, BaseException)]
    assert [type(each) for each in refused] == [CheckoutChanged] * 3
    assert await columns(shop, "product", "stock") == [(0,)]
    assert await shop.count("checkout_attempt") == 1


async def test_what_can_no_longer_be_supplied_is_refunded_as_a_whole(shop: Shop) -> None:
    candle = await shop.product("20.00", stock=1)
    key, seen = await filled(shop, candle, card_of("50.00"))
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    other, seen = await filled(shop, candle)
    await settled(shop, other, await shop.start(other, seen))
    outcome = await settled(shop, key, started)
    assert outcome.status is PaymentAttemptStatus.REFUNDED
    assert [await shop.count(table) for table in ("shop_order", "gift_card")] == [1, 0]
    assert await broken_rules(shop.services.db) == {}
