"""Selling gift cards and boxes of a network: the order is the seller's, the money is the network's."""

import asyncio
from decimal import Decimal

import pytest

from resolvers.payment.checkout import payment, polling
from resolvers.payment.checkout.completion import sync_attempt
from schema.checkout.checkout import CheckoutNotice, PaymentAttemptStatus
from schema.core.errors import CheckoutChanged
from schema.coupon.coupon import ReceptionMode
from schema.payment.errors import PaymentsNotActive
from tests.fixtures.basket import GIFTEE, all_at_once, bought, columns, fill_basket, settled
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network_sale import NetworkGoods, network_coupon, network_goods, new_box
from tests.fixtures.payment.api_payment import fee_rule
from tests.fixtures.payment.dispute import balances
from tests.fixtures.payment.refill import opened_wallet
from tests.fixtures.shop import DECLINED_CARD, Shop


@pytest.fixture
async def goods(shop: Shop) -> NetworkGoods:
    """What the network's own shop sells."""
    return await network_goods(shop)


async def is_proved(shop: Shop) -> None:
    """All rules of the ledger hold."""
    assert await broken_rules(shop.services.db) == {}


async def nothing_sold(shop: Shop) -> None:
    """Nothing was issued, ordered or counted."""
    for table in ("shop_order", "gift_card", "network_voucher"):
        assert await shop.count(table) == 0, table
    assert await shop.one("SELECT orders_count FROM box ORDER BY id LIMIT 1") == 0


# ---- what is sold


async def test_an_order_of_cards_and_boxes_issues_each_and_pays_the_network(shop: Shop, goods: NetworkGoods) -> None:
    await fee_rule(shop)
    outcome = await bought(shop, goods.cards("50.00", 3, message="Enjoy"), goods.boxes(2))
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert (await shop.order_page(outcome)).totals.total == Decimal("390.00")
    assert (
        await columns(shop, "gift_card", "status", "value_amount", "network_id", "design_id", "message")
        == [("paid", Decimal("50.00"), shop.partner.marketplace_id, goods.design.id, "Enjoy")] * 3
    )
    vouchers = await columns(shop, "network_voucher", "status", "price_amount", "max_usages", "box_id", "is_test")
    assert vouchers == [("paid", Decimal("120.00"), 2, goods.box.id, False)] * 2
    order = await shop.one("SELECT id FROM shop_order")
    for table in ("gift_card", "network_voucher"):
        assert {row[0] for row in await columns(shop, table, "order_id")} == {order}
        assert len({row[0] for row in await columns(shop, table, "normal_code")}) == await shop.count(table)
    lines = await columns(shop, "order_product", "quantity", "total_amount", "network_id")
    at = shop.partner.marketplace_id
    assert lines == [(1, Decimal("50.00"), at)] * 3 + [(1, Decimal("120.00"), at)] * 2
    assert await shop.one("SELECT orders_count FROM box") == 1
    paid = await columns(shop, "payment", "wallet_id", "commission_amount", "is_for_marketplace", "partner_id")
    assert paid == [(goods.wallet.id, Decimal("0.00"), True, shop.partner.id)]
    assert await balances(shop) == {"wallet": 39000, "card": 15000, "network_voucher": 24000}
    assert await shop.one("SELECT kind FROM ledger_journal WHERE source_kind = 'payment'") == "payment"
    await is_proved(shop)


async def test_a_buyer_reads_what_was_issued(shop: Shop, goods: NetworkGoods) -> None:
    outcome = await bought(shop, goods.cards(), goods.boxes())
    card, box = (await shop.order_page(outcome)).lines
    assert (card.name.en, card.details[0].fr, box.name.fr) == ("Gift card", "Anniversaire", "Journée spa pour deux")
    assert card.issued_item is not None
    assert box.issued_item is not None
    assert (card.issued_item.value, box.issued_item.value) == (Decimal("50.00"), Decimal("120.00"))
    assert card.issued_item.code == (await columns(shop, "gift_card", "code"))[0][0]
    assert box.issued_item.code == (await columns(shop, "network_voucher", "code"))[0][0]
    assert card.issued_item.document_path.startswith("/documents/gift-cards/")
    assert box.issued_item.document_path.startswith("/documents/network-vouchers/")


async def test_a_partner_of_the_network_sells_for_it(shop: Shop) -> None:
    """It has no payments of its own, and takes no part in the money."""
    goods = await network_goods(shop, is_own=False)
    await shop.execute("UPDATE partner SET payments_active = false, provider_wallet_id = ''")
    await bought(shop, goods.cards("80.00"))
    assert await balances(shop) == {"wallet": 8000, "card": 8000}
    await is_proved(shop)


async def test_without_a_wallet_of_the_marketplace_nothing_is_sold(shop: Shop, goods: NetworkGoods) -> None:
    await shop.execute("UPDATE partner SET status = 't'")  # its money would be that of the test book
    key, seen = await fill_basket(shop, goods.cards())
    with pytest.raises(PaymentsNotActive):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
    await nothing_sold(shop)


async def test_a_test_partner_sells_what_moves_no_money(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET status = 't'")
    goods = await network_goods(shop, is_live=False)
    await bought(shop, goods.cards(), goods.boxes())
    assert await columns(shop, "network_gift_card", "status") == [("test",)]
    assert await columns(shop, "network_voucher", "status", "is_test") == [("test", True)]
    assert await columns(shop, "payment", "wallet_id") == [(goods.wallet.id,)]
    assert (
        await shop.one("SELECT bool_or(b.is_live) FROM ledger_journal j JOIN ledger_book b ON b.id = j.book_id")
        is False
    )
    await is_proved(shop)


async def test_validity_is_that_of_the_network_or_of_a_coupon(shop: Shop, goods: NetworkGoods) -> None:
    await shop.execute(
        "UPDATE marketplace SET network_gift_card_validity_months = 18, network_voucher_validity_months = 6"
    )
    assert await months_valid(shop) == []
    await bought(shop, goods.cards(), goods.boxes())
    assert await months_valid(shop) == [18, 6]
    coupon = await network_coupon(shop, new_validity_period="36")
    await bought(shop, goods.cards(), goods.boxes(), codes=(coupon.code,))
    assert await months_valid(shop) == [18, 36, 6, 36]


async def months_valid(shop: Shop) -> list[int]:
    """For how many months gift cards and vouchers are valid, in the order in which they were sold."""
    of = "age(expires_on + interval '1 day', created_on)"
    months = f"(extract(year FROM {of}) * 12 + extract(month FROM {of}))::int"
    return [row[0] for table in ("gift_card", "network_voucher") for row in await columns(shop, table, months)]


# ---- coupons


async def test_what_a_coupon_takes_off_the_network_owes(shop: Shop, goods: NetworkGoods) -> None:
    coupon = await network_coupon(shop, discount_percentage=None, discount_amount=Decimal("10.00"), max_usages=1)
    outcome = await bought(shop, goods.cards("50.00", 3), goods.boxes(), codes=(coupon.code,))
    totals = (await shop.order_page(outcome)).totals
    assert (totals.discount, totals.total) == (Decimal("10.00"), Decimal("260.00"))
    offs = [row[0] for row in await columns(shop, "order_product", "discount_amount")]
    assert sum(offs) == Decimal("10.00")
    assert {row[0] for row in await columns(shop, "gift_card", "value_amount")} == {Decimal("50.00")}
    assert await balances(shop) == {
        "wallet": 26000,
        "card": 15000,
        "network_voucher": 12000,
        "owed_by_marketplace": 1000,
    }
    await is_proved(shop)


async def test_a_coupon_adds_value_to_cards_to_the_cent(shop: Shop, goods: NetworkGoods) -> None:
    coupon = await network_coupon(
        shop, discount_percentage=None, discount_amount=Decimal("10.00"), increases_value=True
    )
    outcome = await bought(shop, goods.cards("50.00", 3), goods.boxes(), codes=(coupon.code,))
    assert (await shop.order_page(outcome)).totals.total == Decimal("270.00")
    values = [row[0] for row in await columns(shop, "gift_card", "value_amount")]
    assert sum(values) == Decimal("160.00")
    assert await columns(shop, "network_voucher", "price_amount") == [(Decimal("120.00"),)]
    assert (await balances(shop))["owed_by_marketplace"] == 1000
    await is_proved(shop)


async def test_a_free_order_is_owed_by_the_network(shop: Shop, goods: NetworkGoods) -> None:
    coupon = await network_coupon(shop, percentage="100.00")
    outcome = await bought(shop, goods.cards("50.00", 2), goods.boxes(), codes=(coupon.code,))
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert (await shop.count("payment"), await shop.count("gift_card"), await shop.count("network_voucher")) == (
        0,
        2,
        1,
    )
    assert await balances(shop) == {"card": 10000, "network_voucher": 12000, "owed_by_marketplace": 22000}
    await is_proved(shop)


# ---- races, and what goes wrong


async def test_any_number_of_completions_make_one_order_and_issue_once(shop: Shop, goods: NetworkGoods) -> None:
    coupon = await network_coupon(shop, max_usages=1)
    key, seen = await fill_basket(shop, goods.cards("50.00", 2), goods.boxes(2), codes=(coupon.code,))
    pressed = await asyncio.gather(*(shop.start(key, seen) for _ in range(5)))
    assert len({started.attempt_id for started in pressed}) == 1
    await shop.pay(pressed[0])
    calls = [*await all_at_once(shop, key, pressed[0]), *await all_at_once(shop, key, pressed[0])]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [r for r in results if isinstance(r, BaseException)] == []
    assert len(results) == 50
    counted = [await shop.count(table) for table in ("shop_order", "gift_card", "network_voucher", "order_product")]
    assert counted == [1, 2, 2, 4]
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'network_gift_card.issued'") == 2
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'network_voucher.issued'") == 2
    assert await shop.one("SELECT orders_count FROM box") == 1
    await is_proved(shop)


async def test_many_buyers_at_once_lose_and_double_nothing(shop: Shop, goods: NetworkGoods) -> None:
    other = await new_box(shop, price_amount=Decimal("80.00"))

    async def buy(position: int) -> None:
        chosen = [goods.boxes(), goods.cards("30.00", 2), type(goods.boxes())(other.id)]
        key, seen = await fill_basket(shop, *(chosen if position % 2 else reversed(chosen)))
        started = await shop.start(key, seen)
        await shop.pay(started)
        await asyncio.gather(
            payment.settle_payment(shop.context, key.session_id, started.attempt_id),
            polling.CHECKS.poll(shop.services, started.attempt_id),
        )

    await asyncio.gather(*(buy(position) for position in range(8)))
    assert await shop.one("SELECT array_agg(number ORDER BY number) FROM shop_order") == list(range(1, 9))
    assert [row[0] for row in await columns(shop, "box", "orders_count")] == [8, 8]
    assert await balances(shop) == {"wallet": 208000, "card": 48000, "network_voucher": 160000}
    await is_proved(shop)


async def test_a_declined_card_issues_nothing(shop: Shop, goods: NetworkGoods) -> None:
    key, seen = await fill_basket(shop, goods.cards(), goods.boxes())
    outcome = await settled(shop, key, await shop.start(key, seen), DECLINED_CARD)
    assert outcome.notice is CheckoutNotice.PAYMENT_DECLINED
    await nothing_sold(shop)
    assert await shop.count("payment") == 0
    await is_proved(shop)


GONE = {
    "box": "UPDATE box SET is_active = false",
    "offer": "UPDATE offer SET is_active = false",
    "design": "UPDATE gift_card_design SET is_active = false",
    "amount": "UPDATE partner SET gift_card_offer_suggested = '{100}', gift_card_offer_minimum = 60",
    "shop": "UPDATE partner SET is_network_shop = false, linked_to_ngc_settings = false",
}


@pytest.mark.parametrize("gone", GONE)
async def test_what_is_no_longer_sold_cannot_be_paid(shop: Shop, goods: NetworkGoods, gone: str) -> None:
    key, seen = await fill_basket(shop, goods.cards(), goods.boxes())
    await shop.execute(GONE[gone])
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
    await nothing_sold(shop)


@pytest.mark.parametrize("gone", GONE)
@pytest.mark.parametrize("owes", [False, True])
async def test_what_is_gone_when_a_given_up_payment_is_paid_after_all_goes_back(
    shop: Shop, goods: NetworkGoods, gone: str, owes: bool
) -> None:
    """Also if the network owes for other cards: this money was never for them."""
    coupon = await network_coupon(shop, percentage="100.00")
    if owes:
        await bought(shop, goods.cards("500.00"), codes=(coupon.code,))
    before = [await shop.count(table) for table in ("shop_order", "gift_card", "network_voucher")]
    key, seen = await fill_basket(shop, goods.cards(), goods.boxes())
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.execute(GONE[gone])
    await shop.pay(started)
    for _ in range(2):
        await sync_attempt(shop.services, started.attempt_id)
    outcome = await payment.payment_outcome(shop.context, key)
    assert (outcome.status, outcome.notice) == (PaymentAttemptStatus.REFUNDED, CheckoutNotice.PAYMENT_REFUNDED)
    assert [await shop.count(table) for table in ("shop_order", "gift_card", "network_voucher")] == before
    assert (await balances(shop))["refund_due"] == 17000
    await is_proved(shop)


async def test_a_box_that_is_taken_off_sale_while_it_is_paid_is_still_sold(shop: Shop, goods: NetworkGoods) -> None:
    """As it was when the payment started: its price and its limits too."""
    key, seen = await fill_basket(shop, goods.boxes())
    started = await shop.start(key, seen)
    await shop.execute("UPDATE box SET is_active = false, price_amount = 200, max_usages = 9")
    outcome = await settled(shop, key, started)
    assert outcome.status is PaymentAttemptStatus.COMPLETED
    assert await columns(shop, "network_voucher", "price_amount", "max_usages") == [(Decimal("120.00"), 2)]
    await is_proved(shop)


async def test_a_given_up_payment_that_is_paid_after_all_still_issues(shop: Shop, goods: NetworkGoods) -> None:
    key, seen = await fill_basket(shop, goods.cards(), goods.boxes())
    started = await shop.start(key, seen)
    await payment.cancel_payment(shop.context, key)
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert (await shop.count("shop_order"), await shop.count("gift_card"), await shop.count("network_voucher")) == (
        1,
        1,
        1,
    )
    await is_proved(shop)


async def test_a_seller_that_becomes_a_test_partner_while_it_is_paid_has_sold_for_live_money(
    shop: Shop, goods: NetworkGoods
) -> None:
    key, seen = await fill_basket(shop, goods.cards(), goods.boxes())
    started = await shop.start(key, seen)
    await opened_wallet(shop, is_live=False)
    await shop.execute("UPDATE partner SET status = 't'")
    await settled(shop, key, started)
    assert await columns(shop, "network_gift_card", "status") == [("paid",)]
    assert await columns(shop, "network_voucher", "status", "is_test") == [("paid", False)]
    assert await columns(shop, "payment", "wallet_id") == [(goods.wallet.id,)]
    await is_proved(shop)


FORGERIES = {
    "journals_are_of_their_owner": "UPDATE payment SET attempt_id = NULL",  # then it would be a refill
    "payments_stay_in_their_book": "UPDATE payment SET is_for_marketplace = false",
}


@pytest.mark.parametrize("rule", FORGERIES)
async def test_a_sale_that_is_forged_is_noticed(shop: Shop, goods: NetworkGoods, rule: str) -> None:
    await bought(shop, goods.cards())
    await is_proved(shop)
    await shop.execute(FORGERIES[rule])
    assert rule in await broken_rules(shop.services.db)


# ---- mail


async def mails(shop: Shop) -> list[tuple[str, str]]:
    """The gift messages: kind and recipient."""
    found = await columns(shop, "mail", "kind", "recipient")
    return sorted((kind, to) for kind, to in found if kind in ("network_gift_card", "network_voucher"))


async def test_what_is_printed_at_home_goes_to_the_buyer(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(quantity=2, giftee=GIFTEE), goods.boxes(giftee=GIFTEE))
    assert await mails(shop) == [("network_gift_card", "ada@example.com"), ("network_voucher", "ada@example.com")]


async def test_an_order_is_told_of_in_few_lines(shop: Shop, goods: NetworkGoods) -> None:
    """Cards alike are one line; the network is told only if it has to print and post."""
    await shop.execute("UPDATE marketplace SET email = 'network@example.com'")
    await bought(shop, goods.cards("50.00", 3), goods.cards("60.00"), goods.boxes(2))
    queued = await columns(shop, "mail", "kind", "recipient", "content")
    orders = [(kind, to) for kind, to, _ in queued if kind in ("order_confirmation", "new_order")]
    assert orders == [("order_confirmation", "ada@example.com"), ("new_order", "hello@shop.example")]
    confirmation = next(content for kind, _, content in queued if kind == "order_confirmation")
    lines = [(line["name"]["en"], line["quantity"], line["total"]) for line in confirmation["lines"]]
    assert sorted(lines) == [("Gift card", 1, "60.00"), ("Gift card", 3, "150.00"), ("Spa day for two", 2, "240.00")]
    await bought(shop, goods.boxes(), reception=ReceptionMode.EXPEDITION)
    newest = await columns(shop, "mail", "kind", "recipient")
    assert newest[-3:] == [
        ("order_confirmation", "ada@example.com"),
        ("new_order", "hello@shop.example"),
        ("new_order", "network@example.com"),
    ]


@pytest.mark.parametrize("reception", [ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY])
async def test_what_is_posted_is_not_mailed(shop: Shop, goods: NetworkGoods, reception: ReceptionMode) -> None:
    await bought(shop, goods.cards(giftee=GIFTEE), goods.boxes(giftee=GIFTEE), reception=reception)
    assert await mails(shop) == []
    addresses = {row[0] for row in await columns(shop, "network_voucher", "recipient_address")}
    addresses |= {row[0] for row in await columns(shop, "gift_card", "recipient_address")}
    assert len(addresses) == 1
    is_buyer = reception is ReceptionMode.EXPEDITION
    assert ("1 rue des Lilas" if is_buyer else "2 rue du Lac") in addresses.pop()
    await is_proved(shop)
