"""Selling vouchers and gift cards: a basket, the price the shop says, one order, and what was bought made with it."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from resolvers.checkout import basket, steps
from resolvers.payment.checkout import payment, polling
from schema.checkout.basket import BasketChoice, BasketProblem, Giftee, VoucherChoice
from schema.checkout.checkout import Buyer, CheckoutKind, CheckoutStep, PaymentAttemptStatus, ShopKind
from schema.core.errors import CartNotFound, CheckoutChanged, InvalidInput, NotFound
from schema.coupon.coupon import ReceptionMode
from store.core.clock import clock
from store.document.addresses import DocumentKind, document_path
from tests.fixtures.basket import (
    GIFTEE,
    Experiences,
    bought,
    card_of,
    columns,
    fill_basket,
    for_two,
    new_key,
    settled,
    untouched,
)
from tests.fixtures.shop import CHALLENGE_CARD, Shop

# ---- from the window to the order


async def test_a_paid_basket_is_an_order_with_its_vouchers(shop: Shop, sold: Experiences) -> None:
    key, seen = await fill_basket(
        shop, for_two(sold, message="Enjoy"), VoucherChoice(sold.stay.id, adults=2, nights=3, self_gifted=True)
    )
    assert seen.totals.total == Decimal("554.00")
    assert [(v.rate, v.vat) for v in seen.totals.vat] == [(Decimal("20.00"), Decimal("92.33"))]
    started = await shop.start(key, seen)
    assert await shop.count("voucher") == 0
    outcome = await settled(shop, key, started, CHALLENGE_CARD)
    assert (outcome.status, outcome.kind) == (PaymentAttemptStatus.COMPLETED, ShopKind.VOUCHERS)
    page = await shop.order_page(outcome)
    assert (page.kind, page.number) == (ShopKind.VOUCHERS, 1)
    prices = ("total_price_amount", "purchase_price_amount", "rent_price_amount", "bought_rent_price_amount")
    assert await columns(shop, "voucher", *prices) == [
        (Decimal("194.00"), Decimal("194.00"), Decimal("170.00"), Decimal("170.00")),
        (Decimal("360.00"), Decimal("360.00"), Decimal("360.00"), Decimal("360.00")),
    ]
    told = ("state", "message", "giftee_email", "from_gifter", "nb_adults", "nb_nights", "self_gifted", "payment_type")
    assert await columns(shop, "voucher", *told) == [
        ("paid", "Enjoy", "grace@example.com", "Ada Martin", 2, 0, False, "credit_card"),
        ("paid", None, None, "Ada Martin", 2, 3, True, "credit_card"),
    ]
    assert await columns(shop, "voucher", "origin") == [("http://shop.localhost/vouchers/shop/",)] * 2
    lines = await columns(shop, "order_product", "product_id", "voucher_id IS NOT NULL", "gift_card_id", "total_amount")
    assert lines == [(None, True, None, Decimal("194.00")), (None, True, None, Decimal("360.00"))]
    assert await shop.one("SELECT nb_orders FROM voucher_prototype WHERE id = :id", id=sold.massage.id) == 1
    codes = [row[0] for row in await columns(shop, "voucher", "code")]
    issued = [line.issued_item for line in page.lines]
    assert [one.code for one in issued if one] == codes
    token = await shop.one("SELECT document_token FROM voucher ORDER BY id LIMIT 1")
    assert issued[0] is not None
    assert issued[0].document_path == document_path(DocumentKind.VOUCHER, token)
    assert page.lines[0].details[0].en == "2 adults · Rose · Tea × 2"
    assert page.lines[1].details[0].fr == "2 adultes · 3 nuits"
    kinds = [row[0] for row in await columns(shop, "event", "type")]
    assert sorted(kinds) == ["order.created", "order.paid", "payment.succeeded", "voucher.issued", "voucher.issued"]
    assert {row[0] for row in await columns(shop, "mail", "kind")} >= {"order_confirmation", "voucher"}


async def test_a_gift_card_is_sold_at_its_value_without_vat(shop: Shop) -> None:
    outcome = await bought(
        shop,
        card_of("50.00", giftee=GIFTEE, message="For you"),
        card_of("12.34"),
        reception=ReceptionMode.PRINT_AT_HOME,
    )
    page = await shop.order_page(outcome)
    assert (page.totals.total, page.totals.vat) == (Decimal("62.34"), ())
    kept = await columns(shop, "gift_card", "status", "value_amount", "remaining_amount", "giftee_email", "message")
    assert kept == [
        ("paid", Decimal("50.00"), Decimal("50.00"), "grace@example.com", "For you"),
        ("paid", Decimal("12.34"), Decimal("12.34"), None, None),
    ]
    assert await columns(shop, "gift_card_movement", "kind", "amount") == [
        ("issue", Decimal("50.00")),
        ("issue", Decimal("12.34")),
    ]
    assert [line.issued_item.recipient_email for line in page.lines if line.issued_item] == ["ada@example.com"] * 2
    assert await shop.count("order_vat") == 0
    months = await shop.one("SELECT extract(month FROM age(expires_on, created_on)) FROM gift_card LIMIT 1")
    years = await shop.one("SELECT extract(year FROM age(expires_on, created_on)) FROM gift_card LIMIT 1")
    assert 12 * years + months in {11, 12}


async def test_a_basket_that_is_an_order_is_gone_and_nothing_orders_it_again(shop: Shop, sold: Experiences) -> None:
    key, seen = await fill_basket(shop, for_two(sold))
    started = await shop.start(key, seen)
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)  # another process: it has no session
    again = await shop.start(key, seen)
    assert (again.attempt_id, again.status) == (started.attempt_id, PaymentAttemptStatus.COMPLETED)
    for look in (basket.open_basket, steps.open_checkout, payment.cancel_payment):
        with pytest.raises(CartNotFound):
            await look(shop.context, key)
    with pytest.raises(CartNotFound):
        await basket.put_line(shop.context, key, uuid.uuid4(), for_two(sold))
    assert (await shop.order_page(await payment.payment_outcome(shop.context, key))).number == 1
    with pytest.raises(NotFound):
        await payment.payment_outcome(shop.context, dataclasses.replace(key, session_id="another browser"))
    with pytest.raises(NotFound):
        await payment.settle_payment(shop.context, "another browser", started.attempt_id)
    assert (await shop.count("shop_order"), await shop.count("voucher")) == (1, 1)


async def test_the_same_form_sent_twice_is_one_line_and_lines_go_again(shop: Shop, sold: Experiences) -> None:
    key, line_id = new_key(), uuid.uuid4()
    await asyncio.gather(*(basket.put_line(shop.context, key, line_id, for_two(sold)) for _ in range(5)))
    await asyncio.gather(*(basket.put_line(shop.context, key, uuid.uuid4(), for_two(sold)) for _ in range(5)))
    opened = await basket.open_basket(shop.context, key)
    assert len(opened.basket_lines) == 6
    changed = await basket.put_line(shop.context, key, line_id, for_two(sold, adults=1, options={sold.lavender.id: 1}))
    assert next(line.total for line in changed.basket_lines if line.id == line_id) == Decimal("90.00")
    seen = await basket.price_line(shop.context, key, line_id, for_two(sold, adults=4))
    assert next(line.total for line in seen.basket_lines if line.id == line_id) == Decimal("354.00")
    assert (await basket.open_basket(shop.context, key)).basket_lines == changed.basket_lines
    for line in opened.basket_lines:
        await basket.remove_line(shop.context, key, line.id)
    empty = await basket.open_basket(shop.context, key)
    assert (len(empty.basket_lines), empty.totals.total, empty.furthest_step) == (
        0,
        Decimal(0),
        CheckoutStep.CUSTOMIZATION,
    )
    others = dataclasses.replace(key, session_id="another browser")
    assert (await basket.open_basket(shop.context, others)).basket_lines == ()


async def test_an_experience_is_offered_as_it_is_sold_today(shop: Shop, sold: Experiences) -> None:
    seen = await basket.open_prototype(shop.context, sold.massage.id)
    oils, extras = seen.categories
    assert (oils.minimum, oils.maximum, [o.id for o in oils.options]) == (1, 1, [sold.lavender.id, sold.rose.id])
    assert [o.countable for o in extras.options] == [True, False]
    today = clock.now().astimezone(ZoneInfo("Europe/Paris")).date()
    await shop.execute("UPDATE voucher_prototype SET last_active_day = :day WHERE id = :id", day=today, id=sold.meal.id)
    await shop.execute("UPDATE voucher_option SET is_global = true WHERE id = :id", id=sold.tea.id)
    await shop.execute("UPDATE voucher_option_link SET included = true WHERE option_id = :id", id=sold.robe.id)
    await shop.execute("UPDATE voucher_option SET is_active = false WHERE id = :id", id=sold.rose.id)
    massage, meal = [await basket.open_prototype(shop.context, one.id) for one in (sold.massage, sold.meal)]
    assert [o.id for c in massage.categories for o in c.options] == [sold.lavender.id, sold.tea.id]
    assert [o.id for o in massage.included] == [sold.robe.id]
    assert [o.id for c in meal.categories for o in c.options] == [sold.tea.id]
    clock.advance(dt.timedelta(days=2))
    with pytest.raises(NotFound):
        await basket.open_prototype(shop.context, sold.meal.id)
    outcome = await bought(shop, VoucherChoice(sold.massage.id, options={sold.lavender.id: 1}))
    assert (await shop.order_page(outcome)).number == 1
    assert await columns(shop, "voucher_included_option", "option_id", "count") == [(sold.robe.id, 1)]
    assert await columns(shop, "voucher_chosen_option", "option_id", "count") == [(sold.lavender.id, 1)]


# ---- what is refused


async def test_what_cannot_be_had_is_refused_by_its_field(shop: Shop, sold: Experiences) -> None:
    oil = {sold.rose.id: 1}
    cases: list[tuple[BasketChoice, set[tuple[str, str]]]] = [
        (VoucherChoice(sold.massage.id, adults=5, options=oil), {("adults", "TOO_MANY_PERSONS")}),
        (VoucherChoice(sold.massage.id, adults=0, options=oil), {("adults", "TOO_FEW_PERSONS")}),
        (VoucherChoice(sold.massage.id, adults=-1, options=oil), {("adults", "OUT_OF_RANGE")}),
        (VoucherChoice(sold.massage.id, babies=1, options=oil), {("babies", "CANNOT_BE_ADDED")}),
        (VoucherChoice(sold.stay.id, nights=1), {("nights", "OUT_OF_RANGE")}),
        (VoucherChoice(sold.stay.id, nights=366), {("nights", "OUT_OF_RANGE")}),
        (VoucherChoice(sold.massage.id), {("categories", "TOO_FEW_OPTIONS")}),
        (VoucherChoice(sold.massage.id, options={sold.rose.id: 1, sold.lavender.id: 1}), {("categories", "TOO_MANY_OPTIONS")}),
        (VoucherChoice(sold.massage.id, options={**oil, sold.tea.id: 3}), {("categories", "TOO_MANY_OPTIONS")}),
        (VoucherChoice(sold.massage.id, options={**oil, sold.robe.id: 2}), {("options", "ONLY_ONCE")}),
        (VoucherChoice(sold.massage.id, options={**oil, sold.tea.id: -1}), {("options", "OUT_OF_RANGE")}),
        (VoucherChoice(sold.stay.id, options=oil), {("options", "NOT_OFFERED")}),
        (VoucherChoice(2**40), {("prototype_id", "NOT_OFFERED")}),
        (for_two(sold, giftee=Giftee(email="nobody", phone="x", country="ZZ")), {("giftee", "INVALID_EMAIL"), ("giftee", "INVALID_PHONE"), ("giftee", "INVALID")}),
        (for_two(sold, message="x" * 1001), {("message", "TOO_LONG")}),
        (card_of("9.99"), {("value", "OUT_OF_RANGE")}),
        (card_of("1000.01"), {("value", "OUT_OF_RANGE")}),
        (card_of("NaN"), {("value", "OUT_OF_RANGE")}),
        (card_of("10.001"), {("value", "NOT_CENTS")}),
    ]  # fmt: skip
    for choice, wrong in cases:
        key = new_key()
        with pytest.raises(InvalidInput) as refused:
            await basket.put_line(shop.context, key, uuid.uuid4(), choice)
        assert {(p.path[0], p.code) for p in refused.value.problems} == wrong, choice
        assert (await basket.open_basket(shop.context, key)).basket_lines == ()
    with pytest.raises(CartNotFound):
        await basket.open_basket(shop.context, new_key(CheckoutKind.CART))
    key = new_key()
    for _ in range(basket.MOST_LINES):
        await basket.put_line(shop.context, key, uuid.uuid4(), card_of("10.00"))
    with pytest.raises(InvalidInput):
        await basket.put_line(shop.context, key, uuid.uuid4(), card_of("10.00"))
    assert (await basket.open_basket(shop.context, key)).totals.total == Decimal("200.00")
    await untouched(shop)


async def test_another_shops_experience_is_not_sold(shop: Shop, sold: Experiences) -> None:
    await shop.execute(
        "INSERT INTO partner SELECT (jsonb_populate_record(p, jsonb_build_object('id', 990, 'uuid', gen_random_uuid(), "
        "'site_domain', 'other.localhost', 'source_id', 'other'))).* FROM partner p"
    )
    await shop.execute("UPDATE voucher_prototype SET partner_id = 990 WHERE id = :id", id=sold.meal.id)
    with pytest.raises(NotFound):
        await basket.open_prototype(shop.context, sold.meal.id)
    with pytest.raises(InvalidInput):
        await basket.put_line(shop.context, new_key(), uuid.uuid4(), VoucherChoice(sold.meal.id, adults=2))
    await untouched(shop)


async def test_what_the_customer_has_not_seen_is_not_charged(shop: Shop, sold: Experiences) -> None:
    key, seen = await fill_basket(shop, for_two(sold))
    for change in (
        f"UPDATE voucher_prototype SET stay_price_amount = 91 WHERE id = {sold.massage.id}",  # noqa: S608
        f"UPDATE voucher_prototype SET max_capacity = 1 WHERE id = {sold.massage.id}",  # noqa: S608
        f"UPDATE voucher_option SET is_active = false WHERE id = {sold.rose.id}",  # noqa: S608
        f"UPDATE voucher_prototype SET is_active = false WHERE id = {sold.massage.id}",  # noqa: S608
    ):
        await shop.execute(change)
        with pytest.raises(CheckoutChanged):
            await shop.start(key, seen)
    opened = await basket.open_basket(shop.context, key)
    assert (opened.basket_lines[0].problem, opened.totals.total, opened.furthest_step) == (
        BasketProblem.NOT_SOLD,
        Decimal(0),
        CheckoutStep.CUSTOMIZATION,
    )
    await untouched(shop)


# ---- reception


async def test_ways_of_reception_need_and_cost_what_they_must(shop: Shop, sold: Experiences) -> None:
    key = new_key()
    nobody = for_two(sold, giftee=Giftee())
    first = uuid.uuid4()
    await basket.put_line(shop.context, key, first, nobody)
    by_mail = await basket.choose_reception(shop.context, key, ReceptionMode.GIFTEE_EMAIL)
    assert (by_mail.basket_lines[0].problem, by_mail.furthest_step) == (
        BasketProblem.GIFTEE_EMAIL_MISSING,
        CheckoutStep.CUSTOMIZATION,
    )
    posted = await basket.choose_reception(shop.context, key, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)
    assert (posted.basket_lines[0].problem, posted.totals.delivery) == (BasketProblem.GIFTEE_ADDRESS_MISSING, None)
    await basket.put_line(shop.context, key, first, for_two(sold))
    other = dataclasses.replace(GIFTEE, country="FR", city="Lyon", postal_code="69002")
    await basket.put_line(shop.context, key, uuid.uuid4(), for_two(sold, giftee=other))
    posted = await basket.put_line(shop.context, key, uuid.uuid4(), for_two(sold))
    assert posted.totals.delivery == Decimal("17.00")  # by post to Belgium, one to France
    buyer = Buyer(first_name="Ada", last_name="Martin", email="ada@example.com")
    assert (await steps.identify_buyer(shop.context, key, buyer)).furthest_step is CheckoutStep.PAYMENT
    far = dataclasses.replace(GIFTEE, country="JP", postal_code="100-0001")
    opened = await basket.put_line(shop.context, key, first, for_two(sold, giftee=far))
    assert (opened.reception, opened.furthest_step) == (None, CheckoutStep.CUSTOMIZATION)
    home = await basket.choose_reception(shop.context, key, ReceptionMode.EXPEDITION, country="FR")
    assert (home.totals.delivery, home.furthest_step) == (Decimal("5.00"), CheckoutStep.INFORMATION)
    with pytest.raises(InvalidInput):
        await basket.choose_reception(shop.context, key, ReceptionMode.EXPEDITION, country="JP")
    with pytest.raises(InvalidInput):
        await basket.choose_reception(shop.context, key, ReceptionMode.ON_SITE, delivery_id=987)
    assert (await basket.open_basket(shop.context, key)).reception == home.reception
    await untouched(shop)


@pytest.mark.parametrize(
    ("reception", "kind", "address", "sent_to", "expedition"),
    [
        (ReceptionMode.EXPEDITION, "home_delivery", "Ada Martin\n1 rue des Lilas\n75011 Paris\nFR", "", "to_send"),
        (ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY, "home_delivery", "Grace Hopper\n2 rue du Lac\n1000 Bruxelles\nBE", "", "to_send"),
        (ReceptionMode.GIFTEE_EMAIL, "digital", None, "grace@example.com", "none"),
        (ReceptionMode.ON_SITE, "click_and_collect", None, "", "none"),
    ],
)  # fmt: skip
async def test_an_order_says_how_it_is_received(
    shop: Shop,
    sold: Experiences,
    reception: ReceptionMode,
    kind: str,
    address: str | None,
    sent_to: str,
    expedition: str,
) -> None:
    outcome = await bought(shop, for_two(sold), reception=reception)
    (line,) = (await shop.order_page(outcome)).lines
    assert line.issued_item is not None
    assert line.issued_item.recipient_email == sent_to
    row = await columns(shop, "voucher", "reception_mode", "recipient_address", "expedition_status")
    assert row == [(reception.value, address, expedition)]
    to_buyer = reception is ReceptionMode.EXPEDITION
    assert await columns(shop, "shop_order", "kind", "delivery_kind", "city") == [
        ("vouchers", kind, "Paris" if to_buyer else None)
    ]
