"""Goods of a shop with presents: added in the checkout, or taken along from the basket; one order."""

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.customer import ADDRESS
from tests.browser.running_shop import RunningShop
from tests.browser.test_three_presents import Walk
from tests.fixtures.shop import GOOD_CARD
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize(
    ("width", "language", "scripts"),
    [(390, "it-IT", True), (320, "nl-NL", False), (1280, "en-GB", True)],
    ids=["phone", "phone-without-scripts", "desktop"],
)
async def test_goods_and_presents(
    shop: RunningShop, new_customer: NewCustomer, width: int, language: str, scripts: bool
) -> None:
    candle = await shop.product("20.00")
    cart = await shop.hand_over({"product_id": candle.id, "quantity": 1})
    walk = Walk(await new_customer(width, language, scripts=scripts), shop, scripts)
    await walk.next_card("100.00")
    await walk.give("Paul Langevin", "For the journey.")
    await walk.page.check("#reception-print_at_home")
    await walk.customer.press(walk.customer.button("continue"))
    await walk.customer.open(cart)
    await walk.look("cart beside a basket")
    await walk.customer.press(walk.page.locator("button[value=take]"))
    assert await walk.page.locator("[id^=gift-]").count() == 1
    await walk.begin()
    await walk.give("Marie Curie", "Enjoy!")
    await walk.page.check(f"#reception-expedition-{shop.modes[DeliveryKind.HOME_DELIVERY]}")
    await walk.look("present beside goods")
    await walk.customer.press(walk.customer.button("continue"))
    assert walk.customer.at == "customization", "back at the cart"
    assert await walk.page.locator("[id^=gift-]").count() == 2
    await walk.page.check(f"#delivery-{shop.modes[DeliveryKind.HOME_DELIVERY]}")
    await walk.look("cart with presents")
    await walk.customer.go_on()
    await walk.customer.give_details(**ADDRESS)
    await walk.look("payment of goods and presents")
    await walk.customer.leave_to_pay()
    await walk.customer.pay_by(GOOD_CARD)
    await walk.customer.arrive("order")
    await walk.look("order of goods and presents")
    order = await shop.order(cart)
    assert [line["productId"] for line in order["products"]] == [candle.id, None, None]
    await walk.customer.open(cart)
    assert await walk.page.locator("button[value=take]").count() == 0
