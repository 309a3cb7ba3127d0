"""Refunds of orders of two owners that fail, or that somebody makes at the provider."""

import datetime as dt
from decimal import Decimal

import pytest

from resolvers.payment.refunds.refunds import retry_refund
from schema.core.errors import MarketplaceOnly
from schema.coupon.coupon import ReceptionMode
from schema.payment.input import RetryRefund
from store.core.clock import clock
from store.payment.payments import RefundRow
from tests.fixtures.basket import GIFTEE, Experiences, bought, card_of, columns, for_two
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import balances
from tests.fixtures.payment.mixed_order import (
    is_proved,
    mixed_shop,
    of_market,
    of_partner,
    paid_out,
    parts,
)
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop
from tests.resolvers.payment.refunds.test_order_failures import TOO_LATE, refunded_at_provider
from tests.resolvers.payment.refunds.test_refunds import EMPTY_WALLET, fail_refunds

Goods = tuple[NetworkGoods, Experiences]


@pytest.fixture
async def goods(shop: Shop) -> Goods:
    """What is sold."""
    return await mixed_shop(shop)


@pytest.fixture
async def order(shop: Shop, goods: Goods) -> None:
    """A massage for 194.00, a box for 120.00, a gift card of 50.00 and one of the network for 60.00: 424.00 by bank card, of
    which 29.28 is commission.
    """
    network, own = goods
    await bought(shop, for_two(own), network.boxes(), card_of("50.00"), network.cards("60.00"))


@pytest.mark.usefixtures("order")
async def test_a_refund_that_fails_is_its_owners_again(shop: Shop) -> None:
    before = await balances(shop)
    await fail_refunds(shop, TOO_LATE, 1)
    await of_partner(shop, 0)
    await send_refunds(shop.services)
    assert await columns(shop, "refund", "state") == [("failed",)]
    assert await balances(shop) == before
    assert await columns(shop, "payment_source", "partner_share_back_amount") == [(Decimal("0.00"),)]
    await is_proved(shop)
    await of_partner(shop, 0)
    await send_refunds(shop.services)
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_a_refund_at_the_provider_is_divided_by_what_is_left_of_both(shop: Shop) -> None:
    """Of 106.00, 61.00 are the partner's: 244 of 424. Who made it gave no fee back."""
    await refunded_at_provider(shop, 10600)
    assert await parts(shop) == ["106.00 61.00 0.00"]
    found = await balances(shop)
    assert (found["partner_network"], found["funds_shortfall"]) == (21472 - 6100, 4500)
    await is_proved(shop)
    await of_partner(shop, 0)  # what is left of its share: 183.00 of 244.00
    assert (await parts(shop))[1].startswith("183.00 183.00 ")
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_more_than_a_share_has_earned_is_owed_after_a_refund_at_the_provider(shop: Shop) -> None:
    await paid_out(shop)
    await refunded_at_provider(shop, 10600)
    found = await balances(shop)
    assert (found["owed_by_partner"], found["funds_shortfall"]) == (6100, 4500)
    await is_proved(shop)


async def given_up(shop: Shop, *lines: int, **more: bool) -> RefundRow:
    """A refund by the marketplace that the provider has refused for good, as far as its answer told."""
    refund = await of_market(shop, *lines, **more)
    await fail_refunds(shop, TOO_LATE, 1)
    await send_refunds(shop.services)
    return refund


async def test_a_refund_of_delivery_that_was_given_up_and_made_is_the_partners(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await bought(shop, for_two(own), network.boxes(giftee=GIFTEE), reception=ReceptionMode.EXPEDITION)
    refund = await given_up(shop, include_delivery=True)
    await refunded_at_provider(shop, 500, str(refund.id))
    assert await parts(shop) == ["5.00 5.00 0.00"]
    assert "funds_shortfall" not in await balances(shop)
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_a_refund_of_the_network_that_is_made_twice_is_no_loss_of_the_partner(shop: Shop) -> None:
    """The box is paid back twice: 240.00 of the 180.00 that are the network's."""
    refund = await given_up(shop, 1)
    clock.advance(dt.timedelta(days=1))
    await of_market(shop, 1)
    await send_refunds(shop.services)
    clock.advance(dt.timedelta(days=1))
    await refunded_at_provider(shop, 12000, str(refund.id))
    assert await parts(shop) == ["120.00 0.00 0.00", "120.00 0.00 0.00"]
    found = await balances(shop)
    assert (found["partner_network"], found["funds_shortfall"]) == (21472, 12000)
    await is_proved(shop)
    await of_partner(shop, 0, 2)  # all that is left of the bank card's part
    assert (await parts(shop))[2].startswith("184.00 184.00 ")
    await send_refunds(shop.services)
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_what_is_more_than_a_share_is_the_marketplaces(shop: Shop) -> None:
    """The massage is paid back twice, and 50.00 are left of the share."""
    refund = await given_up(shop, 0)
    clock.advance(dt.timedelta(days=1))
    await of_partner(shop, 0)
    await send_refunds(shop.services)
    clock.advance(dt.timedelta(days=1))
    await refunded_at_provider(shop, 19400, str(refund.id))
    assert await parts(shop) == ["194.00 194.00 23.28", "194.00 50.00 0.00"]
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_who_may_refund_a_line_may_send_it_again(shop: Shop) -> None:
    """What the provider refuses for want of money is given to a person: each owner sends its own again."""
    mine, theirs = await of_partner(shop, 0), await of_market(shop, 1)
    await fail_refunds(shop, EMPTY_WALLET, 14)
    for _ in range(7):
        await send_refunds(shop.services)
        clock.advance(dt.timedelta(days=1))
    assert await columns(shop, "refund", "state") == [("needs_action",)] * 2
    with pytest.raises(MarketplaceOnly):
        await retry_refund(shop.manager, RetryRefund(id=theirs.id))
    assert await columns(shop, "refund", "state") == [("needs_action",)] * 2
    await retry_refund(shop.manager, RetryRefund(id=mine.id))
    await retry_refund(market(shop), RetryRefund(id=theirs.id))
    await send_refunds(shop.services)
    assert await columns(shop, "refund", "state") == [("done",)] * 2
    await is_proved(shop)
