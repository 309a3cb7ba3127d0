"""What becomes of a cart while its customer is in the checkout, and products that cannot be sold."""

import uuid
from typing import Any

import pytest

from schema.core.text import Text
from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def test_replaced_while_the_customer_is_on_the_way(shop: RunningShop, customer: Customer) -> None:
    old, new = await shop.product("20.00"), await shop.product("33.00")
    cart = await shop.hand_over({"product_id": old.id, "quantity": 1})
    await customer.come_to_pay(cart)
    await shop.hand_over({"product_id": new.id, "quantity": 2}, id=cart["id"])
    await customer.pay_button.click()
    await customer.arrive("customization")
    assert "Your basket has changed" in await customer.notes()
    assert "Total €66.00" in await customer.read_text("aside")
    assert (await shop.state(cart), await shop.orders(cart)) == ("", [])
    await customer.choose_delivery()
    await customer.go_on()
    assert await customer.page.input_value("#email") == "ada@example.com", "who buys need not say so twice"
    await customer.give_details()
    assert await customer.notes() == []
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    order = await shop.order(cart)
    assert [(line["productId"], line["quantity"]) for line in order["products"]] == [(new.id, 2)]


async def test_replaced_after_leaving_to_pay(shop: RunningShop, customer: Customer) -> None:
    old, new = await shop.product("20.00"), await shop.product("33.00")
    cart = await shop.hand_over({"product_id": old.id, "quantity": 1}, return_url=shop.home)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await shop.hand_over({"product_id": new.id, "quantity": 2}, return_url=shop.home, id=cart["id"])
    await customer.pay_by()
    order = await shop.order(cart)
    await customer.arrive_in_shop(order["number"])
    assert [(line["productId"], line["quantity"]) for line in order["products"]] == [(old.id, 1)]
    kept = await shop.http.get(f"/api/v2/ecommerce/cart/{cart['id']}/")
    assert kept.json()["items"][0]["product_id"] == new.id
    await customer.open(cart)
    assert "Total €66.00" in await customer.read_text("aside")


async def test_the_cart_of_an_order_is_gone(shop: RunningShop, customer: Customer, new_customer: NewCustomer) -> None:
    cart = await shop.hand_over({"product_id": (await shop.product()).id, "quantity": 1})
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    assert (await shop.http.get(f"/api/v2/ecommerce/cart/{cart['id']}/")).status_code == 404
    stranger = await (await new_customer()).open(cart)
    assert await stranger.h1() == "This order is complete", "and what it was is told by its link only"
    assert "ada@example.com" not in await stranger.page.content()


async def test_expired_and_the_way_back(shop: RunningShop, customer: Customer) -> None:
    cart = await shop.hand_over({"product_id": (await shop.product()).id, "quantity": 1})
    await customer.come_to_pay(cart)
    await shop.pass_time(hours=2, seconds=1)
    await customer.pay_button.click()
    await customer.page.locator("h1", has_text="This basket has expired").wait_for()
    await customer.page.click("main a.main")
    await customer.page.wait_for_url(shop.home)
    assert await customer.h1() == "Maison Valserène"
    assert await shop.state(cart) == ""


async def test_a_shared_link_shows_products_only(
    shop: RunningShop, customer: Customer, new_customer: NewCustomer
) -> None:
    product = await shop.product("20.00", name=Text(en="Shared candle"))
    cart = await shop.hand_over({"product_id": product.id, "quantity": 3})
    await customer.come_to_pay(cart)
    friend = await (await new_customer()).open(cart)
    assert "Shared candle" in await friend.read_text()
    await friend.page.goto(customer.page.url)
    assert friend.at == "customization"
    for secret in ("Ada", "Martin", "ada@example.com"):
        assert secret not in await friend.page.content()


async def _hand_over_what_cannot_be_sold(shop: RunningShop, foreign: int, scarce: int, good: int) -> Any:
    """A cart of everything that cannot be ordered as it is, and of one good candle."""
    bathrobe = await shop.demo_product("Organic cotton bathrobe")
    candle = await shop.demo_product("Lavender scented candle")
    return await shop.hand_over(
        {"product_id": await shop.demo_product("Ceramic reed diffuser"), "quantity": 1},
        {"product_id": await shop.demo_product("Winter lavender wreath"), "quantity": 1},
        {"product_id": 2**31 - 1, "quantity": 1},
        {"product_id": foreign, "quantity": 1},
        {"product_id": candle, "quantity": 1, "variant_id": 999_999},
        {"product_id": candle, "quantity": 1},
        {"product_id": bathrobe, "quantity": 1, "attribute_values": {"1": "enormous", "2": "ivory"}},
        {"product_id": scarce, "quantity": 3},
        {"product_id": good, "quantity": 1},
    )


PROBLEMS = [
    "This product is sold out. It is left out of your order.",
    "This product is not on sale at the moment. It is left out of your order.",
    "This shop does not sell this product. It is left out of your order.",
    "This shop does not sell this product. It is left out of your order.",
    "This version is no longer on sale: choose another one.",
    "Choose a version of this product.",
    "This option is no longer on offer: choose another one.",
    "Only 2 left: choose a smaller quantity.",
    "",
]
"""What is told of each line."""


async def test_what_cannot_be_sold_is_told_and_left_out(shop: RunningShop, customer: Customer) -> None:
    foreign = await shop.one("SELECT id FROM product WHERE partner_id <> :id LIMIT 1", id=shop.partner.id)
    good = await shop.product("20.00", name=Text(en="Good candle"))
    scarce = await shop.product("9.00", stock=2, name=Text(en="Scarce candle"))
    cart = await _hand_over_what_cannot_be_sold(shop, foreign, scarce.id, good.id)
    await customer.open(cart)
    lines = customer.page.locator(".lines > li")
    said = [" ".join(text.split()) for text in await lines.locator(".problem").all_inner_texts()]
    assert said == PROBLEMS
    name = await shop.one("SELECT name->>'en' FROM product WHERE id = :id", id=foreign)
    assert name not in await customer.read_text(), "what another shop sells is nobody's business here"
    assert "Total from €188.00" in await customer.read_text("aside"), (
        "what can be put right is counted, at the least it costs"
    )
    await customer.choose_delivery()
    await customer.press(customer.button("continue"))
    links = [" ".join(text.split()) for text in await customer.page.locator("#errors li").all_inner_texts()]
    assert links[-1] == "Scarce candle: Only 2 left: choose a smaller quantity."
    assert len(links) == 4
    await customer.page.click("#errors button[value=anyway]")
    await customer.arrive("information")
    await customer.give_details()
    assert "€20.00" in await customer.read_text("aside")
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    order = await shop.order(cart)
    assert [(line["productId"], line["quantity"]) for line in order["products"]] == [(good.id, 1)]


async def test_what_can_be_put_right_is_ordered(shop: RunningShop, customer: Customer) -> None:
    candle = await shop.demo_product("Lavender scented candle")
    cart = await shop.hand_over({"product_id": candle, "quantity": 1, "variant_id": 999_999})
    await customer.open(cart)
    version = customer.page.locator("#line-0-variant")
    chosen = await version.locator("option", has_text="180").get_attribute("value")
    await version.select_option(chosen)
    await customer.page.locator("#line-0 .problem").wait_for(state="hidden")
    assert "Total €26.00" in await customer.read_text("aside")
    await customer.choose_delivery()
    await customer.go_on()
    await customer.give_details()
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    order = await shop.order(cart)
    assert order["products"][0]["variant"]["name"]["en"].startswith("180")


async def test_a_cart_that_never_was(shop: RunningShop, customer: Customer) -> None:
    for cart in (str(uuid.uuid4()), "nothing", ""):
        answer = await customer.page.goto(f"http://{shop.domain}/ecommerce/shop/customization/?cart={cart}")
        assert answer is not None
        assert answer.status == 404
        assert await customer.h1() == "This basket has expired"
