"""Lines of one order that reach their recipients in different ways."""

import dataclasses
from decimal import Decimal

import pytest

from resolvers.checkout import basket
from resolvers.order.fulfilment import reopen_order_fulfilment
from resolvers.order.withdrawal import request_refund, review_refund_request
from resolvers.payment.refunds.order_refunds import refund_order
from schema.checkout.checkout import CheckoutStep, PaymentAttemptStatus
from schema.core.errors import InvalidInput
from schema.coupon.coupon import ReceptionMode
from schema.order.errors import NothingToFulfil
from schema.order.input import ReopenOrderFulfilment
from tests.fixtures.basket import (
    GIFTEE,
    Experiences,
    bought,
    card_of,
    columns,
    fill_basket,
    for_two,
    settled,
)
from tests.fixtures.network_sale import network_goods
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.refund_request import approved, buyer_wish, token_of
from tests.fixtures.shop import Shop
from tests.resolvers.order.test_packing_slip import slip_of

PRINT, MAIL, POST, TO_GIFTEE = (
    ReceptionMode.PRINT_AT_HOME,
    ReceptionMode.GIFTEE_EMAIL,
    ReceptionMode.EXPEDITION,
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY,
)
PAUL = dataclasses.replace(GIFTEE, first_name="Paul", last_name="Langevin", email="")
ADDRESS = "Paul Langevin\n2 rue du Lac\n1000 Bruxelles\nBE"


async def test_three_presents_reach_three_people_in_three_ways(shop: Shop, sold: Experiences) -> None:
    outcome = await bought(
        shop,
        for_two(sold, giftee=GIFTEE, reception=MAIL),
        card_of("50.00", giftee=PAUL, reception=TO_GIFTEE),
        card_of("30.00", self_gifted=True),
    )
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    vouchers = await columns(shop, "voucher", "reception_mode", "recipient_address", "expedition_status")
    assert vouchers == [("giftee_email", None, "none")]
    cards = await columns(shop, "gift_card", "value_amount::int", "reception_mode", "recipient_address")
    assert sorted(cards) == [(30, "print_at_home", None), (50, "postal_mail_to_beneficiary", ADDRESS)]
    kept = "delivery_kind", "delivery_amount", "fulfilment_state", "city"
    assert await columns(shop, "shop_order", *kept) == [("home_delivery", Decimal("12.00"), "to_prepare", None)]
    mailed = await columns(shop, "mail", "kind", "recipient")
    assert sorted(each for each in mailed if each[0] in {"voucher", "gift_card"}) == [
        ("gift_card", "ada@example.com"),
        ("gift_card", "ada@example.com"),
        ("voucher", "ada@example.com"),
        ("voucher", "grace@example.com"),
    ], "of what is posted its buyer is told"
    page = await shop.order_page(outcome)
    items = [line.issued_item for line in page.lines if line.issued_item]
    assert [(item.reception, item.recipient_email) for item in items] == [
        (MAIL, "grace@example.com"),
        (TO_GIFTEE, ""),
        (PRINT, "ada@example.com"),
    ]
    assert page.has_several_receptions
    (slip,) = await slip_of(shop)
    assert ("Gift card" in slip, "Massage" in slip, "1 piece" in slip, "Langevin" in slip) == (True, False, True, True)


async def test_what_is_refunded_of_what_is_posted_is_neither_packed_nor_sent(shop: Shop) -> None:
    """What is e-mailed of the order stays."""
    await bought(shop, card_of("50.00", reception=POST), card_of("30.00", self_gifted=True))
    await refund_order(shop.manager, await refund_wish(shop, 0))
    assert await columns(shop, "shop_order", "fulfilment_state", "status") == [("cancelled", "paid")]
    id = await shop.one("SELECT id FROM shop_order")
    with pytest.raises(NothingToFulfil):
        await reopen_order_fulfilment(shop.manager, ReopenOrderFulfilment(id=id))


async def test_withdrawing_what_was_posted_brings_its_delivery_back(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET withdrawal_days = 14")
    await bought(shop, card_of("50.00", reception=POST), card_of("30.00", self_gifted=True))
    token = await token_of(shop)
    mailed = await review_refund_request(shop.context, token, buyer_wish({1: 1}))
    posted = await review_refund_request(shop.context, token, buyer_wish({0: 1}))
    assert (mailed.amount, mailed.includes_delivery) == (Decimal("30.00"), False)
    assert (posted.amount, posted.includes_delivery) == (Decimal("55.00"), True)
    id = await request_refund(shop.context, token, buyer_wish({0: 1}))
    await approved(shop, id)
    assert await columns(shop, "shop_order", "delivery_refunded_amount") == [(Decimal("5.00"),)]


async def test_messages_tell_the_way_of_each_line(shop: Shop) -> None:
    await bought(shop, card_of("50.00", reception=POST), card_of("30.00", self_gifted=True))
    content = await shop.one("SELECT content FROM mail WHERE kind = 'new_order'")
    told = [[text["en"] for text in line["details"]] for line in content["lines"]]
    assert told == [["By post to you"], ["By e-mail, to print at home"]]


async def test_a_line_that_cannot_be_delivered_stands_in_no_other_ones_way(shop: Shop) -> None:
    far = dataclasses.replace(PAUL, country="JP", postal_code="100-0001")
    key, _ = await fill_basket(shop, card_of("50.00", giftee=PAUL, reception=TO_GIFTEE), card_of("30.00"))
    first, second = (await basket.open_basket(shop.context, key)).basket_lines
    stuck = await basket.put_line(shop.context, key, first.id, dataclasses.replace(first.choice, giftee=far))
    assert not stuck.is_delivery_chosen
    chosen = await basket.choose_reception(shop.context, key, ReceptionMode.GIFTEE_EMAIL, line_id=second.id)
    assert [line.reception for line in chosen.basket_lines] == [TO_GIFTEE, MAIL]


async def test_what_is_posted_to_the_buyer_and_to_a_giftee_is_two_parcels(shop: Shop) -> None:
    await bought(shop, card_of("50.00", giftee=PAUL, reception=TO_GIFTEE), card_of("30.00"), reception=POST)
    cards = await columns(shop, "gift_card", "value_amount::int", "recipient_address")
    assert dict(cards) == {50: ADDRESS, 30: "Ada Martin\n1 rue des Lilas\n75011 Paris\nFR"}
    kept = await columns(shop, "shop_order", "delivery_amount", "city")
    assert kept == [(Decimal("17.00"), "Paris")], "the buyer's own address is that of the order"
    first, second = await slip_of(shop)
    assert ("Langevin" in first, "Lilas" in second) == (True, True)


async def test_the_address_that_one_line_needs_is_asked_for(shop: Shop) -> None:
    key, seen = await fill_basket(shop, card_of("50.00"), card_of("30.00", reception=POST))
    assert seen.furthest_step is CheckoutStep.PAYMENT
    ids = list((await basket.open_basket(shop.context, key)).basket_lines)
    by_mail = await basket.choose_reception(shop.context, key, MAIL, line_id=ids[0].id)
    assert by_mail.basket_lines[0].problem is not None, "it goes to nobody"
    assert (by_mail.furthest_step, by_mail.totals.delivery) == (CheckoutStep.CUSTOMIZATION, Decimal("5.00"))
    with pytest.raises(InvalidInput):
        await basket.choose_reception(shop.context, key, POST, country="JP", line_id=ids[1].id)
    opened = await basket.open_basket(shop.context, key)
    assert [line.reception for line in opened.basket_lines] == [MAIL, POST], "a refusal changes nothing"


async def test_another_way_of_a_line_is_another_payment(shop: Shop) -> None:
    key, seen = await fill_basket(shop, card_of("50.00", giftee=GIFTEE), card_of("30.00", giftee=GIFTEE))
    first = await shop.start(key, seen)
    again = await shop.start(key, seen)
    assert again.attempt_id == first.attempt_id
    line = seen.basket_lines[1]
    mailed = await basket.choose_reception(shop.context, key, MAIL, line_id=line.id)
    assert mailed.totals == seen.totals
    second = await shop.start(key, mailed)
    assert second.attempt_id != first.attempt_id
    await settled(shop, key, second)
    cards = await columns(shop, "gift_card", "value_amount::int", "reception_mode")
    assert dict(cards) == {50: "print_at_home", 30: "giftee_email"}


async def test_what_a_network_sells_is_mailed_in_part(shop: Shop) -> None:
    goods = await network_goods(shop)
    await bought(
        shop, goods.cards(giftee=GIFTEE, reception=MAIL), goods.boxes(giftee=PAUL), goods.cards("60.00"), reception=POST
    )
    mailed = await columns(shop, "mail", "kind", "recipient")
    of_network = sorted(each for each in mailed if each[0].startswith("network"))
    assert of_network == [("network_gift_card", "ada@example.com"), ("network_gift_card", "grace@example.com")]
    cards = await columns(shop, "gift_card", "value_amount::int", "reception_mode")
    assert set(cards) == {(50, "giftee_email"), (60, "expedition")}
    addresses = await columns(shop, "network_voucher", "recipient_address")
    assert {address for (address,) in addresses} == {"Ada Martin\n1 rue des Lilas\n75011 Paris\nFR"}
