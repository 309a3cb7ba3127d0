"""Three presents for three people in one order, each in its own way, and what its page does for them afterwards."""

import datetime as dt
from dataclasses import dataclass

import httpx
import pytest
from icalendar import Calendar
from playwright.async_api import Locator, Page

from schema.delivery.delivery import DeliveryKind
from store.core.clock import clock
from tests.browser.conftest import NewCustomer
from tests.browser.customer import ADDRESS, Customer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import GOOD_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

SHIFTS = """() => new Promise(found => {
  let shifted = 0;
  const add = list => { for (const each of list.getEntries()) if (!each.hadRecentInput) shifted += each.value; };
  new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true});
  requestAnimationFrame(() => requestAnimationFrame(() => found(shifted)));
})"""

STILL = 0.001
"""A font that comes late on a busy machine moves a word by a pixel; a line that moves counts ten times as much."""


@dataclass
class Walk:
    """A customer on the way, who looks at each page."""

    customer: Customer
    shop: RunningShop
    scripts: bool

    @property
    def page(self) -> Page:
        return self.customer.page

    async def look(self, name: str) -> None:
        """The page stands still as it loads, and is sound. Without scripts nothing can be asked of it."""
        if not self.scripts:
            return
        assert await self.page.evaluate(SHIFTS) < STILL, f"{name} moves: {self.page.url}"
        await sound(self.page, name)

    async def begin(self) -> str:
        """The first experience of the catalogue, in the basket; its name."""
        await self.page.goto(f"{self.shop.home}vouchers/shop/")
        await self.customer.press(self.page.locator("ul.experiences h2 a").first)
        await self.look("experience")
        name = await self.customer.h1()
        await self.customer.press(self.page.locator('main button[value="begin"]:visible').first)
        await self.customer.press(self.customer.button("continue"))
        return name

    async def give(self, name: str, message: str) -> None:
        await self.page.fill("#giftee-name", name)
        await self.page.fill("#message", message)

    async def mail(self, to: str, day: dt.date) -> None:
        await self.page.check("#reception-giftee_email")
        await self.page.fill("#giftee-email", to)
        await self.page.fill("#send_on", day.isoformat())
        await self.page.fill("#send_at", "18:30")

    async def next_card(self, value: str) -> None:
        """To the gift card after this line."""
        await self.page.goto(f"{self.shop.home}giftcards/shop/")
        await self.page.check(f'[name="value"][value="{value}"]')
        await self.customer.press(self.customer.button("continue"))

    async def keep(self) -> None:
        """Keep the line, and see the list of all of them."""
        await self.customer.press(self.customer.button("continue"))
        assert self.customer.at == "information", await self.customer.read_text()
        await self.page.goto(f"{self.shop.home}shop/customization/")


@pytest.mark.parametrize(
    ("width", "language", "scripts"),
    [(390, "fr-FR", True), (320, "de-DE", False), (1280, "en-GB", True)],
    ids=["phone", "phone-without-scripts", "desktop"],
)
async def test_three_presents_for_three_people(
    shop: RunningShop, new_customer: NewCustomer, width: int, language: str, scripts: bool
) -> None:
    walk = Walk(await new_customer(width, language, scripts=scripts), shop, scripts)
    day = (clock.now() + dt.timedelta(days=20)).date()
    name = await walk.begin()
    await walk.give("Marie Curie", "Enjoy!")
    await walk.mail("marie@example.com", day)
    await walk.look("first present")
    await walk.keep()
    await walk.next_card("50.00")
    await walk.give("Paul Langevin", "For the journey.")
    await walk.page.check("#reception-print_at_home")
    await walk.look("second present")
    await walk.keep()
    await walk.next_card("100.00")
    await walk.page.check("#for-self")
    await walk.page.check(f"#reception-expedition-{shop.modes[DeliveryKind.HOME_DELIVERY]}")
    await walk.page.select_option("#country", "FR")
    await walk.keep()
    await walk.look("three presents")
    assert await walk.page.locator(".lines > li").count() == 3
    assert await walk.page.is_checked("#reception-each")
    await _pays(walk)
    await _finds_all_of_it(walk, name, day)
    await _corrects_an_address(walk)


async def _pays(walk: Walk) -> None:
    await walk.customer.go_on()
    await walk.customer.give_details(**ADDRESS)
    await walk.look("payment of three presents")
    await walk.customer.leave_to_pay()
    await walk.customer.pay_by(GOOD_CARD)
    await walk.customer.arrive("order")
    await walk.look("order of three presents")


async def _finds_all_of_it(walk: Walk, name: str, day: dt.date) -> None:
    """Each present with its code, its document and its way; the calendar file has its last day."""
    page = walk.page
    assert await page.locator(".issued .code").count() == 3
    text = await walk.customer.read_text("main")
    assert ("marie@example.com" in text, "ada@example.com" in text) == (True, True)
    query = "SELECT reception_mode, send_on FROM voucher ORDER BY id DESC LIMIT 1"
    ((way, send_on),) = await walk.shop.rows(query)
    assert (way, send_on.date()) == ("giftee_email", day)
    files = await page.locator('a[href$=".ics"]').all()
    calendar = Calendar.from_ical((await _open(walk, files[0])).content)
    (event,) = calendar.walk("VEVENT")
    assert name in str(event["SUMMARY"])
    documents = await page.locator('.made a[type="application/pdf"]').all()
    kinds = [(await _open(walk, each)).headers["content-type"] for each in documents]
    assert kinds == ["application/pdf"] * 3


async def _open(walk: Walk, link: Locator) -> httpx.Response:
    """What a link of the page leads to."""
    return await walk.shop.http.get(await link.get_attribute("href") or "", headers={"Host": walk.shop.domain})


async def _corrects_an_address(walk: Walk) -> None:
    """The mistyped address of a present that waits for its day."""
    page = walk.page
    await page.locator(".made summary").first.click()
    await page.fill("#email-0", "marie@example.org")
    async with page.expect_navigation():
        await page.locator("form:has(#email-0) button:not([name])").click()
    assert "marie@example.org" in await walk.customer.read_text(".made .note")
    await walk.look("a corrected address")


async def test_three_presents_by_keyboard(shop: RunningShop, customer: Customer) -> None:
    """The way of each part, chosen without a mouse."""
    page, keys = customer.page, Keyboard(customer)
    for name in ("Marie Curie", "Paul Langevin"):
        await page.goto(f"{shop.home}giftcards/shop/")
        await keys.press(customer.button("continue"))
        await page.wait_for_url("**part=personal**")
        await keys.type("#giftee-name", name)
        await keys.to(page.locator("[name=reception]"))
        await page.keyboard.press("Space" if name == "Marie Curie" else "ArrowDown")
        if name != "Marie Curie":
            await keys.type("#giftee-email", "paul@example.com")
        await keys.press(customer.button("continue"))
        await customer.arrive("information")
    await page.goto(f"{shop.home}shop/customization/")
    assert await page.is_checked("#reception-each")
    await keys.to(page.locator("[name=reception]"))
    await page.keyboard.press("ArrowDown")
    await keys.press(customer.button("continue"))
    await customer.arrive("information")
    await page.goto(f"{shop.home}shop/customization/")
    assert await page.locator("#reception-each").count() == 0, "one way for all"
