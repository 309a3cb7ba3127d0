"""Customers who do not come straight back: they give up, run out of time, close the page, or never return."""

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.running_shop import Json, RunningShop
from tests.fixtures.shop import CHALLENGE_CARD
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

LATE_CARD = "4970109000001104"
LINK_LIFE = 15.0
"""Minutes."""


async def one_left(shop: RunningShop, return_url: str = "") -> tuple[int, Json]:
    """A product of which one is left, and a cart with it."""
    product = await shop.product("20.00", stock=1)
    return product.id, await shop.hand_over({"product_id": product.id, "quantity": 1}, return_url=return_url)


async def test_given_up_at_the_provider_and_paid_after_all(shop: RunningShop, customer: Customer) -> None:
    product, cart = await one_left(shop, shop.home)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    assert await shop.stock(product) == 0, "it is held"
    await customer.page.click("form[action*=cancel] button")
    await customer.arrive_at_outcome()
    assert await customer.h1() == "You left before paying"
    assert (await shop.orders(cart), await shop.stock(product)) == ([], 1)
    await customer.page.click("main a.main")
    await customer.arrive("payment")
    await customer.leave_to_pay()
    await customer.pay_by()
    order = await shop.order(cart)
    await customer.arrive_in_shop(order["number"])


async def test_abandoned_at_the_provider(shop: RunningShop, customer: Customer, new_customer: NewCustomer) -> None:
    product, cart = await one_left(shop)
    charged = await shop.charges()
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.page.close()
    other = await (await new_customer()).open(cart)
    assert "It is held for a payment of this basket" in await other.read_text(), "what is held can't be sold twice"
    await shop.pass_time(minutes=LINK_LIFE, seconds=1)
    await shop.until(lambda: _back_in_stock(shop, product))
    assert (await shop.state(cart), await shop.orders(cart), await shop.charges()) == ("failed", [], charged)
    back = await customer.another_tab()
    await back.page.goto(f"http://{shop.domain}/ecommerce/shop/payment/?cart={cart['id']}")
    assert "The time to pay ran out" in await back.notes()
    await back.leave_to_pay()
    await back.pay_by()
    await back.arrive("order")
    await shop.order(cart)
    await shop.check_ledger()


async def _back_in_stock(shop: RunningShop, product_id: int) -> bool:
    return await shop.stock(product_id) == 1


async def test_the_providers_page_after_its_time(shop: RunningShop, customer: Customer) -> None:
    _, cart = await one_left(shop)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await shop.pass_time(minutes=LINK_LIFE, seconds=1)
    await customer.page.click(f'#cards a[href*="{CHALLENGE_CARD}"]')
    await customer.page.click("main a.main")
    await customer.arrive_at_outcome()
    assert await customer.h1() == "The time to pay ran out"
    assert await shop.orders(cart) == []


async def test_paid_but_never_came_back(shop: RunningShop, customer: Customer) -> None:
    product, cart = await one_left(shop, shop.home)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.page.route("**/payment/return/**", lambda route: route.abort())
    await customer.pay_by()
    order = await shop.order(cart)
    assert (order["cardTotal"], await shop.stock(product)) == ({"amount": "20.00"}, 0)
    await customer.page.unroute("**/payment/return/**")
    await customer.open(cart)
    await customer.arrive_in_shop(order["number"])


async def test_paid_by_a_bank_that_takes_its_time(shop: RunningShop, customer: Customer) -> None:
    _, cart = await one_left(shop)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.pay_by(LATE_CARD)
    await customer.arrive_at_outcome()
    assert await customer.h1() == "We are checking your payment"
    assert await shop.orders(cart) == []
    await shop.pass_time(seconds=31)
    await customer.arrive("order")
    await shop.order(cart)


async def test_a_payment_begun_can_be_finished_or_given_up(shop: RunningShop, customer: Customer) -> None:
    product, cart = await one_left(shop)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    link = customer.page.url
    await customer.open(cart)
    assert await customer.notes() == ["You have begun to pay"]
    await customer.page.click(".note a.button")
    await customer.arrive_at_provider()
    assert customer.page.url == link, "the same payment goes on"
    await customer.open(cart)
    await customer.page.click(".note form button")
    await customer.page.wait_for_url("**/customization/*")
    assert "You have begun to pay" not in await customer.notes()
    assert (await shop.state(cart), await shop.stock(product)) == ("abandoned", 1)


async def test_paid_after_all_when_given_up_and_gone_is_given_back(
    shop: RunningShop, customer: Customer, new_customer: NewCustomer
) -> None:
    """Two tabs: given up in one, paid in the other, and the last piece sold to somebody else between."""
    product, cart = await one_left(shop)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    first = await customer.another_tab()
    await first.open(cart)
    await first.page.click(".note form button")
    await first.page.wait_for_url("**/customization/*")
    quicker = await new_customer()
    theirs = await shop.hand_over({"product_id": product, "quantity": 1})
    await quicker.come_to_pay(theirs, DeliveryKind.CLICK_AND_COLLECT)
    await quicker.leave_to_pay()
    await quicker.pay_by()
    await quicker.arrive("order")
    await customer.pay_by()
    await customer.arrive_at_outcome()
    assert await customer.h1() == "Your payment is being refunded"
    assert "Amount that goes back: €20.00" in await customer.read_text()
    await shop.until(lambda: _is_refunded(shop, cart))
    assert await shop.orders(cart) == []
    assert len(await shop.orders(theirs)) == 1
    await shop.check_ledger()


async def _is_refunded(shop: RunningShop, cart: Json) -> bool:
    return await shop.state(cart) == "refunded"
