"""Refunds and disputes of what was sold of a network: the goods are cancelled, the money is the network's."""

import asyncio
from decimal import Decimal
from typing import Any

import orjson
import pytest

from resolvers.core.context import Context
from resolvers.job import expiry
from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.network.voucher_usages import use_network_voucher
from resolvers.payment.refunds.order_refunds import preview_order_refund, refund_order
from resolvers.payment.refunds.refunds import preview_refund, refund_payment
from schema.core.errors import AppError, InsufficientBalance, MarketplaceOnly
from schema.coupon.coupon import ReceptionMode
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.network.gift_card_input import UseNetworkGiftCard
from schema.network.voucher_input import UseNetworkVoucher
from schema.payment.errors import GoodsUsed
from schema.payment.input import PreviewOrderRefund, PreviewRefund, RefundPayment
from schema.root import schema
from store.core.clock import clock
from store.payment.payments import RefundRow
from tests.fixtures.basket import GIFTEE, bought, columns
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network_sale import NetworkGoods, network_coupon, network_goods
from tests.fixtures.payment.dispute import OpenedDispute, balances, bought_disputably, open_dispute
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop
from tests.resolvers.payment.refunds.test_order_failures import TOO_LATE, refunded_at_provider
from tests.resolvers.payment.refunds.test_refunds import fail_refunds

GRAPH = GraphQLServer(schema)


@pytest.fixture
async def goods(shop: Shop) -> NetworkGoods:
    """What the network's own shop sells."""
    return await network_goods(shop)


async def is_proved(shop: Shop) -> None:
    """All rules of the ledger hold."""
    assert await broken_rules(shop.services.db) == {}


async def state(shop: Shop) -> list[Any]:
    """All that a refund changes."""
    statuses = [await columns(shop, table, "status") for table in ("gift_card", "network_voucher", "shop_order")]
    counts = [await shop.count(table) for table in ("refund", "ledger_journal", "event", "mail")]
    return [*statuses, *counts, await columns(shop, "order_product", "refunded_quantity", "refunded_amount")]


async def refunded(shop: Shop, *lines: int, **more: Any) -> RefundRow:
    """A refund of lines by the marketplace."""
    refund = await refund_order(market(shop), await refund_wish(shop, *lines, **more))
    assert isinstance(refund, RefundRow)
    return refund


async def refused(shop: Shop, context: Context, error: type[AppError], *lines: int, **more: Any) -> None:
    """The refund and its preview are refused, and change nothing."""
    before, wish = await state(shop), await refund_wish(shop, *lines, **more)
    with pytest.raises(error):
        await refund_order(context, wish)
    with pytest.raises(error):
        await preview_order_refund(context, PreviewOrderRefund.model_validate(wish.model_dump()))
    assert await state(shop) == before


async def use_card(shop: Shop, value: str) -> None:
    """Use an amount of the newest card at the partner."""
    code = await shop.one("SELECT code FROM gift_card ORDER BY id DESC LIMIT 1")
    wish = UseNetworkGiftCard(code=code, value=Decimal(value), partner_id=shop.partner.id)
    await use_network_gift_card(market(shop), wish)


async def use_voucher(shop: Shop) -> None:
    """Use the newest voucher at the partner."""
    code = await shop.one("SELECT code FROM network_voucher ORDER BY id DESC LIMIT 1")
    await use_network_voucher(market(shop), UseNetworkVoucher(code=code, partner_id=shop.partner.id))


# ---- refunds of lines


async def test_a_line_is_refunded_out_of_what_is_no_longer_owed(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards("50.00", 3), goods.boxes(2))
    refund = await refunded(shop, 1, 3)
    assert refund.refund_amount == Decimal("170.00")
    assert [row[0] for row in await columns(shop, "gift_card", "status")] == ["paid", "cncld", "paid"]
    assert [row[0] for row in await columns(shop, "network_voucher", "status")] == ["cncld", "paid"]
    assert await balances(shop) == {"wallet": 39000, "card": 10000, "network_voucher": 12000, "refund_due": 17000}
    await is_proved(shop)
    await send_refunds(shop.services)
    assert await balances(shop) == {"wallet": 22000, "card": 10000, "network_voucher": 12000}
    await refunded(shop, 0, 2, 4)
    await send_refunds(shop.services)
    assert await balances(shop) == {}
    assert await shop.one("SELECT status FROM shop_order") == "refunded"
    await is_proved(shop)


async def test_a_line_is_refunded_while_the_network_owes_for_other_cards(shop: Shop, goods: NetworkGoods) -> None:
    """What its buyer has paid goes back, and the network owes as much as before."""
    coupon = await network_coupon(shop, percentage="100.00")
    await bought(shop, goods.cards("500.00"), codes=(coupon.code,))
    before = await balances(shop)
    await bought(shop, goods.cards(), goods.boxes())
    await refunded(shop, 0, 1)
    await send_refunds(shop.services)
    assert await balances(shop) == before == {"card": 50000, "owed_by_marketplace": 50000}
    await is_proved(shop)


async def test_what_a_coupon_took_off_does_not_go_back(shop: Shop, goods: NetworkGoods) -> None:
    coupon = await network_coupon(shop)
    await bought(shop, goods.cards("50.00", 3), goods.boxes(), codes=(coupon.code,))
    refund = await refunded(shop, 0, 3)
    assert refund.refund_amount == Decimal("153.00")
    assert (await balances(shop))["owed_by_marketplace"] == 1000
    await is_proved(shop)


async def test_delivery_goes_back_too(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.boxes(giftee=GIFTEE), reception=ReceptionMode.EXPEDITION)
    refund = await refunded(shop, 0, include_delivery=True)
    assert refund.delivery_amount == Decimal("5.00")
    assert await balances(shop) == {"wallet": 12500, "refund_due": 12500}
    await is_proved(shop)


@pytest.mark.parametrize("used", ["card", "voucher"])
async def test_what_was_used_is_refused(shop: Shop, goods: NetworkGoods, used: str) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    await (use_card(shop, "20.00") if used == "card" else use_voucher(shop))
    line = 0 if used == "card" else 1
    await refused(shop, market(shop), GoodsUsed, line)
    await is_proved(shop)


@pytest.mark.parametrize("used", ["card", "voucher"])
async def test_what_was_used_is_refunded_only_out_of_other_funds(shop: Shop, goods: NetworkGoods, used: str) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    await (use_card(shop, "20.00") if used == "card" else use_voucher(shop))
    line = 0 if used == "card" else 1
    await refused(shop, market(shop), InsufficientBalance, line, include_used=True)
    await is_proved(shop)


async def test_many_refunds_at_once_make_one(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    wish = await refund_wish(shop, 0, 1)
    answers = await asyncio.gather(*(refund_order(market(shop), wish) for _ in range(8)), return_exceptions=True)
    assert sum(not isinstance(answer, BaseException) for answer in answers) == 1
    assert all(isinstance(answer, AppError | RefundRow) for answer in answers)
    assert await shop.count("refund") == 1
    await send_refunds(shop.services)
    assert await balances(shop) == {}
    await is_proved(shop)


# ---- who may


async def test_a_seller_does_not_refund_the_money_of_its_network(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    await refused(shop, shop.manager, MarketplaceOnly, 0, 1)
    before, payment = await state(shop), await shop.one("SELECT id FROM payment")
    with pytest.raises(MarketplaceOnly):
        await refund_payment(shop.manager, RefundPayment(id=payment, amount=Decimal("50.00")))
    with pytest.raises(MarketplaceOnly):
        await preview_refund(shop.manager, PreviewRefund(id=payment, amount=Decimal("50.00")))
    assert await state(shop) == before


async def test_an_amount_without_goods_needs_funds(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    before, payment = await state(shop), await shop.one("SELECT id FROM payment")
    with pytest.raises(InsufficientBalance):
        await refund_payment(market(shop), RefundPayment(id=payment, amount=Decimal("50.00")))
    assert await state(shop) == before
    await is_proved(shop)


ORDER = """query($id: Int!) { order(id: $id) { kind products {
    name { en } total { amount } giftCard { code } networkGiftCard { code order { number } }
    networkVoucher { code box { name { en } } order { number } } variant { choices { en } } }
    payments { amount { amount } isForMarketplace } } }"""


async def read_order(shop: Shop, context: Context) -> Any:
    """The newest order over GraphQL."""
    request = GraphQLRequest(ORDER, variables={"id": await shop.one("SELECT max(id) FROM shop_order")})
    body = orjson.loads(orjson.dumps((await GRAPH.execute(request, context)).body))
    assert "errors" not in body, body
    return body["data"]["order"]


async def test_the_seller_reads_its_order_without_codes(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    order = await read_order(shop, shop.manager)
    none = dict.fromkeys(("giftCard", "networkGiftCard", "networkVoucher"))
    assert order["products"] == [
        {"name": {"en": "Gift card"}, "total": {"amount": "50.00"}, **none, "variant": {"choices": {"en": "Birthday"}}},
        {"name": {"en": "Spa day for two"}, "total": {"amount": "120.00"}, **none, "variant": None},
    ]
    assert order["payments"] == [{"amount": {"amount": "170.00"}, "isForMarketplace": True}]


async def test_the_marketplace_reads_what_was_issued(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    card, box = (await read_order(shop, market(shop)))["products"]
    (code,), (voucher,) = await columns(shop, "gift_card", "code"), await columns(shop, "network_voucher", "code")
    assert (card["giftCard"], card["networkVoucher"], box["networkGiftCard"]) == (None, None, None)
    assert card["networkGiftCard"] == {"code": code[0], "order": {"number": 1}}
    assert box["networkVoucher"] == {
        "code": voucher[0],
        "box": {"name": {"en": "Spa day for two"}},
        "order": {"number": 1},
    }


BY_CODE = """query($card: String!, $voucher: String!) {
    networkGiftCard(code: $card) { value { amount } order { number } }
    networkVoucher(code: $voucher) { price { amount } order { number } } }"""


async def test_a_partner_that_knows_a_code_does_not_read_the_order_of_another(shop: Shop, goods: NetworkGoods) -> None:
    await bought(shop, goods.cards(), goods.boxes())
    (card,), (voucher,) = await columns(shop, "gift_card", "code"), await columns(shop, "network_voucher", "code")
    request = GraphQLRequest(BY_CODE, variables={"card": card[0], "voucher": voucher[0]})

    async def ask(context: Context) -> Any:
        return orjson.loads(orjson.dumps((await GRAPH.execute(request, context)).body))["data"]

    assert await ask(shop.manager) == {
        "networkGiftCard": {"value": {"amount": "50.00"}, "order": None},
        "networkVoucher": {"price": {"amount": "120.00"}, "order": None},
    }
    assert await ask(market(shop)) == {
        "networkGiftCard": {"value": {"amount": "50.00"}, "order": {"number": 1}},
        "networkVoucher": {"price": {"amount": "120.00"}, "order": {"number": 1}},
    }


# ---- disputes


async def disputed(shop: Shop, goods: NetworkGoods) -> OpenedDispute:
    """A card and a box that were bought, whose payment is disputed."""
    await bought_disputably(shop, goods.cards(), goods.boxes())
    return await open_dispute(shop)


async def test_while_it_is_disputed_nothing_can_be_used(shop: Shop, goods: NetworkGoods) -> None:
    dispute = await disputed(shop, goods)
    await dispute.follow()
    for table in ("gift_card", "network_voucher"):
        assert await shop.one(f"SELECT frozen_on IS NOT NULL FROM {table}")  # noqa: S608 - a name of this test
    assert await shop.one("SELECT count(*) FROM mail WHERE kind = 'dispute_opened' AND partner_id IS NOT NULL") == 0
    await is_proved(shop)
    await dispute.contest("170.00")
    await dispute.decide("win")
    await dispute.follow()
    await dispute.check()
    for table in ("gift_card", "network_voucher"):
        assert await shop.one(f"SELECT frozen_on IS NULL AND status = 'paid' FROM {table}")  # noqa: S608
    assert await balances(shop) == {"wallet": 17000, "card": 5000, "network_voucher": 12000}
    await is_proved(shop)


async def test_what_is_lost_is_cancelled(shop: Shop, goods: NetworkGoods) -> None:
    dispute = await disputed(shop, goods)
    await use_card(shop, "20.00")
    await use_voucher(shop)
    await dispute.follow()
    await dispute.contest("170.00")
    await dispute.decide("lose")
    await dispute.follow()
    await dispute.check()
    assert await columns(shop, "gift_card", "status", "frozen_on") == [("cncld", None)]
    assert await columns(shop, "network_voucher", "status", "frozen_on") == [("cncld", None)]
    left = await balances(shop)
    assert (left["partner_network"], left["marketplace_funds"], left["dispute_debt"]) == (8000, 9000, 17000)
    assert "card" not in left
    assert "network_voucher" not in left
    await is_proved(shop)


# ---- what happens at the provider


async def test_a_refund_at_the_provider_comes_out_of_the_wallet_of_the_network(shop: Shop, goods: NetworkGoods) -> None:
    """The goods stay as they are, as those of partners do. What no funds cover is missing in the wallet."""
    await bought(shop, goods.cards(), goods.boxes())
    await refunded_at_provider(shop, 5000)
    assert await balances(shop) == {"wallet": 12000, "card": 5000, "network_voucher": 12000, "funds_shortfall": 5000}
    assert await columns(shop, "refund", "origin", "state") == [("provider", "done")]
    await is_proved(shop)


async def test_the_lines_of_a_refund_that_failed_are_refunded_again(shop: Shop, goods: NetworkGoods) -> None:
    """Its goods stay cancelled, and its money is the network's until then."""
    await bought(shop, goods.cards(), goods.boxes())
    refund = await refunded(shop, 0)
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    assert await columns(shop, "refund", "state") == [("failed",)]
    assert await columns(shop, "gift_card", "status") == [("cncld",)]
    assert await balances(shop) == {"wallet": 17000, "network_voucher": 12000, "marketplace_funds": 5000}
    again = await refunded(shop, 0)
    assert (again.refund_amount, again.id) != (refund.refund_amount, refund.id)
    await send_refunds(shop.services)
    assert await balances(shop) == {"wallet": 12000, "network_voucher": 12000}
    await is_proved(shop)


async def test_a_refund_of_what_was_booked_as_breakage_takes_it_back(shop: Shop, goods: NetworkGoods) -> None:
    books = "UPDATE marketplace SET network_gift_card_books_breakage = true, network_voucher_books_breakage = true"
    await shop.execute(books)
    await bought(shop, goods.cards("50.00", 1), goods.boxes(1))
    for table in ("gift_card", "network_voucher"):
        await shop.execute(f"UPDATE {table} SET expires_on = :now", now=clock.now())  # noqa: S608 - of this test
    assert await expiry.expire_gift_cards(shop.services) == await expiry.expire_vouchers(shop.services) == 1
    before = await balances(shop)
    assert before["breakage"] == 17000
    await refunded(shop, 0, include_used=True)
    assert (await balances(shop))["breakage"] == 12000
    await refunded(shop, 1, include_used=True)
    await send_refunds(shop.services)
    assert {"breakage", "card", "network_voucher", "marketplace_funds"}.isdisjoint(await balances(shop))
    assert await columns(shop, "gift_card", "status") == await columns(shop, "network_voucher", "status")
    await is_proved(shop)
