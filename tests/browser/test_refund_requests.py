"""Withdrawing from the contract on the page of an order: sound on a desktop and on small phones, with the keyboard."""

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import GOOD_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("width", [1280, 390, 320])
async def test_a_buyer_withdraws(shop: RunningShop, new_customer: NewCustomer, width: int) -> None:
    customer = await new_customer(width)
    soap = await shop.demo_product("Trio of garden soaps")
    await customer.come_to_pay(await shop.hand_over({"product_id": soap, "quantity": 2}), DeliveryKind.HOME_DELIVERY)
    await customer.leave_to_pay()
    await customer.pay_by(GOOD_CARD)
    await customer.arrive("order")
    page = customer.page
    await page.get_by_role("link", name="Model withdrawal form").click()
    await sound(page, f"model form at {width}")
    await page.go_back()
    await page.get_by_role("link", name="Withdraw from contract here").click()
    await sound(page, f"form at {width}")
    await page.get_by_label("Your name").fill("")
    await page.get_by_role("button", name="Continue").click()
    await sound(page, f"form with errors at {width}")
    await page.get_by_label("Your name").fill("Ada Martin")
    await page.get_by_label("Trio of garden soaps").select_option("1")
    await page.get_by_role("button", name="Continue").click()
    await sound(page, f"review at {width}")
    await page.get_by_role("button", name="Confirm withdrawal").click()
    await page.wait_for_url("**#requests")
    assert "We have received it." in await page.locator("#requests").inner_text()
    await sound(page, f"order with a withdrawal at {width}")
    await page.get_by_role("button", name="Take it back").click()
    await page.get_by_text("You have taken it back.").wait_for()
