"""However often it is pressed, reloaded, gone back to or opened twice: one order, one charge."""

import asyncio

import pytest

from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.running_shop import Json, RunningShop
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def cart_of_one(shop: RunningShop) -> Json:
    """A cart with one of a product of which there are plenty."""
    return await shop.hand_over({"product_id": (await shop.product("20.00", stock=9)).id, "quantity": 1})


async def attempts(shop: RunningShop, cart: Json) -> int:
    """How many payments were begun for a cart."""
    return int(await shop.one("SELECT count(*) FROM checkout_attempt WHERE cart_id = :cart", cart=cart["id"]))


@pytest.mark.parametrize("scripts", [True, False])
async def test_a_double_click(shop: RunningShop, new_customer: NewCustomer, scripts: bool) -> None:
    customer, cart, charged = await new_customer(scripts=scripts), await cart_of_one(shop), await shop.charges()
    await customer.come_to_pay(cart)
    await customer.pay_button.dblclick()
    await customer.arrive_at_provider()
    assert await attempts(shop, cart) == 1
    await customer.page.click('#cards a[href*="4970107111111119"]')
    await customer.reach("**card=*")
    await customer.page.dblclick("form#card button.main")
    await customer.arrive("order")
    await shop.order(cart)
    assert await shop.charges() == charged + 1


async def test_two_tabs_press_pay_and_both_pay(shop: RunningShop, customer: Customer) -> None:
    cart, charged = await cart_of_one(shop), await shop.charges()
    await customer.come_to_pay(cart)
    other = await customer.another_tab()
    await other.page.goto(customer.page.url)
    await asyncio.gather(customer.leave_to_pay(), other.leave_to_pay())
    assert customer.page.url == other.page.url, "one payment"
    await customer.pay_by()
    await customer.arrive("order")
    await other.page.reload()
    assert await other.h1() == "This payment is done"
    await other.page.click("main a.main")
    await other.arrive("order")
    assert await other.read_text(".number") == await customer.read_text(".number")
    await shop.order(cart)
    assert (await attempts(shop, cart), await shop.charges()) == (1, charged + 1)


async def test_two_tabs_with_another_choice_each(shop: RunningShop, customer: Customer) -> None:
    """The second tab changes the order: what the first one shows is no longer what would be paid."""
    cart, charged = await cart_of_one(shop), await shop.charges()
    await customer.come_to_pay(cart)
    other = await (await customer.another_tab()).open(cart)
    await other.page.fill("#line-0-quantity", "2")
    await other.go_on()
    await customer.pay_button.click()
    await customer.page.locator(".note", has_text="Your order has changed since you saw it").wait_for()
    assert await attempts(shop, cart) == 0
    assert "€40.00" in await customer.read_text("aside")
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    order = await shop.order(cart)
    assert (order["total"], await shop.charges()) == ({"amount": "40.00"}, charged + 1)


async def test_back_and_reload_after_the_order(shop: RunningShop, customer: Customer) -> None:
    cart, charged = await cart_of_one(shop), await shop.charges()
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    number = await customer.read_text(".number")
    await customer.page.reload()
    assert await customer.read_text(".number") == number
    await customer.page.go_back()
    assert await customer.h1() == "This payment is done"
    for step in ("payment", "information", "customization"):
        await customer.page.goto(f"http://{shop.domain}/ecommerce/shop/{step}/?cart={cart['id']}")
        assert customer.at == "order"
        assert await customer.read_text(".number") == number
    await shop.order(cart)
    assert (await attempts(shop, cart), await shop.charges()) == (1, charged + 1)


async def test_back_from_the_provider_and_pressed_again(shop: RunningShop, customer: Customer) -> None:
    cart, charged = await cart_of_one(shop), await shop.charges()
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    link = customer.page.url
    await customer.page.goto(f"http://{shop.domain}/ecommerce/shop/payment/?cart={cart['id']}")
    await customer.leave_to_pay()
    assert customer.page.url == link
    await customer.page.go_back()
    await customer.page.wait_for_load_state()
    if customer.at == "payment":
        await customer.pay_button.click()
    await customer.arrive_at_provider()
    await customer.pay_by()
    await customer.arrive("order")
    await shop.order(cart)
    assert (await attempts(shop, cart), await shop.charges()) == (1, charged + 1)


async def test_an_order_confirmed_twice_without_a_card(shop: RunningShop, customer: Customer) -> None:
    cart, card = await cart_of_one(shop), await shop.gift_card("50.00")
    await customer.come_to_pay(cart)
    await customer.use(card.code)
    other = await customer.another_tab()
    await other.page.goto(customer.page.url)
    await asyncio.gather(customer.pay_button.click(), other.pay_button.click())
    await asyncio.gather(customer.arrive("order"), other.arrive("order"))
    await shop.order(cart)
    assert str(await shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id)) == "30.00"
