"""Previews in a browser: an object as its customers will see it, the document that its buyer gets, and a code on its paper."""

import pytest
from playwright.async_api import Locator, Page, expect

from coffret.demo.users import MARKETPLACE_USER, PARTNER_USERS
from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.browser.test_back_office import log_in
from tests.browser.test_back_office_forms import EACH_WAY, first_row
from tests.servers.chromium import fits, needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

IN_THE_SHOP, OF_HOLDERS = "Preview in the shop", "Preview for holders of vouchers"


async def is_drawn(picture: Locator) -> None:
    """A picture has arrived."""
    await picture.scroll_into_view_if_needed()
    await expect(picture).to_have_js_property("complete", value=True)
    await expect(picture).to_have_js_property("naturalWidth", 794)


async def look_at(page: Page, what: str, *, scripts: bool) -> None:
    """A page can be read by everybody; axe is a script."""
    await (sound if scripts else fits)(page, what)


@EACH_WAY
async def test_objects_are_seen_as_customers_will(
    shop: RunningShop, new_customer: NewCustomer, *, scripts: bool
) -> None:
    page = await log_in(await new_customer(scripts=scripts), PARTNER_USERS[0])
    for slug, named, in_frame in (
        ("products", IN_THE_SHOP, "ul.lines li"),
        ("voucher-options", IN_THE_SHOP, "ul.extras li, ul.included li"),
        ("gift-card-designs", IN_THE_SHOP, ".design-list .design"),
        ("offers", OF_HOLDERS, "ul.partners li"),
    ):
        await page.goto(await first_row(page, shop, slug))
        await page.get_by_role("link", name=named).click()
        await expect(page.frame_locator("iframe").locator(in_frame)).to_have_count(1)
        await look_at(page, f"preview of {slug}", scripts=scripts)


@EACH_WAY
async def test_a_design_has_its_document_beside_it(
    shop: RunningShop, new_customer: NewCustomer, *, scripts: bool
) -> None:
    page = await log_in(await new_customer(scripts=scripts), PARTNER_USERS[0])
    await page.goto(await first_row(page, shop, "gift-card-designs"))
    await is_drawn(page.get_by_role("img", name="The first page of the document, without a code"))
    await look_at(page, "design with its document", scripts=scripts)


@EACH_WAY
async def test_a_code_is_on_its_document(shop: RunningShop, new_customer: NewCustomer, *, scripts: bool) -> None:
    page = await log_in(await new_customer(scripts=scripts), MARKETPLACE_USER)
    await page.goto(f"{await first_row(page, shop, 'network-gift-cards')}reveal-network-gift-card-code/")
    await page.locator("form.change button").last.click()
    await is_drawn(page.get_by_role("img", name="The first page of the document with this code"))
    await look_at(page, "code with its document", scripts=scripts)
