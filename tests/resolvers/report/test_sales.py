"""Sales reports: the figures of days and products against those worked out by hand, and who sees which."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.payment.refunds.refunds import refund_payment
from resolvers.report.sales import MOST_DAYS, sales_report
from schema.checkout.checkout import ProductChoice
from schema.core.errors import Forbidden, InvalidInput, NotFound
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.payment.input import RefundPayment
from schema.payment.payment import RefundState
from schema.report.sales import CurrencySales, SalesFigures, SalesReport, SoldKind
from store.core.clock import clock
from tests.fixtures.network import network_card
from tests.fixtures.payment.api_payment import paid
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.sales import SoldLine, at, paid_directly, payment_of, refund, sold_order
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants

DAY = dt.date(2020, 11, 10)
BEFORE, AFTER = dt.date(2020, 11, 9), dt.date(2020, 11, 11)
NOON = at("2020-11-10T12:00:00")
OVER_GRAPHQL = """
query ($from: Date!, $to: Date!, $partnerId: Int, $marketplaceId: Int) {
  salesReport(from: $from, to: $to, partnerId: $partnerId, marketplaceId: $marketplaceId, productCount: 1) {
    from to timeZone
    currencies {
      currency total { count gross { amount currency } byGiftCard { amount } refunds { amount } net { amount } }
      days { day figures { count gross { amount } } }
      products { kind id name { en } quantity gross { amount } }
    }
  }
}
"""


async def report(tenants: Tenants, who: str, first: dt.date = DAY, last: dt.date = DAY, **more: Any) -> SalesReport:
    """The report as the operation answers it."""
    return await sales_report(await tenants.context(who), first, last, **more)


def numbers(figures: SalesFigures) -> tuple[int, str, str, str, str]:
    """Count, gross, the part by gift card, refunds and net; all of one currency."""
    money = (figures.gross, figures.by_gift_card, figures.refunds, figures.net)
    assert len({each.currency for each in money}) == 1
    return (figures.count, *(str(each.amount) for each in money))  # type: ignore[return-value]


def the_one(sales: SalesReport) -> CurrencySales:
    """The only currency of a report."""
    (currency,) = sales.currencies
    return currency


def products(sales: CurrencySales) -> list[tuple[SoldKind, int | None, int, str]]:
    """Kind, id, quantity and amount of what was sold."""
    return [(each.kind, each.id, each.quantity, str(each.gross.amount)) for each in sales.products]


# ---- the figures


async def test_the_figures_of_a_day_are_those_worked_out_by_hand(tenants: Tenants) -> None:
    candles, card = SoldLine("20.00", 2, "4.00"), tenants.owned["a1"].gift_card
    first = await sold_order(tenants, "a1", NOON, candles, SoldLine("8.50", name="Lamp"), delivery="5.00")
    await sold_order(tenants, "a1", NOON, SoldLine("50.00", of={"gift_card_id": card}), by_gift_card="20.00")
    direct = await paid_directly(tenants, "a1", NOON, "100.00")
    await refund(tenants, await payment_of(tenants, first), NOON, "18.00")
    await refund(tenants, direct, at("2020-11-11T09:00:00"), "30.00", RefundState.DONE)
    found = the_one(await report(tenants, "a1", BEFORE, AFTER))
    # 40.00 less 4.00, 8.50 and 5.00 of delivery; 50.00; 100.00: 199.50, of which 18.00 and 30.00 went back
    assert numbers(found.total) == (3, "199.50", "20.00", "48.00", "151.50")
    assert [(each.day, numbers(each.figures)) for each in found.days] == [
        (BEFORE, (0, "0.00", "0.00", "0.00", "0.00")),
        (DAY, (3, "199.50", "20.00", "18.00", "181.50")),
        (AFTER, (0, "0.00", "0.00", "30.00", "-30.00")),
    ]
    assert products(found) == [
        (SoldKind.PAYMENT, None, 1, "100.00"),
        (SoldKind.GIFT_CARD, None, 1, "50.00"),
        (SoldKind.PRODUCT, tenants.owned["a1"].product, 3, "44.50"),
        (SoldKind.DELIVERY, None, 1, "5.00"),
    ]
    assert sum(each.gross.amount for each in found.products) == found.total.gross.amount
    names = {each.kind: each.name and each.name.en for each in found.products}
    assert (names[SoldKind.PRODUCT], names[SoldKind.GIFT_CARD]) == ("Lamp", None)


async def test_all_that_a_shop_sells_is_counted_once(shop: Shop) -> None:
    candle = await shop.product("20.00")
    card = await shop.gift_card("15.00")
    await ordered(shop, ProductChoice(candle.id, 3), codes=(card.code,))
    await refunded(shop, (0, 1))
    direct = await paid(shop, "100.00")
    await refund_payment(shop.manager, RefundPayment(id=direct.id, amount=Decimal("30.00")))
    today = clock.now().date()
    found = the_one(await sales_report(shop.manager, today - dt.timedelta(days=1), today + dt.timedelta(days=1)))
    order = await shop.one("SELECT total_amount FROM shop_order")
    back = await shop.one("SELECT sum(refunded_amount) FROM payment")
    assert order == Decimal("60.00")
    assert numbers(found.total) == (2, "160.00", "15.00", str(back), str(160 - back))
    assert back == await shop.one(
        "SELECT sum(transaction_amount) FROM payment_transaction WHERE type = 'refund' AND status <> 'err'"
    )
    assert products(found) == [(SoldKind.PAYMENT, None, 1, "100.00"), (SoldKind.PRODUCT, candle.id, 3, "60.00")]


async def test_a_failed_refund_counts_as_far_as_it_went_back(tenants: Tenants) -> None:
    order = await sold_order(tenants, "a1", NOON, SoldLine("90.00"))
    payment = await payment_of(tenants, order)
    failed = await refund(tenants, payment, NOON, "40.00", RefundState.FAILED)
    part = (
        "INSERT INTO payment_transaction (partner_id, payment_id, refund_id, currency, source_id, type, status, "
        "payment_method, transaction_amount, commission_amount, net_amount, commission_vat_amount, partner_share_amount, "
        "key, sent_at, tries, created_on, result_code, result_message, payer_id, redirect_url, failure_reason, provider_id) "
        "SELECT partner_id, payment_id, :refund, currency, source_id, 'refund', :status, payment_method, "
        "CAST(:amount AS numeric), 0, CAST(:amount AS numeric), 0, 0, gen_random_uuid(), now(), 0, created_on, '', '', '', '', '', '' "
        "FROM payment_transaction WHERE payment_id = :id AND type = 'payin'"
    )
    for status, amount in (("ok", Decimal("15.00")), ("err", Decimal("25.00"))):
        await tenants.execute(part, refund=failed.id, id=payment.id, status=status, amount=amount)
    assert numbers(the_one(await report(tenants, "a1")).total) == (1, "90.00", "0.00", "15.00", "75.00")


async def test_a_payment_counts_when_its_money_comes_in(tenants: Tenants) -> None:
    await paid_directly(tenants, "a1", NOON, "70.00", created_on=at("2020-09-01T12:00:00"))
    assert the_one(await report(tenants, "a1")).total.count == 1
    september = dt.date(2020, 9, 1)
    assert the_one(await report(tenants, "a1", september, september)).total.count == 0


async def test_what_is_no_sale_is_not_counted(tenants: Tenants) -> None:
    refill = await paid_directly(tenants, "a1", NOON, "500.00", is_for_marketplace=True)
    attempt = await tenants.one("SELECT attempt_id FROM shop_order WHERE id = :id", id=tenants.owned["a1"].order)
    without_order = await paid_directly(tenants, "a1", NOON, "60.00", attempt_id=attempt)
    for payment in (refill, without_order):
        await refund(tenants, payment, NOON, "10.00")
    assert numbers(the_one(await report(tenants, "a1")).total) == (0, "0.00", "0.00", "0.00", "0.00")


async def test_a_day_has_the_hours_of_its_time_zone(tenants: Tenants) -> None:
    longest, shortest = dt.date(2020, 10, 25), dt.date(2020, 3, 29)
    for moment in ("2020-10-24T21:59:59", "2020-10-24T22:00:00", "2020-10-25T22:59:59", "2020-10-25T23:00:00"):
        await sold_order(tenants, "a1", at(moment), SoldLine("1.00"))
    for moment in ("2020-03-28T22:59:59", "2020-03-28T23:00:00", "2020-03-29T21:59:59", "2020-03-29T22:00:00"):
        await sold_order(tenants, "a1", at(moment), SoldLine("1.00"))
    for day in (longest, shortest):
        one = dt.timedelta(days=1)
        around = the_one(await report(tenants, "a1", day - one, day + one))
        assert [each.figures.count for each in around.days] == [1, 2, 1]
        assert the_one(await report(tenants, "a1", day, day)).total.count == 2


async def test_currencies_are_never_added_up(tenants: Tenants) -> None:
    await sold_order(tenants, "a1", NOON, SoldLine("10.00"))
    await sold_order(tenants, "b1", NOON, SoldLine("7.00"), currency="CHF")
    found = await report(tenants, "master")
    assert found.time_zone == "UTC"
    assert [(each.currency, numbers(each.total)[:2]) for each in found.currencies] == [
        ("CHF", (1, "7.00")),
        ("EUR", (1, "10.00")),
    ]
    assert [products(each) for each in found.currencies] == [
        [(SoldKind.PRODUCT, tenants.owned["b1"].product, 1, "7.00")],
        [(SoldKind.PRODUCT, tenants.owned["a1"].product, 1, "10.00")],
    ]


async def test_a_shop_without_sales_has_zeros_in_its_currency(tenants: Tenants) -> None:
    found = await report(tenants, "b1", BEFORE, AFTER)
    assert (found.time_zone, the_one(found).currency) == ("Europe/Zurich", "CHF")
    assert [each.day for each in the_one(found).days] == [BEFORE, DAY, AFTER]
    assert numbers(the_one(found).total) == (0, "0.00", "0.00", "0.00", "0.00")
    assert the_one(found).products == []
    assert (await report(tenants, "master")).currencies == []


async def test_the_most_sold_products_come_first(tenants: Tenants) -> None:
    cards = [(await network_card(tenants)).id, (await network_card(tenants)).id]
    of_network = [{"network_gift_card_id": id, "network_id": tenants.marketplaces["a"].id} for id in cards]
    await sold_order(tenants, "a1", NOON, *(SoldLine("30.00", of=of) for of in of_network), SoldLine("45.00"))
    found = the_one(await report(tenants, "a1"))
    assert [each[0] for each in products(found)] == [SoldKind.NETWORK_GIFT_CARD, SoldKind.PRODUCT]
    assert products(the_one(await report(tenants, "a1", product_count=1))) == products(found)[:1]
    assert products(the_one(await report(tenants, "a1", product_count=0))) == []


# ---- whose they are


async def test_everybody_sees_their_own_sales(tenants: Tenants) -> None:
    for partner, price in (("a1", "1.00"), ("a2", "20.00"), ("b1", "300.00")):
        await sold_order(tenants, partner, NOON, SoldLine(price))
    seen = {who: [each.total.gross.amount for each in (await report(tenants, who)).currencies] for who in ("a1", "b1")}
    assert seen == {"a1": [Decimal("1.00")], "b1": [Decimal("0.00"), Decimal("300.00")]}
    assert the_one(await report(tenants, "market a")).total.gross.amount == Decimal("21.00")
    a2, a = tenants.partners["a2"].id, tenants.marketplaces["a"].id
    assert the_one(await report(tenants, "market a", partner_id=a2)).total.gross.amount == Decimal("20.00")
    assert the_one(await report(tenants, "master", partner_id=a2)).total.gross.amount == Decimal("20.00")
    assert the_one(await report(tenants, "master", marketplace_id=a)).total.gross.amount == Decimal("21.00")


@pytest.mark.parametrize("who", ["a1", "market b"])
async def test_the_sales_of_others_are_not_found(tenants: Tenants, who: str) -> None:
    a2, a, b = tenants.partners["a2"].id, tenants.marketplaces["a"].id, tenants.marketplaces["b"].id
    elsewhere = b if who == "a1" else a
    wanted: tuple[dict[str, Any], ...] = (
        {"partner_id": a2},
        {"marketplace_id": elsewhere},
        {"partner_id": a2, "marketplace_id": b},
    )
    for of in wanted:
        with pytest.raises(NotFound):
            await report(tenants, who, **of)


async def test_test_sales_are_not_added_to_real_ones(tenants: Tenants) -> None:
    await sold_order(tenants, "a1", NOON, SoldLine("1.00"))
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", id=tenants.partners["a2"].id)
    await sold_order(tenants, "a2", NOON, SoldLine("20.00"))
    direct = await paid_directly(tenants, "a2", NOON, "5.00")
    await refund(tenants, direct, NOON, "2.00")
    assert the_one(await report(tenants, "market a")).total.gross.amount == Decimal("1.00")
    assert numbers(the_one(await report(tenants, "a2")).total) == (2, "25.00", "0.00", "2.00", "23.00")
    await tenants.execute("UPDATE partner SET status = 'a' WHERE id = :id", id=tenants.partners["a2"].id)
    assert numbers(the_one(await report(tenants, "market a")).total) == (1, "1.00", "0.00", "0.00", "1.00")
    assert numbers(the_one(await report(tenants, "a2")).total) == (0, "0.00", "0.00", "0.00", "0.00")


async def test_it_requires_the_permission_to_see_payments(tenants: Tenants) -> None:
    others = sorted(GRANTABLE_PERMISSIONS - {Permission.VIEW_PAYMENT, Permission.MANAGE_MASTERADMIN})
    await tenants.user("clerk", "partner", others, partner_id=tenants.partners["a1"].id)
    with pytest.raises(Forbidden):
        await report(tenants, "clerk")


@pytest.mark.parametrize(
    ("first", "last", "more"),
    [
        (DAY, BEFORE, {}),
        (DAY, DAY + dt.timedelta(days=MOST_DAYS), {}),
        (dt.date.max, dt.date.max, {}),
        (DAY, DAY, {"product_count": -1}),
        (DAY, DAY, {"product_count": 101}),
    ],
)
async def test_a_wrong_period_is_refused(tenants: Tenants, first: dt.date, last: dt.date, more: Any) -> None:
    with pytest.raises(InvalidInput):
        await report(tenants, "a1", first, last, **more)


async def test_a_year_is_told(tenants: Tenants) -> None:
    await sold_order(tenants, "a1", NOON, SoldLine("1.00"))
    found = the_one(await report(tenants, "a1", dt.date(2020, 1, 1), dt.date(2020, 12, 31)))
    assert (len(found.days), found.total.count) == (MOST_DAYS, 1)


async def test_it_is_told_over_graphql(tenants: Tenants) -> None:
    await sold_order(tenants, "a1", NOON, SoldLine("12.50", 2))
    asked = {"from": str(DAY), "to": str(DAY)}
    body = await tenants.graphql("a1", OVER_GRAPHQL, **asked)
    product = tenants.owned["a1"].product
    assert body["data"]["salesReport"] == {
        "from": "2020-11-10",
        "to": "2020-11-10",
        "timeZone": "Europe/Paris",
        "currencies": [
            {
                "currency": "EUR",
                "total": {
                    "count": 1,
                    "gross": {"amount": "25.00", "currency": "EUR"},
                    "byGiftCard": {"amount": "0.00"},
                    "refunds": {"amount": "0.00"},
                    "net": {"amount": "25.00"},
                },
                "days": [{"day": "2020-11-10", "figures": {"count": 1, "gross": {"amount": "25.00"}}}],
                "products": [
                    {
                        "kind": "PRODUCT",
                        "id": product,
                        "name": {"en": "Candle"},
                        "quantity": 2,
                        "gross": {"amount": "25.00"},
                    }
                ],
            }
        ],
    }
    elsewhere = await tenants.graphql("a1", OVER_GRAPHQL, **asked, partnerId=tenants.partners["a2"].id)
    assert elsewhere["data"] == {"salesReport": None}
