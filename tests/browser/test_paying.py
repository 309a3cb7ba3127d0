"""The whole walk, from the shop's cart to the order, in every way to pay."""

from collections.abc import Mapping
from typing import Any

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.customer import ABROAD, Customer
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def test_by_card_with_a_challenge_and_back_to_the_shop(shop: RunningShop, customer: Customer) -> None:
    bathrobe = await shop.demo_product("Organic cotton bathrobe")
    candle = await shop.demo_product("Lavender scented candle")
    ((large,),) = await shop.rows("SELECT id FROM product_variant WHERE name->>'en' LIKE '400%'")
    attributes = "SELECT id FROM product_attribute WHERE product_id = :id ORDER BY ranking"
    (size,), (colour,) = await shop.rows(attributes, id=bathrobe)
    left, charged = await shop.stock(bathrobe), await shop.charges()
    cart = await shop.hand_over(
        {"product_id": bathrobe, "quantity": 1, "attribute_values": {str(size): "m", str(colour): "ivory"}},
        {"product_id": candle, "quantity": 2, "variant_id": large},
        return_url=shop.home,
    )
    page = customer.page
    await customer.open(cart)
    assert await customer.h1() == "Your order"
    await customer.choose_delivery(DeliveryKind.HOME_DELIVERY, "BE")
    await page.locator("[data-live=totals]", has_text="Free").wait_for()
    assert "Total €177.00" in await customer.read_text("aside [data-live=totals]")
    await customer.go_on()
    await customer.give_details(**ABROAD, message="With love")
    assert "€177.00" in await customer.read_text("aside")
    await customer.leave_to_pay()
    assert "€177.00" in await customer.read_text()
    await customer.pay_by(CHALLENGE_CARD)
    async with page.expect_response("**/ecommerce/shop/summary/*") as led:
        await customer.confirm()
    await customer.arrive_in_shop()
    order = await shop.order(cart)
    back = await led.value
    assert (back.status, back.headers["location"]) == (303, f"{shop.home}?order={order['number']}")
    assert f"order number {order['number']}" in await customer.read_text("[role=status]")
    check_what_was_ordered(order)
    assert (await shop.stock(bathrobe), await shop.charges()) == (left - 1, charged + 1)


def check_what_was_ordered(order: Mapping[str, Any]) -> None:
    """A bathrobe and two candles, sent to Paris and paid by card."""
    assert (order["total"], order["cardTotal"], order["deliveryTotal"]) == (
        {"amount": "177.00"}, {"amount": "177.00"}, {"amount": "0.00"},
    )  # fmt: skip
    assert order["delivery"] == {"kind": "HOME_DELIVERY", "address": {"city": "Bruxelles"}}
    assert (order["buyer"]["email"], order["message"]) == ("ada@example.com", "With love")
    robe, candles = order["products"]
    assert (robe["variant"]["choices"]["en"], candles["quantity"]) == ("Size: M · Colour: Ivory", 2)
    assert candles["variant"]["name"]["en"].startswith("400")
    assert order["payments"] == [{"status": "OK", "sources": [{"kind": "CREDIT_CARD", "amount": {"amount": "177.00"}}]}]


async def test_wholly_by_gift_card_and_thanked(shop: RunningShop, customer: Customer) -> None:
    product, card = await shop.product("40.00", stock=2), await shop.gift_card("50.00")
    cart = await shop.hand_over({"product_id": product.id, "quantity": 1})
    charged = await shop.charges()
    await customer.come_to_pay(cart)
    await customer.use(card.code.lower())
    assert "Left to pay €0.00" in await customer.read_text("aside")
    assert card.code[:4] not in await customer.read_text(), "a gift card is told by its end"
    await customer.pay_button.click()
    await customer.arrive("order")
    assert await customer.h1() == "Thank you for your order"
    order = await shop.order(cart)
    said = await customer.read_text()
    assert f"Order number {order['number']}" in said
    assert "ada@example.com" in said
    assert "12 chemin des Restanques" in said, "where to collect it"
    assert (order["giftCardTotal"], order["cardTotal"]) == ({"amount": "40.00"}, {"amount": "0.00"})
    remaining = "SELECT remaining_amount FROM gift_card WHERE id = :id"
    assert str(await shop.one(remaining, id=card.id)) == "10.00"
    assert (await shop.stock(product.id), await shop.charges()) == (1, charged)


async def test_a_coupon_then_a_gift_card_then_the_rest_by_card(shop: RunningShop, customer: Customer) -> None:
    product = await shop.product("100.00")
    coupon, card = await shop.coupon("MIXED10"), await shop.gift_card("30.00")
    cart = await shop.hand_over({"product_id": product.id, "quantity": 1})
    await customer.come_to_pay(cart)
    await customer.use(card.code, "mixed10")
    assert "Left to pay €60.00" in await customer.read_text("aside")
    await customer.page.locator(".applied li", has_text=card.code[-4:]).locator("button").click()
    await customer.page.locator(".applied li", has_text=card.code[-4:]).wait_for(state="detached")
    assert "Total €90.00" in await customer.read_text("aside")
    assert "Left to pay" not in await customer.read_text("aside")
    await customer.use(card.code)
    await customer.leave_to_pay()
    assert "€60.00" in await customer.read_text()
    await customer.pay_by()
    await customer.arrive("order")
    order = await shop.order(cart)
    amounts = {name: order[name]["amount"] for name in ("discountTotal", "total", "giftCardTotal", "cardTotal")}
    assert amounts == {"discountTotal": "10.00", "total": "90.00", "giftCardTotal": "30.00", "cardTotal": "60.00"}
    assert {(s["kind"], s["amount"]["amount"]) for p in order["payments"] for s in p["sources"]} == {
        ("GIFT_CARD", "30.00"),
        ("CREDIT_CARD", "60.00"),
    }
    assert [discount["code"] for discount in order["discounts"]] == ["MIXED10"]
    assert await shop.one("SELECT usage_count FROM coupon WHERE id = :id", id=coupon.id) == 1
    assert str(await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id)) == "0.00"


async def test_declined_then_paid_with_another_card(shop: RunningShop, customer: Customer) -> None:
    product = await shop.product("20.00", stock=1)
    cart = await shop.hand_over({"product_id": product.id, "quantity": 1}, return_url=shop.home)
    charged = await shop.charges()
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.pay_by(DECLINED_CARD)
    await customer.arrive_at_outcome()
    assert await customer.h1() == "Your payment was declined"
    assert "Nothing was charged." in await customer.read_text()
    assert (await shop.orders(cart), await shop.stock(product.id)) == ([], 1)
    await customer.page.click("main a.main")
    await customer.arrive("payment")
    assert "Your payment was declined" in await customer.notes()
    await customer.leave_to_pay()
    await customer.pay_by()
    order = await shop.order(cart)
    await customer.arrive_in_shop(order["number"])
    assert (await shop.stock(product.id), await shop.charges()) == (0, charged + 1)


async def test_a_challenge_refused_is_a_payment_declined(shop: RunningShop, customer: Customer) -> None:
    cart = await shop.hand_over({"product_id": (await shop.product()).id, "quantity": 1})
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.pay_by(CHALLENGE_CARD)
    await customer.page.wait_for_url("**/challenge*")
    await customer.page.click("button[value=refuse]")
    await customer.arrive_at_outcome()
    assert await customer.h1() == "Your bank could not be sure that it was you"
    assert await shop.orders(cart) == []
    await shop.check_ledger()
