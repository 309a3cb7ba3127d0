"""Refunds of orders of two owners at the same time: none takes what another has, and none waits for ever."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from resolvers.payment.payouts.payouts import validate_payout_request
from resolvers.payment.refunds.order_refunds import refund_order
from schema.core.errors import AppError
from schema.payment.input import RefundOrder, RefundOrderLine
from schema.payment.payout import ValidatePayoutRequest
from store.payment.payments import RefundRow
from tests.fixtures.basket import Experiences, bought, card_of, columns, for_two
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import balances
from tests.fixtures.payment.mixed_order import (
    is_proved,
    mixed_shop,
    moneys,
    paid_out,
    wish_of,
)
from tests.fixtures.payment.network_payment import card_of_network
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import can_be_paid_out, gathered, payouts
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop

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
async def test_other_earnings_are_given_back_once(shop: Shop, goods: Goods) -> None:
    """Two orders that were paid out, and earnings for one of them: one refund is made."""
    network, own = goods
    await bought(shop, for_two(own), network.boxes())
    await paid_out(shop)
    await bought(shop, for_two(own), network.boxes())
    wishes = [await wish_of(shop, number) for number in (1, 2)]
    answers = await asyncio.gather(*(refund_order(shop.manager, wish) for wish in wishes), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["InsufficientFunds", "RefundRow"]
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_a_payout_and_a_refund_at_once_take_the_share_once(shop: Shop) -> None:
    await can_be_paid_out(shop)
    payout = await gathered(shop)
    wish = await wish_of(shop, 1)
    calls: list[Any] = [
        validate_payout_request(market(shop), ValidatePayoutRequest(id=payout.id)),
        *(refund_order(shop.manager, wish) for _ in range(3)),
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(not isinstance(answer, BaseException) or isinstance(answer, AppError) for answer in answers)
    refunds = sum(isinstance(answer, RefundRow) for answer in answers)
    (reserved,) = [row.payout_amount for row in await payouts(shop)]
    assert (refunds, reserved) in [(0, Decimal("214.72")), (1, Decimal("44.00"))]
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_refunds_of_both_owners_at_once(shop: Shop) -> None:
    """Each line is refunded once, whoever asks."""
    own, theirs, whole = [await refund_wish(shop, *lines) for lines in ((0, 2), (1, 3), (0, 1, 2, 3))]
    calls = [
        *(refund_order(shop.manager, own) for _ in range(4)),
        *(refund_order(market(shop), theirs) for _ in range(4)),
        *(refund_order(market(shop), whole) for _ in range(2)),
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, AppError | RefundRow) for answer in answers)
    assert await shop.one("SELECT sum(refund_amount) FROM refund") == Decimal("424.00")
    await send_refunds(shop.services)
    assert await moneys(shop) == {}
    await is_proved(shop)


async def test_refunds_of_many_orders_at_once_do_not_block_each_other(shop: Shop, goods: Goods) -> None:
    network, own = goods
    for _ in range(3):
        await bought(shop, for_two(own), network.boxes())
    wishes = list[RefundOrder]()
    for number in (1, 2, 3):
        order = await shop.one("SELECT id FROM shop_order WHERE number = :number", number=number)
        ids = [row[0] for row in await columns(shop, "order_product", "id", "order_id") if row[1] == order]
        wishes += [RefundOrder(id=order, lines=[RefundOrderLine(id=id)]) for id in ids]
    calls = [
        *(refund_order(market(shop), wish) for wish in wishes),
        *(bought(shop, for_two(own), network.cards("60.00")) for _ in range(2)),
        *(bought(shop, for_two(own)) for _ in range(2)),
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    await send_refunds(shop.services)
    assert (await balances(shop))["partner_network"] == 2 * 17072
    await is_proved(shop)


async def test_orders_that_gift_cards_of_the_network_have_paid_do_not_block_each_other(
    shop: Shop, goods: Goods
) -> None:
    """The partner's share of the bank card's part is nothing, and its earnings in the network are moved all the same."""
    network, own = goods
    codes = [(await card_of_network(shop, "194.00")).code for _ in range(6)]
    for code in codes[:3]:
        await bought(shop, for_two(own), network.boxes(), codes=(code,))
    wishes = list[RefundOrder]()
    for number in (1, 2, 3):
        order = await shop.one("SELECT id FROM shop_order WHERE number = :number", number=number)
        ids = [row[0] for row in await columns(shop, "order_product", "id", "order_id") if row[1] == order]
        wishes.append(RefundOrder(id=order, lines=[RefundOrderLine(id=id) for id in ids]))
    calls = [
        *(refund_order(market(shop), wish) for wish in wishes),
        *(bought(shop, for_two(own), network.boxes(), codes=(code,)) for code in codes[3:]),
        *(bought(shop, for_two(own), network.boxes()) for _ in range(2)),
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    await send_refunds(shop.services)
    await is_proved(shop)
    assert await shop.one("SELECT min(partner_share_amount) FROM payment") == 0
