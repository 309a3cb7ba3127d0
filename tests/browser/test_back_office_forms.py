"""Forms of the back office in a browser: languages side by side, pictures to choose, a look beside its preview."""

import pytest
from playwright.async_api import Page, expect

from coffret.demo.users import MARKETPLACE_USER, PARTNER_USERS
from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.browser.test_back_office import log_in, root_of
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

EACH_WAY = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


async def first_row(page: Page, shop: RunningShop, slug: str) -> str:
    """The address of the first object of a list."""
    await page.goto(f"{root_of(shop)}{slug}/")
    href = await page.locator("main tbody th a").first.get_attribute("href")
    return f"{root_of(shop).removesuffix('/admin/')}{href}"


@EACH_WAY
async def test_languages_are_side_by_side(shop: RunningShop, new_customer: NewCustomer, *, scripts: bool) -> None:
    page = await log_in(await new_customer(scripts=scripts), PARTNER_USERS[0])
    form = f"{await first_row(page, shop, 'voucher-prototypes')}update-voucher-prototype/"
    await page.goto(form)
    main = await page.locator("form.change").get_attribute("data-main")
    await page.get_by_role("radio", name="Deutsch").check()
    await expect(page.locator("#f-name-de")).to_be_visible()
    await expect(page.locator(f"#f-name-{main}")).to_be_visible()
    await expect(page.locator("#f-name-nl")).to_be_hidden()
    before = await page.locator("#f-name-de").input_value()
    await page.locator("#f-name-de").fill("Eine Nacht im Test")
    await page.get_by_role("radio", name="Nederlands").check()
    await expect(page.locator("#f-name-de")).to_be_hidden()
    if scripts:
        await sound(page, "form in two languages")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_have_text("Done: Edit")
    await page.goto(form)
    await expect(page.get_by_role("radio", name="Nederlands")).to_be_checked()
    await page.get_by_role("radio", name="All languages").check()
    await expect(page.locator("#f-name-de")).to_have_value("Eine Nacht im Test")
    await page.locator("#f-name-de").fill(before)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_have_text("Done: Edit")


@EACH_WAY
async def test_a_look_is_seen_before_it_is_saved(
    shop: RunningShop, new_customer: NewCustomer, *, scripts: bool
) -> None:
    page = await log_in(await new_customer(scripts=scripts), MARKETPLACE_USER)
    partner = await first_row(page, shop, "partners")
    await page.goto(f"{partner}update-partner-look/")
    heading = page.frame_locator("iframe").locator("h1")
    main = await page.locator("form.change").get_attribute("data-main")
    await expect(heading).to_be_visible()
    if scripts:
        await sound(page, "look with a preview")
    await page.locator(f"#f-startPage-headline-{main}").fill("Only to look at")
    await page.locator("#f-theme-pageTint").fill("#fbf6ef")
    if not scripts:
        await page.get_by_role("button", name="Show what is typed").click()
    await expect(heading).to_have_text("Only to look at")
    colour = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
    assert await page.frames[1].evaluate(colour) == "#fbf6ef"
    await page.locator("#f-theme-pageTint").fill("#777777")
    await page.get_by_role("button", name="Show what is typed").click()
    await expect(page.frame_locator("iframe").get_by_role("alert")).to_contain_text("hard to read")
    await page.locator("#f-theme-pageTint").fill("")
    await page.goto(partner)
    await expect(page.get_by_text("Only to look at")).to_have_count(0)
    if scripts:
        await sound(page, "partner with its next steps")
    await page.get_by_role("link", name="Preview in the shop").click()
    await expect(page.frame_locator("iframe").locator("h1")).to_be_visible()
    if scripts:
        await sound(page, "preview of a shop")
