"""Network gift cards and network vouchers that were sold with an order: refunded, and lost in a dispute."""

import pytest

from resolvers.payment.checkout import payment
from resolvers.payment.refunds.order_refunds import refund_order
from schema.checkout.checkout import ProductChoice
from schema.payment.errors import GoodsUsed
from store.gift_card.gift_cards import GiftCardRow
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import balances, books_balance
from tests.fixtures.payment.dispute import DISPUTABLE_CARD, open_dispute
from tests.fixtures.payment.network_payment import card_of_network, shown, take_part
from tests.fixtures.payment.order_refund import ordered, refund_wish, refunded
from tests.fixtures.shop import Shop
from tests.resolvers.payment.disputes.test_freezing import sold_network_voucher


async def sold_card(shop: Shop, by: str | None = None) -> GiftCardRow:
    """A network's gift card that an order of two lines, 100.00 and 20.00, has sold with the first."""
    first, second = await shop.product("100.00"), await shop.product("20.00")
    choices = ProductChoice(first.id, 1), ProductChoice(second.id, 1)
    if by is None:
        await ordered(shop, *choices)
    else:
        key, seen = await shop.ready(*choices)
        started = await shop.start(key, seen)
        await shop.pay(started, by)
        await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    card = await card_of_network(shop, order_id=await shop.one("SELECT max(id) FROM shop_order"))
    line = "UPDATE order_product SET product_id = NULL, gift_card_id = :id WHERE product_id = :product"
    await shop.execute(line, id=card.id, product=first.id)
    return card


async def test_a_card_is_cancelled_with_its_line(shop: Shop) -> None:
    card = await sold_card(shop)
    await refunded(shop, 1)
    assert await shown(shop, card) == ("paid", "100.00")
    await refunded(shop, 0)
    assert await shown(shop, card) == ("cncld", "100.00")
    assert {"card", "owed_by_marketplace"}.isdisjoint(await balances(shop))
    await books_balance(shop)


async def test_a_card_that_was_used_is_refused_unless_it_is_included(shop: Shop) -> None:
    card = await sold_card(shop)
    await take_part(shop)
    key, seen = await shop.ready(ProductChoice((await shop.product("30.00")).id, 1), codes=(card.code,))
    await shop.start(key, seen)
    sold = await shop.one("SELECT order_id FROM gift_card")
    wish = (await refund_wish(shop, 0)).model_copy(update={"id": sold})
    line = await shop.one("SELECT id FROM order_product WHERE gift_card_id IS NOT NULL")
    wish.lines[0].id = line
    with pytest.raises(GoodsUsed):
        await refund_order(shop.manager, wish)
    assert await shown(shop, card) == ("using", "70.00")
    await refund_order(shop.manager, wish.model_copy(update={"include_used": True}))
    assert await shown(shop, card) == ("cncld", "70.00")
    assert (await balances(shop))["partner_network"] == 3000
    await books_balance(shop)


async def test_a_voucher_is_cancelled_with_its_line(shop: Shop) -> None:
    await sold_card(shop)
    id = await sold_network_voucher(shop, await shop.one("SELECT max(id) FROM shop_order"))
    line = """
        UPDATE order_product SET product_id = NULL, network_voucher_id = :id,
            network_id = (SELECT marketplace_id FROM network_voucher) WHERE gift_card_id IS NULL
    """
    await shop.execute(line, id=id)
    status = "SELECT status FROM network_voucher WHERE id = :id"
    await refunded(shop, 0)
    assert await shop.one(status, id=id) == "paid"
    await refunded(shop, 1)
    assert await shop.one(status, id=id) == "cncld"
    assert await broken_rules(shop.services.db) == {}


async def test_a_card_is_frozen_by_a_dispute_and_cancelled_by_its_loss(shop: Shop) -> None:
    card = await sold_card(shop, DISPUTABLE_CARD)
    dispute = await open_dispute(shop)
    await dispute.follow()
    assert await shop.one("SELECT frozen_on IS NOT NULL FROM network_gift_card WHERE id = :id", id=card.id)
    await dispute.contest("120.00")
    await dispute.decide("lose")
    await dispute.follow()
    assert await shown(shop, card) == ("cncld", "100.00")
    assert "owed_by_marketplace" not in await balances(shop)
    assert await broken_rules(shop.services.db) == {}
