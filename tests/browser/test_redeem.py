"""Staff at a venue, on a phone: from a scanned code through the log-in to what it is good for, used and taken back."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright

from coffret.demo.users import MASTER_USER, PASSWORD
from funnel.core.languages import translations
from funnel.core.static_files import PREFIX
from schema.core.text import Text
from tests.browser.camera import film_of
from tests.browser.conftest import NewCustomer, customers
from tests.browser.customer import Customer
from tests.browser.running_shop import RunningShop
from tests.funnel.redemption.fixtures import LOG_IN, ROOT
from tests.funnel.redemption.network import box_of, link, network_card, network_voucher, offer_of
from tests.servers.chromium import launched, needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

PHONE, DESKTOP = 390, 1280
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


async def some_code(shop: RunningShop, table: str, status: str) -> str:
    """The code of a demo voucher or gift card that can be used, and has not been."""
    wanted = f"{status} = 'paid' AND (expires_on IS NULL OR expires_on > now() + interval '1 day')"
    newest = f"SELECT normal_code FROM {table} WHERE partner_id = :id AND {wanted} ORDER BY id DESC LIMIT 1"  # noqa: S608
    return str(await shop.one(newest, id=shop.partner.id))


@dataclass
class Shift:
    """Somebody at the venue, in a language, with scripts or without; with them each page is also looked at for accessibility."""

    staff: Customer
    language: str
    scripts: bool
    origin: str

    @property
    def page(self) -> Page:
        """What is on the screen."""
        return self.staff.page

    def translate(self, text: str) -> str:
        """A text in the language of the browser."""
        return translations(self.language[:2]).gettext(text)

    async def looked_at(self, name: str) -> None:
        """The page is sound, by day and by night."""
        if not self.scripts:
            return
        await sound(self.page, name)

    async def press(self, what: str, text: str) -> None:
        """Press something in the middle of the page by its text."""
        await self.staff.press(self.page.locator(f"main {what}", has_text=self.translate(text)))

    async def is_as_wide_as_the_fields(self, button: str, width: int) -> None:
        """A button fills its form in a window of a width, which is then what it was before."""
        before = self.page.viewport_size
        assert before is not None
        await self.page.set_viewport_size({"width": width, "height": before["height"]})
        pressed, typed = [await self.page.locator(each).first.bounding_box() for each in (button, "main input:visible")]
        assert pressed is not None
        assert typed is not None
        assert abs(pressed["width"] - typed["width"]) < 1, (pressed, typed)
        await self.page.set_viewport_size(before)

    async def logs_in(self, code: str) -> None:
        """From the address of a code through the log-in to what the code is of."""
        await self.page.goto(f"{self.origin}{ROOT}?code={code}")
        assert self.page.url == f"{self.origin}{LOG_IN}?code={code}"
        await self.looked_at("redeem log-in")
        await self.is_as_wide_as_the_fields("main button.main", DESKTOP)
        await self.page.fill("#username", MASTER_USER)
        await self.page.fill("#password", PASSWORD)
        await self.staff.press(self.page.locator("main button.main"))
        assert self.page.url == f"{self.origin}{ROOT}?code={code}"
        await self.looked_at("redeem voucher")

    async def uses_the_voucher_and_brings_it_back(self) -> None:
        """Mark as used, undo."""
        await self.press("button", "Mark as used")
        assert await self.staff.notes() == [self.translate("It is marked as used.")]
        await self.looked_at("redeem voucher used")
        await self.press("button", "Undo: not used yet")
        assert await self.staff.notes() == [self.translate("It counts as not used again.")]

    async def comes_to_another_code(self, code: str) -> None:
        """Scan it, or type it where there are no scripts."""
        await self.press("a", "Another code")
        await self.looked_at("redeem code")
        if self.scripts:
            await self.page.evaluate("code => localStorage.shown = code", code)
            await self.staff.press(self.page.locator("#scan"))
        else:
            assert await self.page.locator("#scan").is_hidden()
            await self.page.fill("#code", code)
            await self.staff.press(self.page.locator("main button.main"))

    async def takes_from_the_card_and_puts_it_back(self) -> None:
        """Take an amount, put it back; ask for all of it, and do not take that."""
        await self.looked_at("redeem gift card")
        await self.staff.press(self.page.locator("main button[name=ask]"))
        await self.looked_at("redeem all of a gift card")
        await self.press("a", "No, go back")
        await self.page.fill("#amount", "1.50")
        await self.staff.press(self.page.locator("main button.main"))
        assert len(await self.staff.notes()) == 1
        await self.looked_at("redeem gift card taken")
        await self.press("a", "Another code")
        await self.looked_at("redeem uses of today")
        assert self.translate("Gift card") in await self.page.locator(".taken li").first.inner_text()
        await self.press(".taken button", "Put back")
        assert await self.staff.notes() == [self.translate("The use is undone.")]
        assert self.translate("put back") in await self.page.locator(".taken li").first.inner_text()

    async def takes_from_a_card_of_the_network(self, code: str) -> None:
        """Take an amount typed with a comma, put it back."""
        await self.page.goto(f"{self.origin}{ROOT}?code={code}")
        await self.looked_at("redeem network gift card")
        await self.press("button", "Take it off the card")
        await self.looked_at("redeem network gift card without an amount")
        await self.page.fill("#amount", "1,50")
        await self.page.fill("#reference", "Table 7")
        await self.staff.press(self.page.locator("main button.main"))
        assert len(await self.staff.notes()) == 1
        await self.looked_at("redeem network gift card taken")
        await self.press(".taken button", "Put back")
        assert await self.page.locator(".taken button").count() == 0

    async def uses_a_voucher_of_the_network(self, code: str) -> None:
        """Choose one of the offers, undo the use."""
        await self.page.goto(f"{self.origin}{ROOT}?code={code}")
        await self.looked_at("redeem network voucher")
        await self.press("button", "Use it once")
        await self.looked_at("redeem network voucher without an offer")
        await self.page.locator(".choice input").nth(1).check()
        await self.press("button", "Use it once")
        assert (await self.staff.notes())[0] == self.translate("It is marked as used.")
        await self.looked_at("redeem network voucher used")
        await self.press(".taken button", "Undo")
        assert (await self.staff.notes())[0] == self.translate("The use is undone.")

    async def logs_out(self) -> None:
        """Nothing is shown any more."""
        await self.staff.press(self.page.locator(".who button"))
        assert self.page.url == f"{self.origin}{LOG_IN}"
        if self.scripts:
            await self.page.goto(f"{self.origin}{ROOT}?code=2222")
            assert self.page.url == f"{self.origin}{LOG_IN}?code=2222"


@pytest_asyncio.fixture(loop_scope="session")
async def of_network(shop: RunningShop) -> AsyncIterator[tuple[str, str]]:
    """The codes of a gift card and a voucher of the shop's network, in which it takes part for as long."""
    await link(shop)
    box = await box_of(shop, max_usages=3, max_days_after_first_usage=90)
    for name, about in (("A massage", "Fifty minutes, with oils of the region."), ("A dinner", "Three courses.")):
        await offer_of(shop, box, name, description=Text(en=about))
    voucher = await network_voucher(shop, box)
    yield (await network_card(shop)).normal_code, voucher.normal_code
    await link(shop, linked=False)


async def test_what_is_of_the_network(
    shop: RunningShop, new_customer: NewCustomer, of_network: tuple[str, str]
) -> None:
    """Take from a gift card of the network and put it back, use a voucher and undo that; with and without scripts."""
    card, voucher = of_network
    for language, scripts in (("en-GB", True), ("de-DE", False)):
        staff = await new_customer(PHONE, language, scripts=scripts)
        shift = Shift(staff, language, scripts, f"http://{shop.domain}")
        await shift.logs_in(card)
        await shift.takes_from_a_card_of_the_network(card)
        await shift.uses_a_voucher_of_the_network(voucher)
        await shift.logs_out()


async def test_a_shift_at_the_venue(shop: RunningShop, new_customer: NewCustomer) -> None:
    """Log in, use a voucher and bring it back, take from a gift card and put it back; in two languages, with and without scripts."""
    voucher, card = await some_code(shop, "voucher", "state"), await some_code(shop, "gift_card", "status")
    origin = f"http://{shop.domain}"
    for language, scripts in (("en-GB", True), ("de-DE", False)):
        staff = await new_customer(PHONE, language, scripts=scripts)
        await staff.page.add_init_script(SCANNER)
        shift = Shift(staff, language, scripts, origin)
        await shift.logs_in(voucher)
        await shift.uses_the_voucher_and_brings_it_back()
        await shift.comes_to_another_code(card)
        await shift.takes_from_the_card_and_puts_it_back()
        await shift.logs_out()
    assert not [url for url in staff.watch.requested if not url.startswith(origin)]


async def test_a_phone_that_cannot_read_codes_gets_a_decoder(shop: RunningShop, tmp_path: Path) -> None:
    """Of Safari and Firefox, which have no `BarcodeDetector`: it comes from the shop's own host, once the camera is asked for."""
    code, origin = await some_code(shop, "voucher", "state"), f"http://{shop.domain}"
    camera = film_of(f"https://shop.example{ROOT}?code={code}", tmp_path / "camera.y4m")
    async with (
        async_playwright() as playwright,
        await launched(playwright, *camera) as browser,
        customers(shop, browser) as new,
    ):
        staff = await new(PHONE)
        await staff.page.add_init_script("delete globalThis.BarcodeDetector")
        shift = Shift(staff, "en-GB", scripts=True, origin=origin)
        await shift.logs_in(code)
        await shift.press("a", "Another code")

        def decoders() -> list[str]:
            return [url for url in staff.watch.requested if urlsplit(url).path.startswith(f"{PREFIX}qr-decoder.")]

        assert decoders() == []
        await staff.page.locator("#scan").click()
        await staff.page.wait_for_url(f"{origin}{ROOT}?code={code}")
        assert await staff.page.locator(".verdict.good").is_visible()
        assert len(decoders()) == 1
        assert not [url for url in staff.watch.requested if not url.startswith(origin)]


async def test_a_phone_without_a_camera_is_told_to_type(shop: RunningShop, new_customer: NewCustomer) -> None:
    """The message is read out, and the button is there again."""
    staff = await new_customer(PHONE)
    shift = Shift(staff, "en-GB", scripts=True, origin=f"http://{shop.domain}")
    await shift.logs_in(await some_code(shop, "voucher", "state"))
    await shift.press("a", "Another code")
    await staff.page.locator("#scan").click()
    await staff.page.locator("#no-camera:visible").wait_for()
    assert await staff.page.locator("#scan").is_enabled()
    assert await staff.page.locator("#camera").is_hidden()
    await shift.looked_at("redeem without a camera")
