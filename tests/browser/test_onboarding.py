"""The way of a partner's legal representative, in a browser on a phone: from the link to payments, through the provider."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from funnel.core.languages import translations
from store.core.settings import Settings
from store.onboarding.links import onboarding_url_for
from store.partner.partners import PartnerRow
from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.fixtures.activation import COMPLETE
from tests.funnel.onboarding.fixtures import FORGOTTEN, TYPED
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

PHONE = 390
SCA = "**/_provider/sca?*"
AT_PROVIDER: tuple[dict[str, str | bool], ...] = (
    {"terms": True},
    {"consent_person": True, "consent_data": True},
    {},
    {"email": TYPED["legal_representative_email"]},
    {"pin": "135790", "pin_again": "135790"},
    {"phone": "+33 6 12 34 56 78"},
    {"code": "000000"},
)
"""What the representative ticks and types there, step by step; the passkey is skipped."""


@dataclass
class Walker:
    """Somebody who was sent the link to a partner's onboarding page."""

    customer: Customer
    link: str

    @property
    def translate(self) -> Callable[[str], str]:
        """Texts in the language of the browser."""
        return self._texts.gettext

    def __post_init__(self) -> None:
        self._texts = translations("en")

    def speaks(self, language: str) -> "Walker":
        """The same, with the texts of another language."""
        self._texts = translations(language)
        return self

    async def fill(self) -> None:
        """Fill in what is asked for, as far as it is on the page."""
        page = self.customer.page
        for name, value in TYPED.items():
            place = "legal_representative_birthday" if name.endswith("_day") else name
            if name == "company_type":
                await page.check(f"#company_type-{value}")
            elif await page.locator(f"select#{place}").count():
                await page.select_option(f"#{place}", value)
            elif name != "legal_representative_birthday":
                await page.fill(f"#{place}", value)

    async def leave(self) -> None:
        """Press the button that leads to the provider, and come there."""
        await self.customer.page.click("form[action$='/provider/'] button")
        await self.customer.reach(SCA)

    async def authenticate(self) -> None:
        """Go through the provider's session, step by step."""
        page = self.customer.page
        for step in AT_PROVIDER:
            for name, value in step.items():
                await (page.check(f"#{name}") if value is True else page.fill(f"#{name}", str(value)))
            button = page.locator("#form button").last
            if "code" in step:
                await button.click()
                await self.customer.reach(lambda url: urlsplit(url).path.endswith("/return/"))
            else:
                await self.customer.press(button)

    async def arrive(self, title: str) -> None:
        """Wait for a page with this title."""
        await self.customer.page.locator("h1", has_text=self.translate(title) % {"shop": "Chez Ada"}).wait_for()


Partners = Callable[..., Awaitable[str]]


@pytest_asyncio.fixture(loop_scope="session")
async def newcomers(shop: RunningShop) -> AsyncIterator[Partners]:
    """Makes partners that cannot be paid yet; answers the links to their onboarding pages."""
    made: list[int] = []

    async def new(slug: str, /, **columns: Any) -> str:
        row = PartnerRow(
            marketplace_id=shop.partner.marketplace_id,
            source_id=f"onboarding {slug}",
            commercial_name="Chez Ada",
            short_name="ada",
            site_domain=f"{slug}.ada.localhost",
            accent_colour="#7a4b2a",
            **{**COMPLETE, **columns},
        )
        partner = await shop.add(row)
        made.append(partner.id)
        return onboarding_url_for(Settings(base_url=f"http://127.0.0.1:{shop.program.port}"), partner)

    yield new
    for id in made:
        await shop.rows("DELETE FROM payment_activation WHERE partner_id = :id RETURNING id", id=id)
    await shop.control("DELETE", "/faults")


async def test_the_whole_walk(shop: RunningShop, newcomers: Partners, new_customer: NewCustomer) -> None:
    walker = Walker(await new_customer(PHONE), await newcomers("walk", **FORGOTTEN))
    customer, page = walker.customer, walker.customer.page
    await page.goto(walker.link)
    await sound(page, "onboarding details")
    await customer.press(page.locator("form.column button.main"))
    assert await page.locator("#errors:focus").count() == 1
    await sound(page, "onboarding details with errors")
    await page.click("#errors a[href='#legal_representative_birthday']")
    assert await page.locator("#legal_representative_birthday:focus").count() == 1
    await walker.fill()
    await customer.press(page.locator("form.column button.main"))
    await sound(page, "onboarding provider")
    await page.route("**/_provider/sca?*", lambda route: route.fulfill(status=204))  # and so the browser stays
    await customer.press(page.locator("form[action$='/provider/'] button"))
    await sound(page, "onboarding leaving")
    await page.unroute("**/_provider/sca?*")
    await page.click("main a.main")
    await customer.reach(SCA)
    await page.click(".ways a")
    await walker.arrive("Activate payments for %(shop)s")
    assert await customer.notes() == ["You have not finished yet"]
    await shop.control("POST", "/faults", {"path": "/wallets", "kind": "status", "status": 503, "times": 1000})
    await page.route("**/return/?looked=*", lambda route: route.fulfill(status=204))  # it would look again by itself
    await walker.leave()
    await walker.authenticate()
    await walker.arrive("Your activation is being processed")
    await sound(page, "onboarding waiting")
    await shop.control("DELETE", "/faults")
    await page.click("main a.main")
    await walker.arrive("Payments are active")
    await sound(page, "onboarding done")
    await page.goto(walker.link.replace("/onboarding/", "/onboarding/x"))
    await sound(page, "onboarding dead link")


async def test_without_scripts_in_french(newcomers: Partners, new_customer: NewCustomer) -> None:
    missing = {name: FORGOTTEN[name] for name in ("hq_country", "hq_country_code", "legal_representative_birthday")}
    link = await newcomers("sansscript", **missing)
    walker = Walker(await new_customer(PHONE, "fr-FR", scripts=False), link).speaks("fr")
    page = walker.customer.page
    await page.goto(link)
    assert await page.get_attribute("html", "lang") == "fr"
    await page.select_option("#hq_country", label="France")
    for part, value in (("", "5"), ("_month", "4"), ("_year", "1980")):
        await page.fill(f"#legal_representative_birthday{part}", value)
    await walker.customer.press(page.locator("form.column button.main"))
    await walker.leave()
    await walker.authenticate()
    await walker.arrive("Payments are active")


async def test_by_keyboard_alone_to_what_only_the_platform_can_correct(
    shop: RunningShop, newcomers: Partners, new_customer: NewCustomer
) -> None:
    american = {"hq_country": "US", "hq_country_code": "US", "siret_number": "123456789"}
    walker = Walker(await new_customer(), await newcomers("keys", **american))
    keys, page = Keyboard(walker.customer), walker.customer.page
    await page.goto(walker.link)
    await keys.type("#hq_region", "Illinois")
    await page.keyboard.press("Enter")
    await walker.arrive("Activate payments for %(shop)s")
    await keys.press(page.locator("form[action$='/provider/'] button"))
    await walker.customer.reach(SCA)
    await shop.rows(
        "UPDATE payment_activation SET status = 'FAILED', failure = 'account_blocked', check_on = NULL "
        "WHERE status = 'PENDING_USER_ACTION' RETURNING id"
    )
    await page.goto(walker.link)
    await walker.arrive("The payment provider has blocked the account")
    await sound(page, "onboarding failed")
