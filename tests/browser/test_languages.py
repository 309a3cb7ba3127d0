"""Every step in every language, with nothing left in English, and the way to another language."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from babel import Locale
from playwright.async_api import Browser, Page

from coffret.sandbox import pages
from funnel.core.languages import NAMES, catalogue
from funnel.core.payment_methods import METHOD_TEXTS
from schema.delivery.delivery import DeliveryKind
from schema.payment_method import PaymentMethod
from store.core.localization.translations import locale_of
from tests.browser.conftest import NewCustomer, customers
from tests.browser.customer import ABROAD, ADDRESS, Customer
from tests.browser.running_shop import Json, RunningShop
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD
from tests.servers.chromium import NARROWEST, PICTURES, needs_chromium, wider_than_the_window

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

READ = """() => {
  const said = [];
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) return said.push(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || ['SCRIPT', 'STYLE'].includes(node.tagName)) return;
    if (node !== document.documentElement && node.hasAttribute('lang')) return;
    for (const name of ['aria-label', 'placeholder', 'title', 'alt']) said.push(node.getAttribute(name) ?? '');
    if (node.tagName === 'SELECT' && node.name.endsWith('country')) return said.push(node.options[0].text);
    node.childNodes.forEach(walk);
  };
  walk(document.documentElement);
  return said.map(text => text.replace(/\\s+/g, ' ').trim()).filter(text => /\\p{L}/u.test(text));
}"""
"""All that is read or told on a page, but for the names of languages and of countries."""

Seen = dict[str, Sequence[str]]


async def walked(shop: RunningShop, customer: Customer) -> AsyncIterator[tuple[str, Page]]:
    """Every page on the way, one after the other."""
    page = customer.page
    cart = await _cart(shop)
    await customer.open(cart)
    yield "customization", page
    await customer.press(customer.button("continue"))
    yield "customization with errors", page
    await customer.choose_delivery(DeliveryKind.HOME_DELIVERY, "BE")
    await customer.button("continue").click()
    await page.locator("#errors button").click()
    await customer.arrive("information")
    yield "information", page
    await customer.press(page.locator("form.column button.main:visible"))
    yield "information with errors", page
    await customer.give_details(**ABROAD)
    yield "payment", page
    await page.fill("#code", "WRONG")
    await customer.press(page.locator(".add-code button"))
    yield "payment with errors", page
    await customer.leave_to_pay()
    yield "card", page
    await customer.pay_by(DECLINED_CARD)
    await customer.arrive_at_outcome()
    yield "declined", page
    await page.click("main a.main")
    await customer.arrive("payment")
    yield "payment after declined", page
    await customer.leave_to_pay()
    await customer.pay_by(CHALLENGE_CARD)
    await page.wait_for_url("**/challenge*")
    yield "challenge", page
    await customer.confirm()
    await customer.arrive("order")
    yield "summary", page
    await page.goto(f"http://{shop.domain}/ecommerce/shop/customization/?cart=unknown")
    yield "expired", page


async def _cart(shop: RunningShop) -> Json:
    """Lines that are good, that must be chosen about, and that cannot be sold."""
    return await shop.hand_over(
        {"product_id": await shop.demo_product("Trio of garden soaps"), "quantity": 1},
        {"product_id": await shop.demo_product("Lavender scented candle"), "quantity": 1},
        {"product_id": await shop.demo_product("Ceramic reed diffuser"), "quantity": 1},
        {"product_id": 2**31 - 1, "quantity": 1},
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def english(shop: RunningShop, browser: Browser) -> Seen:
    """What each page says in English."""
    async with customers(shop, browser) as new:
        return {name: await page.evaluate(READ) async for name, page in walked(shop, await new(390, "en"))}


def words(text: str) -> str:
    """A text without its numbers, signs and placeholders."""
    return " ".join(re.sub(r"%\(\w+\)s|\{\w+\}|[\W\d_]", " ", text).split())


def shared_words(language: str) -> set[str]:
    """What is written alike in English and in another language, and so is no left-over."""
    provider = Path(pages.__file__).parent / "locales"
    theirs = [json.loads((provider / f"{code}.json").read_text()) for code in ("en", language)]
    pairs = [(m.id, m.string) for m in catalogue(language)] + [(theirs[0][key], theirs[1][key]) for key in theirs[0]]
    alike = {words(said) for source, said in pairs if isinstance(source, str) and words(source) == words(str(said))}
    months = [set(Locale.parse(locale_of(code)).months["format"]["wide"].values()) for code in ("en", language)]
    return alike | {words(name) for name in NAMED} | (months[0] & months[1])


NAMED = (
    "Maison Valserène", "Maison Valserène SARL", "bonjour@maison-valserene.example", "ada@example.com", "Ada Martin",
    "12 chemin des Restanques, 84400 Apt", "1000 Bruxelles", ADDRESS["address_line_1"],
)  # fmt: skip


WALKED = ("de", "fr")
"""Those with the longest words; that all eight are complete, and shown, is asked over HTTP."""


@pytest.mark.parametrize("language", WALKED)
async def test_every_step(shop: RunningShop, new_customer: NewCustomer, english: Seen, language: str) -> None:
    brands = {words(told.name) for method, told in METHOD_TEXTS.items() if method is not PaymentMethod.CARD}
    allowed, left_over = shared_words(language) | brands, {}
    async for name, page in walked(shop, await new_customer(NARROWEST, language)):
        assert (await page.get_attribute("html", "lang")) == language, name
        assert await wider_than_the_window(page) == [], name
        if PICTURES:
            await page.screenshot(path=Path(PICTURES) / f"{language}-{name.replace(' ', '-')}.png", full_page=True)
        said = await page.evaluate(READ)
        assert len(said) > 5, name
        in_english = {words(text) for text in english[name]} - allowed
        if found := {words(text) for text in said} & in_english:
            left_over[name] = found
    assert left_over == {}


async def test_another_language_can_be_chosen_at_any_step(shop: RunningShop, new_customer: NewCustomer) -> None:
    customer = await new_customer(390, "fi")
    page = customer.page
    await customer.open(await _cart(shop))
    assert await page.get_attribute("html", "lang") == "en", "we do not speak Finnish"
    here = page.url
    for language, name in NAMES.items():
        await page.locator(".menu summary").click()
        await page.get_by_role("button", name=name, exact=True).click()
        await page.locator(f"html[lang={language}]").wait_for()
        assert page.url == here
        assert await page.locator(".languages [aria-current]").text_content() == name
    other = await customer.another_tab()
    await other.page.goto(shop.home)
    assert await other.page.get_attribute("html", "lang") == "pt", "it is remembered"
