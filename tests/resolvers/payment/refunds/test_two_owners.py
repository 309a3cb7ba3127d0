"""Refunds of orders of what is the partner's own and what is its network's: each gives back what is its own."""

from decimal import Decimal
from typing import Any

import pytest

from resolvers.payment.refunds.order_refunds import preview_order_refund, refund_order
from resolvers.payment.refunds.refunds import preview_refund, refund_payment
from resolvers.payment.refunds.request_answers import approve_refund_request, approve_withdrawal, decline_refund_request
from schema.core.errors import AppError, InsufficientBalance, InvalidInput, MarketplaceOnly
from schema.coupon.coupon import ReceptionMode
from schema.order.input import ApproveRefundRequest, DeclineRefundRequest
from schema.payment.errors import RefundOfTwoOwners
from schema.payment.input import (
    PreviewOrderRefund,
    PreviewRefund,
    RefundPayment,
    RefundSplit,
)
from tests.fixtures.basket import GIFTEE, Experiences, bought, card_of, columns, for_two
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.dispute import balances
from tests.fixtures.payment.mixed_order import (
    is_proved,
    mixed_shop,
    moneys,
    of_market,
    of_partner,
    paid_out,
    parts,
    wish_of,
)
from tests.fixtures.payment.network_payment import card_of_network
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import market
from tests.fixtures.payment.refund_request import approve_by_rule, asked
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


async def state(shop: Shop) -> list[Any]:
    """All that a refund changes."""
    statuses = [await columns(shop, table, "status") for table in ("gift_card", "network_voucher", "shop_order")]
    counts = [await shop.count(table) for table in ("refund", "ledger_journal", "event", "mail")]
    return [*statuses, *counts, await columns(shop, "order_product", "refunded_quantity", "refunded_amount")]


async def refused(shop: Shop, context: Any, error: type[AppError], *lines: int, **more: Any) -> None:
    """A refund of lines, and its preview, are refused and change nothing."""
    before, wish = await state(shop), await refund_wish(shop, *lines, **more)
    with pytest.raises(error):
        await refund_order(context, wish)
    with pytest.raises(error):
        await preview_order_refund(context, PreviewOrderRefund.model_validate(wish.model_dump()))
    assert await state(shop) == before


async def amount_refused(shop: Shop, context: Any, error: type[AppError], amount: str) -> None:
    """A refund of an amount, and its preview, are refused and change nothing."""
    before, id = await state(shop), await shop.one("SELECT id FROM payment")
    with pytest.raises(error):
        await refund_payment(context, RefundPayment(id=id, amount=Decimal(amount)))
    with pytest.raises(error):
        await preview_refund(context, PreviewRefund(id=id, amount=Decimal(amount)))
    assert await state(shop) == before


# ---- lines


@pytest.mark.usefixtures("order")
async def test_each_line_is_given_back_by_its_owner(shop: Shop) -> None:
    await of_partner(shop, 0)
    await of_market(shop, 1)
    assert await parts(shop) == ["194.00 194.00 23.28", "120.00 0.00 0.00"]
    await is_proved(shop)
    found = await balances(shop)
    assert (found["partner_network"], found["refund_due"], found["commission_back"]) == (4400, 29072, 2328)
    await send_refunds(shop.services)
    found = await balances(shop)
    assert (found["wallet"], found["fees_wallet"], found["card"]) == (4400 + 6000, 600, 6000 + 5000)
    await is_proved(shop)
    await of_partner(shop, 2)
    await of_market(shop, 3)
    await send_refunds(shop.services)
    assert await moneys(shop) == {}
    assert await shop.one("SELECT status FROM shop_order") == "refunded"
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_the_marketplace_refunds_lines_of_both_at_once(shop: Shop) -> None:
    refund = await of_market(shop, 0, 1, 2, 3)
    assert refund.refund_amount == Decimal("424.00")
    assert await parts(shop) == ["424.00 244.00 29.28"]
    await send_refunds(shop.services)
    assert await moneys(shop) == {}
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_a_partner_does_not_refund_what_is_the_networks(shop: Shop) -> None:
    await refused(shop, shop.manager, MarketplaceOnly, 1)
    await refused(shop, shop.manager, MarketplaceOnly, 0, 3)


async def test_delivery_is_the_partners(shop: Shop, goods: Goods) -> None:
    network, own = goods
    await bought(shop, for_two(own), network.boxes(giftee=GIFTEE), reception=ReceptionMode.EXPEDITION)
    await of_partner(shop, include_delivery=True)
    assert await parts(shop) == ["5.00 5.00 0.60"]
    await of_market(shop, 0, 1)
    await send_refunds(shop.services)
    assert await moneys(shop) == {}
    await is_proved(shop)


async def test_what_gift_cards_have_paid_goes_back_to_them(shop: Shop, goods: Goods) -> None:
    """194.00: 100.00 by the network's card, 30.00 by an own one, 64.00 by bank card, which has paid the box too."""
    network, own = goods
    mine, theirs = await shop.gift_card("30.00"), await card_of_network(shop, "100.00")
    await bought(shop, for_two(own), network.boxes(), codes=(mine.code, theirs.code))
    await of_market(shop, 1)
    await of_partner(shop, 0)
    assert await parts(shop) == ["120.00 0.00 0.00", "30.00 0.00 0.00", "100.00 0.00 0.00", "64.00 64.00 7.68"]
    await send_refunds(shop.services)
    await is_proved(shop)
    found = await balances(shop)
    assert found == {"card": 13000, "issued": 3000, "owed_by_marketplace": 10000}


async def test_a_split_takes_nothing_of_the_other_owner(shop: Shop, goods: Goods) -> None:
    network, own = goods
    mine = await shop.gift_card("100.00")
    await bought(shop, for_two(own), network.boxes(), codes=(mine.code,))
    split = RefundSplit(extra_source_amount=Decimal("0.00"), additional_payin_amount=Decimal("194.00"))
    await refused(shop, shop.manager, InvalidInput, 0, split=split)
    split = RefundSplit(extra_source_amount=Decimal("60.00"), additional_payin_amount=Decimal("60.00"))
    await refused(shop, market(shop), InvalidInput, 1, split=split)
    await of_partner(shop, 0)
    await is_proved(shop)


async def test_a_line_goes_back_to_gift_cards_if_a_split_has_taken_the_share_already(shop: Shop, goods: Goods) -> None:
    """The bank card has paid the partner's gift card and the box; a split gave the first back for the massage."""
    network, own = goods
    mine = await shop.gift_card("194.00")
    await bought(shop, for_two(own), network.boxes(), card_of("50.00"), codes=(mine.code,))
    split = RefundSplit(extra_source_amount=Decimal("144.00"), additional_payin_amount=Decimal("50.00"))
    await of_partner(shop, 0, split=split)
    await of_partner(shop, 2)
    await of_market(shop, 1)
    assert await parts(shop) == ["144.00 0.00 0.00", "50.00 50.00 6.00", "50.00 0.00 0.00", "120.00 0.00 0.00"]
    await send_refunds(shop.services)
    await is_proved(shop)


# ---- amounts


@pytest.mark.usefixtures("order")
async def test_an_amount_says_not_whose_it_is(shop: Shop) -> None:
    await amount_refused(shop, market(shop), RefundOfTwoOwners, "50.00")
    await amount_refused(shop, shop.manager, RefundOfTwoOwners, "50.00")
    await amount_refused(shop, shop.manager, MarketplaceOnly, "424.00")


@pytest.mark.usefixtures("order")
async def test_all_of_it_is_given_back_by_both(shop: Shop) -> None:
    """The goods stay: what the network has issued is covered by other funds."""
    await amount_refused(shop, market(shop), InsufficientBalance, "424.00")
    await of_market(shop, 1, 3)
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(market(shop), RefundPayment(id=id, amount=Decimal("244.00")))
    assert await parts(shop) == ["180.00 0.00 0.00", "244.00 244.00 29.28"]
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_what_is_left_of_one_owner_is_refunded_by_amount(shop: Shop) -> None:
    await of_market(shop, 1, 3)
    id = await shop.one("SELECT id FROM payment")
    await refund_payment(shop.manager, RefundPayment(id=id, amount=Decimal("44.00")))
    assert await parts(shop) == ["180.00 0.00 0.00", "44.00 44.00 5.28"]
    await is_proved(shop)


# ---- what was paid out


@pytest.mark.usefixtures("order")
async def test_what_was_paid_out_is_refunded_out_of_other_earnings_in_the_network(shop: Shop, goods: Goods) -> None:
    """Only they lie in the wallet that the refund leaves: those in the partner's own wallet do not, and the rest of the
    marketplace's wallet backs what others own.
    """
    network, own = goods
    await paid_out(shop)
    await is_proved(shop)
    await refused(shop, shop.manager, InsufficientBalance, 0)
    await refused(shop, market(shop), InsufficientBalance, 0)
    await bought(shop, for_two(own), for_two(own))  # 341.44 in its own wallet
    with pytest.raises(InsufficientBalance):
        await refund_order(shop.manager, await wish_of(shop, 1))
    await bought(shop, for_two(own), network.boxes())  # 170.72 in the network
    await refund_order(shop.manager, await wish_of(shop, 1))
    await is_proved(shop)
    with pytest.raises(InsufficientBalance):
        await refund_order(shop.manager, await wish_of(shop, 3))
    await send_refunds(shop.services)
    found = await balances(shop)
    assert (found["partner"], not {"partner_network", "owed_by_partner"} & found.keys()) == (34144, True)
    await is_proved(shop)


# ---- requests of the buyer


@pytest.mark.usefixtures("order")
async def test_a_request_is_answered_by_who_owns_its_lines(shop: Shop) -> None:
    mine, theirs = await asked(shop, {0: 1}), await asked(shop, {1: 1})
    with pytest.raises(MarketplaceOnly):
        await approve_refund_request(shop.manager, ApproveRefundRequest(id=theirs))
    with pytest.raises(MarketplaceOnly):
        await decline_refund_request(shop.manager, DeclineRefundRequest(id=theirs, message="No."))
    await approve_refund_request(shop.manager, ApproveRefundRequest(id=mine))
    await approve_refund_request(market(shop), ApproveRefundRequest(id=theirs))
    assert await parts(shop) == ["194.00 194.00 23.28", "120.00 0.00 0.00"]
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_the_rule_of_a_partner_gives_back_nothing_of_the_networks(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET approves_withdrawals = true")
    both, mine = await asked(shop, {0: 1, 1: 1}), await asked(shop, {2: 1})
    assert await approve_by_rule(shop) == 1
    assert await columns(shop, "refund_request", "id", "state") == [(both, "pending"), (mine, "approved")]
    await approve_withdrawal(shop.services, both)  # as a job that was queued before
    assert await parts(shop) == ["50.00 50.00 6.00"]
    await approve_refund_request(market(shop), ApproveRefundRequest(id=both))
    assert await parts(shop) == ["50.00 50.00 6.00", "314.00 194.00 23.28"]
    await send_refunds(shop.services)
    await is_proved(shop)


@pytest.mark.usefixtures("order")
async def test_who_sells_hears_of_a_request(shop: Shop) -> None:
    await shop.execute("UPDATE marketplace SET email = 'network@example.com'")
    told = "SELECT coalesce(array_agg(recipient ORDER BY recipient), '{}') FROM mail WHERE kind = 'new_request'"
    await asked(shop, {0: 1})
    assert await shop.one(told) == ["hello@shop.example"]
    await asked(shop, {1: 1})
    assert await shop.one(told) == ["hello@shop.example", "hello@shop.example", "network@example.com"]
