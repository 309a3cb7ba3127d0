"""Staff at a venue, on a phone: from a scanned code through the log-in to what it is good for, used and taken back."""

import pytest

from funnel.languages import translations
from store.demo.seed import MASTER_USER, PASSWORD
from tests.browser.conftest import NewCustomer
from tests.browser.world import World
from tests.chromium import needs_chromium, sound
from tests.funnel.redeem_world import LOG_IN, ROOT

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

PHONE = 390
SCANNER = """
globalThis.BarcodeDetector = class {
  static async getSupportedFormats() { return ["qr_code"]; }
  async detect() { return [{ rawValue: `${location.origin}/redeem/?code=${localStorage.shown}` }]; }
};
navigator.mediaDevices.getUserMedia = async () => {
  const paper = document.createElement("canvas");
  paper.getContext("2d").fillRect(0, 0, 9, 9);
  return paper.captureStream(5);
};
"""
"""A camera, and somebody who reads codes in what it sees: Chromium has neither here."""


async def some_code(world: World, table: str, status: str) -> str:
    """The code of a demo voucher or gift card that can be used, and has not been."""
    wanted = f"{status} = 'paid' AND (expires_on IS NULL OR expires_on > now() + interval '1 day')"
    newest = f"SELECT normal_code FROM {table} WHERE partner_id = :id AND {wanted} ORDER BY id DESC LIMIT 1"  # noqa: S608
    return str(await world.one(newest, id=world.partner.id))


async def test_a_shift_at_the_venue(world: World, new_customer: NewCustomer) -> None:
    """Log in, use a voucher and bring it back, take from a gift card and put it back; in two languages, with and without scripts."""
    voucher, card = await some_code(world, "voucher", "state"), await some_code(world, "gift_card", "status")
    for language, scripts in (("en-GB", True), ("de-DE", False)):
        staff = await new_customer(PHONE, language, scripts=scripts)
        page, said = staff.page, translations(language[:2]).gettext
        origin = f"http://{world.domain}"
        await page.add_init_script(SCANNER)
        await page.goto(f"{origin}{ROOT}?code={voucher}")
        assert page.url == f"{origin}{LOG_IN}?code={voucher}"
        if scripts:
            await sound(page, "redeem log-in")
        await page.fill("#username", MASTER_USER)
        await page.fill("#password", PASSWORD)
        await staff.press(page.locator("main button.main"))
        assert page.url == f"{origin}{ROOT}?code={voucher}"
        if scripts:
            await sound(page, "redeem voucher")
        await staff.press(page.locator("main button", has_text=said("Mark as used")))
        assert await staff.notes() == [said("It is marked as used.")]
        if scripts:
            await sound(page, "redeem voucher used")
        await staff.press(page.locator("main button", has_text=said("Undo: not used yet")))
        assert await staff.notes() == [said("It counts as not used again.")]
        await staff.press(page.locator("main a", has_text=said("Another code")))
        if scripts:
            await sound(page, "redeem code")
        if scripts:
            await page.evaluate("code => localStorage.shown = code", card)
            await staff.press(page.locator("#scan"))
        else:
            assert await page.locator("#scan").is_hidden()
            await page.fill("#code", card)
            await staff.press(page.locator("main button.main"))
        if scripts:
            await sound(page, "redeem gift card")
        await page.fill("#amount", "1.50")
        await staff.press(page.locator("main button.main"))
        assert len(await staff.notes()) == 1
        if scripts:
            await sound(page, "redeem gift card taken")
        await staff.press(page.locator("main button", has_text=said("Put back")))
        assert await page.locator(".taken button").count() == 0
        await staff.press(page.locator(".who button"))
        assert page.url == f"{origin}{LOG_IN}"
        if scripts:
            await page.goto(f"{origin}{ROOT}?code=2222")
            assert page.url == f"{origin}{LOG_IN}?code=2222"
    assert not [url for url in staff.watch.requested if not url.startswith(origin)]
