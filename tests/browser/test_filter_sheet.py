"""The filters of the catalogue on a phone: in a sheet that needs no script."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("scripts", [True, False])
async def test_filters_are_in_a_sheet_on_a_phone(
    shop: RunningShop, new_customer: NewCustomer, *, scripts: bool
) -> None:
    page = (await new_customer(390, scripts=scripts)).page
    await page.goto(f"{shop.home}vouchers/shop/?lang=en")
    opener, sheet = page.locator(".open-filters"), page.locator("#filters")
    await expect(sheet).to_be_hidden()
    await opener.focus()
    await page.keyboard.press("Enter")
    await expect(sheet).to_be_visible()
    if scripts:
        await sound(page, "sheet of filters")
    await page.keyboard.press("Tab")
    await expect(sheet.get_by_role("button", name="Close")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(sheet).to_be_hidden()
    await expect(opener).to_be_focused()
    await opener.click()
    await page.select_option("#price", index=1)
    await sheet.get_by_role("button", name="Show").click()
    await expect(opener).to_have_text("Filter and sort11 filter is on")
    await expect(sheet).to_be_hidden()
