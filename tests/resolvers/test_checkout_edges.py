"""The checkout at its edges: prices that follow the address, sums beyond what an order holds, labels nobody wrote."""

import dataclasses
from decimal import Decimal

import pytest

from resolvers import checkout
from schema.cart import CartItem
from schema.checkout import Choice, Step
from schema.delivery import DeliveryKind
from schema.errors import CheckoutChanged, InvalidInput
from tests.shop_world import BUYER, Shop

HOME = DeliveryKind.HOME_DELIVERY


async def test_delivery_is_paid_to_where_it_goes(shop: Shop) -> None:
    """Belgium costs 12, France 5: choosing France after giving an address in Belgium leads back to the address."""
    candle = await shop.product()
    key, _ = await shop.ready(Choice(candle.id, 1), delivery=HOME)
    there = dataclasses.replace(BUYER, country="BE")
    seen = await checkout.identify_buyer(shop.context, key, there)
    assert (seen.totals.delivery, seen.reached) == (Decimal("12.00"), Step.PAYMENT)
    seen = await checkout.choose_items(shop.context, key, [Choice(candle.id, 1)], shop.modes[HOME], "FR")
    assert (seen.totals.delivery, seen.reached) == (Decimal("5.00"), Step.INFORMATION)
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
    seen = await checkout.identify_buyer(shop.context, key, there)
    assert (seen.totals.delivery, seen.reached) == (Decimal("12.00"), Step.PAYMENT)


async def test_a_country_that_does_not_matter_leads_nowhere(shop: Shop) -> None:
    candle = await shop.product()
    collect = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    key, _ = await shop.ready(Choice(candle.id, 1))
    seen = await checkout.choose_items(shop.context, key, [Choice(candle.id, 1)], collect, "BE")
    assert seen.reached is Step.PAYMENT


async def test_more_than_an_order_holds_is_refused(shop: Shop) -> None:
    """Whatever a coupon takes off: the products' own sum is kept as well."""
    dear = await shop.product("9999999999.99")
    coupon = await shop.coupon("ALL", "100.00")
    collect = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    key, seen = await shop.ready(Choice(dear.id, 1), codes=(coupon.code,))
    assert (seen.totals.total, seen.reached) == (Decimal("0.00"), Step.PAYMENT)
    for choices in ([Choice(dear.id, 2)], [Choice(dear.id, 9999) for _ in range(200)]):
        with pytest.raises(InvalidInput) as refused:
            await checkout.choose_items(shop.context, key, choices, collect, "FR")
        assert [(p.path, p.code) for p in refused.value.problems] == [(("items",), "TOO_MANY")]
        shown = await checkout.price_items(shop.context, key, choices, collect, "FR")
        assert shown.reached is Step.CUSTOMIZATION
    assert [line.choice.quantity for line in (await checkout.open_checkout(shop.context, key)).lines] == [1]


async def test_a_cart_that_comes_to_more_cannot_be_paid(shop: Shop) -> None:
    dear, small = await shop.product("9999999999.99"), await shop.product("0.01")
    key = shop.key(await shop.cart(CartItem(dear.id, 1), CartItem(small.id, 1)))
    seen = await checkout.open_checkout(shop.context, key)
    assert seen.totals.total == Decimal("10000000000.00")
    assert seen.reached is Step.CUSTOMIZATION
    with pytest.raises(CheckoutChanged):
        await shop.start(key, seen)
    assert await shop.count("checkout_attempt") == 0
