"""The first page of the back office in a browser, for each role: figures, charts and their tables."""

import pytest
from playwright.async_api import Page, expect

from coffret.demo.users import MARKETPLACE_USER, MASTER_USER, PARTNER_USERS, PASSWORD
from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def log_in(page: Page, shop: RunningShop, username: str) -> str:
    """Log in; answers the address of the first page."""
    root = f"http://127.0.0.1:{shop.program.port}/admin/"
    await page.goto(root)
    await page.fill("#username", username)
    await page.fill("#password", PASSWORD)
    await page.get_by_role("button", name="Log in", exact=True).click()
    await page.wait_for_url(root)
    return root


@pytest.mark.parametrize("username", [PARTNER_USERS[0], MARKETPLACE_USER, MASTER_USER])
async def test_home_is_sound_with_its_tables_open(shop: RunningShop, new_customer: NewCustomer, username: str) -> None:
    page = (await new_customer()).page
    await log_in(page, shop, username)
    await expect(page.get_by_text("Today", exact=True).first).to_be_visible()
    await page.get_by_text("The numbers as a table").click()
    await expect(page.locator(".figures tbody tr")).to_have_count(30)
    await sound(page, f"home of {username}")
