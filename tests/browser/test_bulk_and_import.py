"""Many objects at once and CSV files, in a browser: clicked, with the keyboard, sound on phones and desktops."""

import pytest
from playwright.async_api import FilePayload, expect

from coffret.demo.users import PARTNER_USERS
from tests.browser.conftest import NewCustomer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.browser.test_back_office import log_in, root_of
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

TABLE = "code;value;remainingValue;expiresOn\nMOVE-1;100,00;60,00;31.12.2031\nMOVE-2;{second};;\n"


def csv_file(second: str) -> FilePayload:
    """A file to choose."""
    return FilePayload(name="cards.csv", mimeType="text/csv", buffer=TABLE.format(second=second).encode())


async def test_a_file_of_cards_is_imported_and_they_are_extended(shop: RunningShop, new_customer: NewCustomer) -> None:
    staff = await new_customer()
    page = await log_in(staff, PARTNER_USERS[0])
    await page.goto(f"{root_of(shop)}gift-cards/import/")
    await sound(page, "import")
    await page.set_input_files("#f-file", csv_file("1.000"))
    await page.click("form.change button.main")
    await expect(page.locator("main li.wrong")).to_contain_text("could be one or a thousand")
    await sound(page, "report of a file with a mistake")
    await page.get_by_role("link", name="Choose another file").click()
    await page.set_input_files("#f-file", csv_file("25"))
    await page.click("form.change button.main")
    await page.get_by_role("button", name="Import (2)").click()
    await expect(page.get_by_role("status")).to_contain_text("2 are imported.")
    await page.goto(f"{root_of(shop)}gift-cards/")
    all_of_page = page.locator("#bulk [name=all][value='1']")  # a longer list has another box, for all of it
    await Keyboard(staff).press(all_of_page, "Space")
    boxes = page.locator(".pick input")
    assert await page.locator(".pick input:checked").count() == await boxes.count() > 2
    await boxes.first.uncheck()
    await expect(all_of_page).not_to_be_checked()
    await page.select_option("#bulk-action", "extend-gift-card")
    await page.click("#bulk button")
    await page.fill("#f-expiresOn", "2034-01-01T00:00")
    await sound(page, "form for many")
    await page.click("form.change button.main")
    await expect(page.locator("main")).to_contain_text("Nothing has changed yet.")
    await sound(page, "preview")
    await page.click("form.change .does button")
    await expect(page.get_by_role("status")).to_contain_text("done")
    await sound(page, "result")
