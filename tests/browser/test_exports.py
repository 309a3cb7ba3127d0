"""Exports in a browser: asked for, waited for and downloaded, with and without scripts."""

import csv
import re

import pytest
from playwright.async_api import expect

from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.browser.test_back_office import PARTNER_USER, log_in, root_of
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
async def test_a_list_is_downloaded(shop: RunningShop, new_customer: NewCustomer, *, scripts: bool) -> None:
    page = await log_in(await new_customer(scripts=scripts), PARTNER_USER)
    await page.goto(f"{root_of(shop)}gift-cards/?status=PAID")
    await page.locator("main header").get_by_role("link", name="Export").click()
    if scripts:
        await sound(page, "form of an export")
    await page.get_by_label("ID", exact=True).check()
    await page.locator("main").get_by_role("button", name="Export").click()
    link = page.get_by_role("link", name="Download")
    await expect(link).to_be_visible(timeout=30_000)  # the page is loaded again until the worker has written the file
    if scripts:
        await sound(page, "export that is completed")
    async with page.expect_download() as started:
        await link.click()
    file = await (await started.value).path()
    with file.open(encoding="utf-8-sig", newline="") as lines:
        titles, *rows = csv.reader(lines)
    assert titles[:2] == ["Code", "Status"]
    assert titles[-1] == "ID"
    paid = "SELECT count(*) FROM gift_card WHERE partner_id = :id AND status = 'paid'"
    assert len(rows) == await shop.one(paid, id=shop.partner.id)
    assert {row[1] for row in rows} == {"PAID"}


async def test_a_filter_is_saved(shop: RunningShop, new_customer: NewCustomer) -> None:
    page = await log_in(await new_customer(390), PARTNER_USER)
    await page.goto(f"{root_of(shop)}orders/")
    await page.locator(".filters summary").click()
    await page.select_option("#f-fulfilmentState", "TO_PREPARE")
    await page.get_by_role("button", name="Apply").click()
    await page.locator(".filters summary").click()
    await page.get_by_label("Save this filter as").fill("To do today")
    await page.get_by_role("button", name="Save", exact=True).click()
    link = page.get_by_role("navigation", name="Saved filters").get_by_role("link", name="To do today")
    await expect(link).to_have_attribute("aria-current", "true")
    await page.locator(".filters summary").click()
    await sound(page, "list with a saved filter")
    await page.goto(f"{root_of(shop)}orders/")
    await link.click()
    await expect(page).to_have_url(re.compile(r"/admin/orders/\?fulfilmentState=TO_PREPARE(&order=NEWEST)?$"))
    await page.locator(".filters summary").click()
    await page.get_by_role("button", name="Delete").click()
    await expect(link).to_have_count(0)
