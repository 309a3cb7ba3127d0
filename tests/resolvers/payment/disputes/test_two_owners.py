"""Disputes of orders of what is the partner's own and what is its network's: each bears its part of them."""

import asyncio
from decimal import Decimal

import pytest

from resolvers.payment.disputes.disputes import accept_dispute
from resolvers.payment.disputes.settling import record_movement
from resolvers.payment.refunds.order_refunds import refund_order
from schema.core.errors import MarketplaceOnly
from schema.payment.dispute import AcceptDispute, DisputeState
from tests.fixtures.basket import Experiences, bought, columns, for_two
from tests.fixtures.ledger import broken_rules
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import (
    OpenedDispute,
    balances,
    bought_disputably,
    open_dispute,
    unawaited_settlement,
)
from tests.fixtures.payment.mixed_order import is_proved, mixed_shop
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import can_be_paid_out, send, validated
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop

Goods = tuple[NetworkGoods, Experiences]


@pytest.fixture
async def goods(shop: Shop) -> Goods:
    """What is sold."""
    return await mixed_shop(shop)


@pytest.fixture
async def dispute(shop: Shop, goods: Goods) -> OpenedDispute:
    """A massage for 194.00 and a box for 120.00, whose payment is disputed; 23.28 of it is commission."""
    network, own = goods
    await bought_disputably(shop, for_two(own), network.boxes())
    return await open_dispute(shop)


SHARES = "partner_share_amount", "partner_share_held_amount", "partner_share_settled_amount"


async def test_the_share_is_kept_back_and_comes_back(shop: Shop, dispute: OpenedDispute) -> None:
    before = await balances(shop)
    row = await dispute.follow()
    assert (row.held_amount, row.commission_amount) == (Decimal("170.72"), Decimal("23.28"))
    assert await columns(shop, "dispute", *SHARES) == [(Decimal("194.00"), Decimal("170.72"), Decimal("0.00"))]
    found = await balances(shop)
    assert (found["network_held"], found["in_dispute"], found.get("partner_network")) == (17072, 31400, None)
    await is_proved(shop)
    await dispute.contest("314.00")
    await dispute.decide("win")
    await dispute.follow()
    await dispute.check()
    assert await balances(shop) == before
    assert await columns(shop, "dispute", *SHARES) == [(Decimal("194.00"), Decimal("0.00"), Decimal("0.00"))]
    await is_proved(shop)


async def test_a_loss_is_borne_by_both(shop: Shop, dispute: OpenedDispute) -> None:
    """The box is cancelled, so that its price is the network's again, which owes the platform as much."""
    await dispute.follow()
    await dispute.contest("314.00")
    await dispute.decide("lose")
    await dispute.follow()
    row = await dispute.check()
    assert (row.state, row.settled_amount) == (DisputeState.LOST, Decimal("170.72"))
    assert await columns(shop, "dispute", *SHARES) == [(Decimal("194.00"), Decimal("0.00"), Decimal("170.72"))]
    found = await balances(shop)
    assert not {"network_held", "partner_network", "owed_by_partner", "in_dispute"} & found.keys()
    assert (found["wallet"], found["marketplace_funds"], found["dispute_debt"]) == (12000, 12000, 12000)
    assert (found["dispute_loss"], found["repudiation_wallet"]) == (2328, -12000 - 2328)
    await is_proved(shop)


async def test_what_was_paid_out_of_a_lost_share_is_owed(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await bought_disputably(shop, for_two(own), network.boxes())
    await can_be_paid_out(shop)
    await send(shop, await validated(shop))
    await is_proved(shop)
    dispute = await open_dispute(shop)
    assert (await dispute.follow()).held_amount == Decimal("0.00")
    await dispute.contest("314.00")
    await dispute.decide("lose")
    await dispute.follow()
    await dispute.check()
    found = await balances(shop)
    assert (found["owed_by_partner"], found["dispute_debt"]) == (17072, 12000)
    await is_proved(shop)


async def test_only_what_refunds_have_left_of_each_is_lost(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await bought_disputably(shop, for_two(own), for_two(own), network.boxes())
    await refund_order(shop.manager, await refund_wish(shop, 0))
    await send_refunds(shop.services)
    dispute = await open_dispute(shop, amount=31400)
    await dispute.follow()
    assert await columns(shop, "dispute", "dispute_amount", *SHARES[:2]) == [
        (Decimal("314.00"), Decimal("194.00"), Decimal("170.72"))
    ]
    await is_proved(shop)


async def test_a_part_that_is_lost_is_divided_to_the_cent(shop: Shop, dispute: OpenedDispute) -> None:
    """Of 314.00, 100.01 are not contested: 61.79 of the partner's share, of which 7.41 is commission."""
    await dispute.follow()
    await dispute.contest("213.99")
    await dispute.decide("win")
    await dispute.follow()
    row = await dispute.check()
    assert (row.state, row.lost_amount) == (DisputeState.WON, Decimal("100.01"))
    found = await balances(shop)
    assert (found["owed_by_partner"], found["partner_network"]) == (6179 - 741, 17072)
    assert (found["dispute_debt"], found["dispute_loss"]) == (10001 - 6179, 741)
    await is_proved(shop)


async def test_settling_more_at_the_provider_is_of_whose_wallet_it_is(shop: Shop, dispute: OpenedDispute) -> None:
    await dispute.follow()
    await dispute.contest("314.00")
    await dispute.decide("lose")
    await dispute.follow()
    row = await dispute.check()
    await record_movement(shop.services, unawaited_settlement(row))
    assert "owed_by_partner" not in await balances(shop)
    await is_proved(shop)


async def test_only_the_marketplace_answers_it(shop: Shop, dispute: OpenedDispute) -> None:
    row = await dispute.follow()
    with pytest.raises(MarketplaceOnly):
        await accept_dispute(shop.manager, AcceptDispute(id=row.id))
    accepted = await accept_dispute(market(shop), AcceptDispute(id=row.id))
    assert accepted.state is DisputeState.LOST
    await dispute.check()
    await is_proved(shop)


async def test_a_dispute_and_refunds_at_once(shop: Shop, goods: Goods) -> None:
    """Other orders are refunded meanwhile, and what is disputed is not."""
    network, own = goods
    await bought(shop, for_two(own), network.boxes())
    other = await refund_wish(shop, 0, 1)
    await bought_disputably(shop, for_two(own), network.boxes())
    dispute = await open_dispute(shop)
    calls = [dispute.follow(), refund_order(market(shop), other), dispute.follow()]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    found = await balances(shop)
    assert (found["network_held"], found.get("partner_network")) == (17072, None)
    await is_proved(shop)


@pytest.mark.parametrize("column", SHARES[1:2])
async def test_what_is_forged_is_noticed(shop: Shop, dispute: OpenedDispute, column: str) -> None:
    await dispute.follow()
    await shop.execute(f"UPDATE dispute SET {column} = 1")  # noqa: S608 - a name of this test
    assert "partner_shares" in await broken_rules(shop.services.db)
