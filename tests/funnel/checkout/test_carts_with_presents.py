"""Goods, an experience and a gift card in one order, as a customer buys them."""

from collections.abc import Callable

import pytest

from schema.cart.cart import CartItem
from schema.delivery.delivery import DeliveryKind
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import GOOD_CARD, Shop
from tests.funnel.checkout.basket_pages import (
    CONTINUE,
    FORM,
    GIFT_CARDS,
    STEPS,
    WINDOW,
    chosen_massage,
    filled,
    open_form,
)
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import Element
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.checkout.test_steps import CUSTOMIZATION, open_first_step

GIFT = "/ecommerce/shop/gift/?"
HOME, COLLECT = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT
PAUL = {"giftee-name": "Paul Langevin", "giftee-email": "paul@example.com"}
MAILED = {**PAUL, "reception": "giftee_email"}


def presents(customer: Customer) -> list[Element]:
    return [row for row in customer.page.all("li") if row.attributes.get("id", "").startswith("gift-")]


def names(customer: Customer) -> list[str]:
    return [row.one("h3").text for row in presents(customer)]


async def with_card(shop: Shop, customer: Customer, **fields: str) -> str:
    """A cart with a candle of 20.00 and a gift card of 50.00 for somebody else; the id of the cart."""
    candle = await shop.product("20.00", stock=3)
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1))
    await customer.send(CUSTOMIZATION, None, ("do", "card"))
    assert customer.h1 == "Give a gift card"
    await filled(customer, GIFT, {"value": "50.00", **MAILED, **fields})
    return cart_id


async def paid(shop: Shop, customer: Customer, cart_id: str) -> Customer:
    await customer.press_pay()
    attempt = await shop.one("SELECT id FROM checkout_attempt WHERE state = 'open'")
    payin = await shop.payin_of(attempt)
    await shop.control("POST", f"/payins/{payin}/pay", {"card": GOOD_CARD, "challenge": "confirm"})
    return await customer.open(f"/ecommerce/shop/payment/return/{cart_id}/{attempt}/")


async def test_presents_join_goods_in_one_order(shop: Shop, customer: Customer, sold: Experiences) -> None:
    cart_id = await with_card(shop, customer)
    assert (customer.path, names(customer)) == (f"{CUSTOMIZATION}?cart={cart_id}", ["Gift card"])
    check_headings(customer.page)
    check_controls(customer.page)
    await customer.send(CUSTOMIZATION, None, ("do", "another"))
    assert customer.page.one("a", class_="in-basket").text == "Your order: 2 items"
    await open_form(customer, sold.massage.id)
    assert customer.path.startswith(GIFT), "it is added to the cart, not to a basket of its own"
    await filled(customer, GIFT, {"reception": f"expedition-{shop.modes[HOME]}", "giftee-name": "Marie Curie"})
    assert names(customer) == ["Gift card", "Massage by the fire"]
    assert customer.amounts["Items"] == "€160.00"
    await customer.choose(cart_id, shop.modes[HOME])
    await customer.identify()
    assert customer.step == "payment"
    assert all(name in customer.page.text for name in ("Candle", "Gift card", "Massage by the fire"))
    await paid(shop, customer, cart_id)
    assert [await shop.count(table) for table in ("shop_order", "voucher", "gift_card")] == [1, 1, 1]
    order = "SELECT kind || ' ' || has_goods || ' ' || fulfilment_state || ' ' || delivery_kind FROM shop_order"
    assert await shop.one(order) == "mixed true to_prepare home_delivery"
    assert await shop.one("SELECT stock FROM product") == 2
    assert await shop.one("SELECT reception_mode FROM voucher") == "expedition"
    assert await shop.one("SELECT reception_mode FROM gift_card") == "giftee_email"
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'cart.completed'") == 1
    await customer.open(f"{CUSTOMIZATION}?cart={cart_id}")
    assert customer.h1 != "Your order", "the cart is ordered"
    await open_form(customer, sold.massage.id)
    assert customer.path.startswith(FORM), "what follows is another order"


async def test_what_was_chosen_before_is_taken_along(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    cart_id = await open_first_step(shop, customer, CartItem((await shop.product("20.00")).id, 1))
    assert "You have also chosen 1 present that is not in this order yet." in customer.page.text
    assert names(customer) == []
    await customer.send(CUSTOMIZATION, None, ("do", "take"))
    assert names(customer) == ["Massage by the fire"]
    assert "You have also chosen" not in customer.page.text
    await customer.choose(cart_id, shop.modes[COLLECT])
    assert customer.step == "information"
    await customer.open(f"{STEPS}customization/")
    assert customer.path.startswith(CUSTOMIZATION), "the basket is empty, and the cart is the order"


async def test_a_basket_that_is_being_paid_is_not_taken_along(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await chosen_massage(customer, sold)
    await customer.send(f"{STEPS}information/", {"first_name": "Ada", "last_name": "M", "email": "ada@example.com"})
    cart_id = await open_first_step(shop, customer, CartItem((await shop.product("20.00")).id, 1))
    assert "You have also chosen" in customer.page.text
    form = customer.form(CUSTOMIZATION)
    await customer.open(f"{STEPS}payment/")
    await customer.send(f"{STEPS}payment/?")
    await customer.open(f"{CUSTOMIZATION}?cart={cart_id}")
    assert "You have also chosen" not in customer.page.text
    del form
    await customer.send(CUSTOMIZATION, None, ("do", "take"))
    assert names(customer) == []
    assert await shop.one("SELECT count(*) FROM checkout_attempt WHERE state = 'open'") == 1


async def test_a_present_is_changed_and_removed(shop: Shop, customer: Customer) -> None:
    await with_card(shop, customer)
    await customer.open(presents(customer)[0].one("a").attributes["href"])
    await filled(customer, GIFT, {"value": "75.00"})
    assert customer.amounts["Items"] == "€95.00"
    await customer.send(CUSTOMIZATION, None, ("do", presents(customer)[0].one("button").attributes["value"]))
    assert (names(customer), customer.amounts["Products"]) == ([], "€20.00")


async def test_it_must_be_known_how_each_present_is_received(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1))
    await customer.send(CUSTOMIZATION, None, ("do", "card"))
    await customer.send(GIFT, {"value": "50.00"}, CONTINUE)
    assert "part=personal" in customer.path
    await customer.send(GIFT, {"giftee-name": "Paul"}, CONTINUE)
    assert customer.errors == ["Choose how you would like to receive your order."]
    await customer.choose(cart_id, shop.modes[HOME])
    assert (customer.step, customer.errors) == ("customization", ["Choose how it is received."])


@pytest.mark.parametrize(("kind", "is_collected"), [(HOME, False), (COLLECT, True)])
async def test_what_is_not_mailed_goes_with_the_goods(
    shop: Shop, customer: Customer, kind: DeliveryKind, *, is_collected: bool
) -> None:
    cart_id = await with_card(shop, customer, reception=f"expedition-{shop.modes[HOME]}")
    await customer.choose(cart_id, shop.modes[kind])
    await customer.identify()
    assert customer.step == "payment"
    await paid(shop, customer, cart_id)
    assert await shop.one("SELECT reception_mode FROM gift_card") == ("on_site" if is_collected else "expedition")


async def test_gifts_alone_are_left_of_a_cart(shop: Shop, customer: Customer) -> None:
    cart_id = await with_card(shop, customer)
    await customer.send(CUSTOMIZATION, None, ("do", "remove-0"))
    assert names(customer) == ["Gift card"]
    await customer.send(CUSTOMIZATION, None, CONTINUE)
    await customer.identify()
    assert customer.step == "payment"
    await paid(shop, customer, cart_id)
    assert await shop.one("SELECT kind || ' ' || has_goods FROM shop_order") == "gift_cards false"
    assert await shop.one("SELECT from_cart FROM checkout_attempt") is True
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'cart.completed'") == 1


async def test_coupons_and_gift_cards_of_a_mixed_order(shop: Shop, customer: Customer) -> None:
    await shop.coupon("GOODS10", targets=["ecommerce"])
    paying = await shop.gift_card("60.00")
    cart_id = await with_card(shop, customer)
    await customer.choose(cart_id, shop.modes[COLLECT])
    await customer.identify()
    await customer.use_code("GOODS10")
    assert customer.amounts["Coupon GOODS10"] == "−€2.00", "of the candle only"
    await customer.use_code(paying.code)
    assert customer.amounts["Left to pay"] == "€50.00", "gift cards pay for no gift card"


async def test_the_last_opened_order_takes_what_is_chosen(
    shop: Shop, customer: Customer, sold: Experiences, visitors: Callable[[], Customer]
) -> None:
    await with_card(shop, customer)
    await open_form(customer, sold.massage.id)
    assert customer.path.startswith(GIFT)
    other = visitors()
    await open_form(other, sold.massage.id)
    assert other.path.startswith(FORM)
    await filled(other, FORM, {"reception": "print_at_home"})
    await other.open(GIFT_CARDS)
    assert other.path.startswith(FORM), "without a cart it is the basket"
    await other.open(WINDOW)
    assert other.page.one("a", class_="in-basket").text == "Your order: 1 voucher"
