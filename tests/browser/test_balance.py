"""What is left of a gift card, and the hint at a mistyped address: on a phone and a desktop."""

import pytest

from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("width", [320, 390, 1280])
async def test_a_customer_asks_what_is_left(shop: RunningShop, new_customer: NewCustomer, width: int) -> None:
    customer = await new_customer(width)
    page = customer.page
    code = await shop.one(
        "SELECT code FROM gift_card WHERE partner_id = :id AND status = 'paid' AND expires_on > now() LIMIT 1",
        id=shop.partner.id,
    )
    home = shop.home.partition("/ecommerce")[0].rstrip("/")
    await page.goto(f"{home}/balance/")
    await sound(page, "balance")
    await page.fill("#code", "ABC")
    await page.get_by_role("button", name="Show what is left").click()
    await page.locator("#code[aria-invalid]").wait_for()
    await sound(page, "balance with an error")
    await page.fill("#code", code)
    await page.get_by_role("button", name="Show what is left").click()
    await page.get_by_role("heading", name="Gift card").wait_for()
    assert code not in page.url
    assert "It can be used" in await page.locator("main").inner_text()
    await sound(page, "balance found")
    await page.goto(f"{home}/orders/")
    await page.fill("#email", "ann@gmial.com")
    await page.fill("#number", "1")
    await page.keyboard.press("Enter")
    hint = page.get_by_role("button", name="Did you mean ann@gmail.com?")
    await hint.wait_for()
    await sound(page, "hint")
    await hint.click()
    await hint.wait_for(state="detached")
    assert await page.input_value("#email") == "ann@gmail.com"
