"""Settlement statements of partners' shares: payments, refunds, disputes and payouts of orders of two owners."""

import datetime as dt
from decimal import Decimal

import pytest

from resolvers.payment.refunds.order_refunds import refund_order
from store.core.clock import clock
from store.network.settlement.export import csv_of
from store.network.settlement.statements import SettlementPeriod, UsageSettlement, settlements_of
from tests.fixtures.basket import Experiences, bought, card_of, for_two
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import balances, bought_disputably, open_dispute
from tests.fixtures.payment.mixed_order import mixed_shop
from tests.fixtures.payment.network_payment import card_of_network
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import can_be_paid_out, send, validated
from tests.fixtures.shop import Shop
from tests.resolvers.payment.refunds.test_order_failures import TOO_LATE, refunded_at_provider
from tests.resolvers.payment.refunds.test_refunds import fail_refunds


@pytest.fixture
async def goods(shop: Shop) -> tuple[NetworkGoods, Experiences]:
    """What is sold."""
    return await mixed_shop(shop)


async def settled(shop: Shop) -> UsageSettlement:
    """The statement of everything so far; its closing is the balance of the ledger, and follows from the movements."""
    period = SettlementPeriod(
        marketplace_id=shop.partner.marketplace_id,
        partner_id=shop.partner.id,
        first=dt.date(2000, 1, 1),
        last=clock.now().date() + dt.timedelta(days=1),
    )
    async with shop.services.db.sessions() as db:
        (found,) = await settlements_of(db, period)
    assert found.closing == Decimal((await balances(shop)).get("partner_network", 0)) / 100
    changes = sum((figures.change for figures in found.products.values()), Decimal("0.00"))
    assert found.closing == found.opening + changes - found.settled
    assert csv_of(period, [found], {})
    return found


async def test_a_share_and_what_went_back_of_it(shop: Shop, goods: tuple[NetworkGoods, Experiences]) -> None:
    network, own = goods
    card = await card_of_network(shop, "100.00")
    await bought(shop, for_two(own), network.boxes(), card_of("50.00"), codes=(card.code,))
    other = await card_of_network(shop, "100.00")
    await bought(shop, for_two(own), codes=(other.code,))  # paid into its own wallet: not here
    found = (await settled(shop)).products
    share = next(figures for product, figures in found.items() if product.value == "partner_share")
    assert (share.usages.count, share.usages.value, share.usages.net) == (1, Decimal("144.00"), Decimal("126.72"))
    assert (share.usages.commission, share.usages.commission_vat) == (Decimal("17.28"), Decimal("2.88"))
    wish = await refund_wish(shop, 0)
    order = await shop.one("SELECT min(id) FROM shop_order")
    line = await shop.one("SELECT min(id) FROM order_product WHERE gift_card_id IS NOT NULL")
    wish = wish.model_copy(update={"id": order, "lines": [wish.lines[0].model_copy(update={"id": line})]})
    await refund_order(shop.manager, wish)
    found = (await settled(shop)).products
    share = next(figures for product, figures in found.items() if product.value == "partner_share")
    assert (share.returned.count, share.returned.value, share.returned.net) == (1, Decimal("50.00"), Decimal("44.00"))
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    found = (await settled(shop)).products
    share = next(figures for product, figures in found.items() if product.value == "partner_share")
    assert (share.returned.count, share.returned.net) == (0, Decimal("0.00"))


async def test_a_dispute_keeps_a_share_back(shop: Shop, goods: tuple[NetworkGoods, Experiences]) -> None:
    network, own = goods
    await bought_disputably(shop, for_two(own), network.boxes())
    dispute = await open_dispute(shop)
    await dispute.follow()
    ((_, share),) = (await settled(shop)).products.items()
    assert (share.cancelled.count, share.cancelled.net) == (1, Decimal("170.72"))
    await dispute.contest("314.00")
    await dispute.decide("win")
    await dispute.follow()
    await dispute.check()
    ((_, share),) = (await settled(shop)).products.items()
    assert (share.cancelled.count, share.cancelled.net) == (0, Decimal("0.00"))


async def test_what_was_paid_out_is_settled_and_owed_back(shop: Shop, goods: tuple[NetworkGoods, Experiences]) -> None:
    network, own = goods
    await bought(shop, for_two(own), network.boxes())
    await can_be_paid_out(shop)
    payout = await validated(shop)
    assert (payout.payout_amount, payout.network_amount) == (Decimal("170.72"), Decimal("170.72"))
    await send(shop, payout)
    statement = await settled(shop)
    assert (statement.settled, statement.closing) == (Decimal("170.72"), Decimal("0.00"))
    await refunded_at_provider(shop, 10000)  # without the fee; the share is 194 of 314
    ((_, share),) = (await settled(shop)).products.items()
    assert (share.returned.net, share.owed_back) == (Decimal("61.78"), Decimal("61.78"))
