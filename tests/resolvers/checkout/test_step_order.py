"""The steps of the checkout: who buys, where it goes, how far one has come."""

import dataclasses
from decimal import Decimal

import pytest

from resolvers.checkout import steps
from schema.cart.cart import CartItem
from schema.checkout.checkout import Buyer, CheckoutStep, ProductChoice
from schema.core.errors import CheckoutChanged
from schema.delivery.delivery import DeliveryKind
from tests.fixtures.shop import BUYER, Shop, open_shop
from tests.resolvers.checkout.fixtures import COLLECT, DIGITAL, HOME, catch_refusal

# ---- who buys


async def test_a_buyer_is_kept_in_the_session_and_never_in_the_cart(shop: Shop) -> None:
    cart, key, _ = await shop.open_checkout(CartItem((await shop.product()).id, 1))
    seen = await steps.identify_buyer(shop.context, key, dataclasses.replace(BUYER, first_name="  Ada "))
    assert seen.buyer == BUYER
    assert (await steps.open_checkout(shop.context, shop.key(cart))).buyer is None
    next_cart = await shop.cart(CartItem(1, 1))
    assert (await steps.open_checkout(shop.context, shop.key(next_cart, key.session_id))).buyer == BUYER
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    theirs = other.key(await other.cart(), key.session_id)
    assert (await steps.open_checkout(other.context, theirs)).buyer is None


async def test_a_buyer_that_cannot_be_used_is_not_kept(shop: Shop) -> None:
    candle = await shop.product()
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], shop.modes[HOME], "FR")
    before = await steps.open_checkout(shop.context, key)
    error = await catch_refusal("REQUIRED", steps.identify_buyer(shop.context, key, Buyer(first_name="Ada")))
    assert {problem.path[0] for problem in error.problems} == {
        "last_name", "email", "address_line_1", "postal_code", "city", "country",
    }  # fmt: skip
    far = dataclasses.replace(BUYER, country="US")
    await catch_refusal("NOT_DELIVERED", steps.identify_buyer(shop.context, key, far))
    assert await steps.open_checkout(shop.context, key) == before


async def test_delivery_is_priced_for_the_buyers_country(shop: Shop) -> None:
    candle = await shop.product("20.00")
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], shop.modes[HOME], "FR")
    belgian = dataclasses.replace(BUYER, country="BE", postal_code="1000", city="Bruxelles")
    seen = await steps.identify_buyer(shop.context, key, belgian)
    assert (seen.country, seen.totals.delivery, seen.furthest_step) == ("BE", Decimal("12.00"), CheckoutStep.PAYMENT)


async def test_a_parcel_too_heavy_for_the_buyers_country_is_refused_there(shop: Shop) -> None:
    await shop.execute("UPDATE delivery_rate SET max_weight_grams = 900 WHERE country = 'BE'")
    candle = await shop.product("20.00", weight_grams=1000)
    _, key, _ = await shop.open_checkout(CartItem(candle.id, 1))
    await steps.choose_items(shop.context, key, [ProductChoice(candle.id, 1)], shop.modes[HOME], "FR")
    belgian = dataclasses.replace(BUYER, country="BE", postal_code="1000")
    error = await catch_refusal("NOT_DELIVERED", steps.identify_buyer(shop.context, key, belgian))
    assert [problem.path for problem in error.problems] == [("country",)]
    assert (await steps.open_checkout(shop.context, key)).buyer is None


# ---- how far one has come


async def test_steps_are_reached_one_after_the_other(shop: Shop) -> None:
    candle, card = await shop.product("20.00", stock=2), await shop.product("5.00", is_physical=False)
    _, key, seen = await shop.open_checkout(CartItem(candle.id, 1))
    one = [ProductChoice(candle.id, 1)]

    async def choosing(items: list[ProductChoice], mode: DeliveryKind | None, country: str = "") -> CheckoutStep:
        chosen = shop.modes[mode] if mode else None
        return (await steps.choose_items(shop.context, key, items, chosen, country)).furthest_step

    assert seen.furthest_step is CheckoutStep.CUSTOMIZATION
    assert await choosing(one, None) is CheckoutStep.CUSTOMIZATION
    assert await choosing([], COLLECT) is CheckoutStep.CUSTOMIZATION
    assert await choosing([ProductChoice(candle.id, 0)], COLLECT) is CheckoutStep.CUSTOMIZATION
    assert await choosing([ProductChoice(candle.id, 3)], COLLECT) is CheckoutStep.CUSTOMIZATION
    assert await choosing(one, DIGITAL) is CheckoutStep.CUSTOMIZATION
    assert await choosing(one, HOME, "US") is CheckoutStep.CUSTOMIZATION
    assert await choosing(one, HOME) is CheckoutStep.INFORMATION
    assert await choosing(one, HOME, "FR") is CheckoutStep.INFORMATION
    assert await choosing([ProductChoice(card.id, 1)], DIGITAL) is CheckoutStep.INFORMATION
    person = Buyer(first_name="Ada", last_name="Martin", email="ada@example.com")
    assert (await steps.identify_buyer(shop.context, key, person)).furthest_step is CheckoutStep.PAYMENT
    assert await choosing(one, COLLECT) is CheckoutStep.PAYMENT
    assert await choosing(one, HOME, "FR") is CheckoutStep.INFORMATION, "where to is still missing"
    assert (await steps.identify_buyer(shop.context, key, BUYER)).furthest_step is CheckoutStep.PAYMENT
    await shop.execute("UPDATE product SET stock = 0 WHERE id = :id", id=candle.id)
    assert (await steps.open_checkout(shop.context, key)).furthest_step is CheckoutStep.CUSTOMIZATION


async def test_more_than_an_order_can_hold_is_refused(shop: Shop) -> None:
    palace = await shop.product("9999999999.99")
    key, seen = await shop.ready(ProductChoice(palace.id, 1))
    await catch_refusal(
        "TOO_MANY", steps.choose_items(shop.context, key, [ProductChoice(palace.id, 2)], shop.modes[COLLECT])
    )
    assert await steps.open_checkout(shop.context, key) == seen
    assert seen.furthest_step is CheckoutStep.PAYMENT
    cart, session = await shop.cart(CartItem(palace.id, 2)), key.session_id
    two = shop.key(cart, session)
    assert (await steps.open_checkout(shop.context, two)).furthest_step is CheckoutStep.CUSTOMIZATION


async def test_an_order_that_became_more_than_can_be_held_is_not_begun(shop: Shop) -> None:
    palace = await shop.product("1.00")
    key, seen = await shop.ready(ProductChoice(palace.id, 2))
    await shop.execute("UPDATE product SET price_amount = 9999999999.99")
    again = await steps.open_checkout(shop.context, key)
    assert again.furthest_step is CheckoutStep.CUSTOMIZATION
    for shown in (seen, again):
        with pytest.raises(CheckoutChanged):
            await shop.start(key, shown)
    assert await shop.count("checkout_attempt") == 0
