"""The checkout's pages in a real browser: prices that follow, by keyboard alone, sound in every state, for thumbs too."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
import uvicorn
from playwright.async_api import Browser, Page, expect
from starlette.routing import Mount

from coffret.sandbox import SandboxSettings, close, sandbox_app
from schema.cart.cart import CartItem
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from store.core.clock import clock
from store.database.db import Database
from store.kv import open_kv
from store.media.pictures import store_picture
from store.product.products import ProductRow
from store.providers.mangopay import Mangopay
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, Shop, open_shop, services_over
from tests.funnel.conftest import checkout_app
from tests.servers.chromium import needs_chromium, sound, violations

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 860}
CANDLE = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3" fill="#c9a"/></svg>'

pytestmark = needs_chromium


@dataclass(frozen=True)
class Town:
    """A shop with its checkout and the provider on a port of this machine."""

    shop: Shop
    origin: str
    candle: ProductRow
    robe: ProductRow

    async def cart(self, *items: CartItem, return_url: str = "") -> str:
        """The address of a new cart's checkout."""
        cart = await self.shop.cart(*(items or (CartItem(self.candle.id, 2),)), return_url=return_url)
        return f"{self.origin}/ecommerce/shop/customization/?cart={cart.id}"


@pytest.fixture
async def town(database: Database) -> AsyncIterator[Town]:
    """A shop that can be visited."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    sandbox = sandbox_app(SandboxSettings(public_url=f"http://127.0.0.1:{port}/_provider", clock=clock))
    provider = Mangopay(
        base_url="http://sandbox",
        client_id="sandbox",
        api_key="sandbox",
        hook_secret="hook-secret",
        transport=httpx.ASGITransport(sandbox),
    )
    kv = open_kv("", clock)
    shop = await open_shop(services_over(database, kv, provider), sandbox, f"shop.localhost:{port}")
    app = checkout_app(shop, shop.services.settings)
    app.router.routes.append(Mount("/_provider", sandbox))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield await furnished(shop, f"http://shop.localhost:{port}")
    server.should_exit = True
    await serving
    await provider.aclose()
    await close(sandbox)
    await kv.aclose()


async def furnished(shop: Shop, origin: str) -> Town:
    """Something of everything to buy."""
    async with shop.services.db.sessions() as db, db.begin():
        drawn = await store_picture(db, shop.partner.id, CANDLE, "svg")
    candle = await shop.product("20.00", stock=9, name=Text(en="Candle"), picture_url=drawn, is_physical=True)
    robe = await shop.product("89.00", name=Text(en="Robe"), description=Text(en="Light and soft."))
    await shop.variant(robe, "89.00")
    await shop.choice(robe, "Size", "s", "m")
    await shop.product("5.00", stock=0, name=Text(en="Soap"))
    return Town(shop, origin, candle, robe)


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a phone that complains of anything the browser complains of."""
    context = await browser.new_context(viewport=PHONE)  # type: ignore[arg-type]
    page = await context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    await context.close()
    assert [c for c in complaints if "404" not in c and "favicon" not in c] == []


# ---- what a customer does ----------------------------------------------------------------------------------------------


async def choose(page: Page, delivery: str = "home_delivery", country: str = "FR") -> None:
    """Choose a delivery on the first step, and go on."""
    await page.get_by_role("radio", name=delivery).check()
    if delivery == "home_delivery":
        await page.get_by_label("Country of delivery").select_option(country)
    await page.get_by_role("button", name="Continue", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your details")


async def identify(page: Page) -> None:
    """Fill in the second step, and go on."""
    for label, text in (("First name", "Ada"), ("Last name", "Martin"), ("E-mail address", "ada@example.com")):
        await page.get_by_label(label).first.fill(text)
    if await page.get_by_label("Street and number").first.is_visible():
        for label, text in (
            ("Street and number", "1 rue des Lilas"),
            ("Postal code", "75011"),
            ("Town or city", "Paris"),
        ):
            await page.get_by_label(label).first.fill(text)
    await page.get_by_role("button", name="Continue", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Check and pay")


async def pay(page: Page, card: str) -> None:
    """Press pay, and do what the provider and the bank ask for."""
    await page.get_by_role("button", name="Pay €").click()
    await page.wait_for_url("**/_provider/**")
    await page.goto(f"{page.url.partition('?')[0]}?card={card}")
    await page.locator("form#card button").click()
    if card == CHALLENGE_CARD:
        await page.locator("input[name=code]").fill("000000")
        await page.locator("form button.main").first.click()
    await page.wait_for_url(re.compile("/ecommerce/shop/|/orders/"))


SMALL = """() => [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
  .filter(e => !e.closest('p') && !e.closest('.note li') && e.checkVisibility() && !e.matches('.skip, .sr, [type=radio]'))
  .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect().height])
  .filter(([, height]) => height < 43.5).map(([html, height]) => `${height} ${html}`)"""
"""Touch targets that are not 44 pixels high; those in running text may be smaller, and a radio's is its whole card."""


TOP = "e => e.getBoundingClientRect().top + scrollY"
"""How far down the page an element is."""


async def check(page: Page) -> None:
    """A page is accessible, fits the screen, and has targets for thumbs."""
    await sound(page)
    assert await page.evaluate(SMALL) == [], page.url


# ---- the tests ---------------------------------------------------------------------------------------------------------


async def test_the_order_is_accessible(town: Town, page: Page) -> None:
    await page.goto(await town.cart(CartItem(town.robe.id, 1), CartItem(999999, 1), CartItem(town.candle.id, 1)))
    await check(page)
    await expect(page.get_by_role("button", name="Continue", exact=True)).to_have_count(0)
    await page.get_by_role("button", name="Check your choice").click()
    await expect(page.locator("#errors")).to_be_focused()
    await page.locator(".more summary").click()
    await check(page)
    await page.goto(await town.cart(CartItem(town.candle.id, 0)))
    await page.get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your basket is empty")
    await check(page)


async def test_details_and_payment_are_accessible(town: Town, page: Page) -> None:
    await page.goto(await town.cart())
    await page.locator(".bar summary").click()
    await check(page)
    await choose(page)
    await check(page)
    await page.get_by_role("button", name="Continue", exact=True).click()
    await expect(page.locator("#errors")).to_be_focused()
    await check(page)
    await identify(page)
    await page.get_by_label("Code of a coupon or gift card").fill("NOTHING")
    await page.get_by_role("button", name="Add").click()
    code = page.get_by_label("Code of a coupon or gift card")
    await expect(code).to_be_focused()
    await expect(code).to_have_accessible_description(re.compile("cannot be used here"))
    await expect(page.locator("#errors")).to_have_count(0)
    await check(page)


async def test_an_error_goes_when_it_is_mended_and_nothing_moves(town: Town, page: Page) -> None:
    await page.goto(await town.cart())
    await choose(page)
    await page.get_by_label("E-mail address").fill("ada")
    await page.get_by_role("button", name="Continue", exact=True).click()
    box, email = page.locator("#errors"), page.get_by_label("E-mail address")
    await expect(box.locator("h2")).to_have_text("Please check 6 things")
    before = await page.get_by_label("Last name").evaluate(TOP)
    await page.get_by_label("First name").fill("Ada")
    await expect(page.locator("#first_name-wrong")).to_be_hidden()
    await expect(page.get_by_label("First name")).not_to_have_attribute("aria-invalid", "true")
    await expect(box.locator(".mended")).to_have_text(["Enter your first name."])
    await expect(page.locator("#last_name-wrong")).to_be_visible()
    assert await page.get_by_label("Last name").evaluate(TOP) == before
    await email.fill("ada@example")
    await page.wait_for_timeout(500)
    await expect(page.locator("#email-wrong")).to_be_visible()
    await email.fill("ada@example.com")
    await expect(page.locator("#email-wrong")).to_be_hidden()
    for label, text in (("Last name", "Martin"), ("Street and number", "1 rue des Lilas"), ("Town or city", "Paris")):
        await page.get_by_label(label).first.fill(text)
    await page.get_by_label("Postal code").first.fill("75011")
    await expect(box.locator("h2")).to_have_text("All set")
    assert await page.get_by_label("Last name").evaluate(TOP) == before
    await check(page)
    await page.get_by_label("Country", exact=True).first.select_option("BE")
    await expect(page.locator("[data-live=total]")).to_have_text("€52.00")


async def test_enter_in_a_delivery_continues_and_in_a_quantity_keeps_it(town: Town, page: Page) -> None:
    await page.goto(await town.cart(CartItem(town.candle.id, 1)))
    await page.get_by_label("Quantity", exact=True).fill("3")
    await page.get_by_label("Quantity", exact=True).press("Enter")
    await expect(page.locator("[data-live=total]")).to_have_text("€60.00")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your order")
    collect = page.get_by_role("radio", name="click_and_collect")
    await collect.check()
    await collect.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your details")


async def test_a_missing_delivery_is_asked_for_until_one_is_chosen(town: Town, page: Page) -> None:
    await page.goto(await town.cart())
    await page.get_by_role("button", name="Continue", exact=True).click()
    wrong = page.locator("#delivery-wrong")
    await expect(wrong).to_be_visible()
    await page.get_by_label("Quantity", exact=True).fill("3")
    await expect(page.locator("[data-live=total]")).to_have_text("€60.00")
    await expect(wrong).to_be_visible()
    await page.get_by_role("radio", name="click_and_collect").check()
    await expect(wrong).to_be_hidden()
    await expect(page.locator("#errors h2")).to_have_text("All set")


async def test_the_sum_and_the_button_stay_in_sight_on_a_phone(town: Town, page: Page) -> None:
    await page.goto(await town.cart(CartItem(town.candle.id, 2)))
    for button, total in (("Continue", "€45.00"), ("Continue", "€45.00"), ("Pay €45.00", "€45.00")):
        bar = page.locator(".bar")
        if button == "Continue" and await page.get_by_role("radio", name="home_delivery").count():
            await page.get_by_role("radio", name="home_delivery").check()
        await expect(bar.locator("strong")).to_have_text(total)
        await expect(page.get_by_role("button", name=button, exact=True)).to_have_count(1)
        for top in (0, 400, 100_000):
            await page.evaluate("top => scrollTo(0, top)", top)
            await expect(page.get_by_role("button", name=button, exact=True)).to_be_in_viewport(ratio=1)
        await bar.locator("summary").click()
        await expect(bar.get_by_text("Delivery", exact=True)).to_be_visible()
        await check(page)
        if await page.get_by_label("First name").count():
            await identify(page)
        elif button == "Continue":
            await page.get_by_role("button", name=button, exact=True).click()
    await page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    await expect(page.locator(".bar")).to_be_hidden()
    await expect(page.get_by_role("button", name="Pay €45.00")).to_have_count(1)


async def test_every_end_is_accessible(town: Town, page: Page) -> None:
    await page.goto(address := await town.cart())
    await choose(page)
    await identify(page)
    await pay(page, DECLINED_CARD)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your payment was declined")
    await check(page)
    await page.get_by_role("link", name="Try again").click()
    await check(page)
    await page.get_by_role("button", name="Pay €").click()
    await page.wait_for_url("**/_provider/**")
    attempt = await town.shop.one("SELECT id FROM checkout_attempt ORDER BY created_on DESC LIMIT 1")
    cart_id = address.rpartition("=")[2]
    await page.goto(f"{town.origin}/ecommerce/shop/payment/return/{cart_id}/{attempt}/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("We are checking your payment")
    assert await violations(page) == []
    await page.goto(address.replace("customization", "payment"))
    await check(page)
    await pay(page, CHALLENGE_CARD)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    await check(page)
    await page.goto(address.replace(cart_id, "3f2504e0-4f89-41d3-9a0c-0305e82c3301"))
    await check(page)


async def test_prices_follow_what_is_chosen(town: Town, page: Page) -> None:
    await page.goto(await town.cart(CartItem(town.candle.id, 1)))
    total = page.locator("[data-live=total]")
    more = page.get_by_role("button", name="One more")
    for _ in range(3):
        await more.click()
    await expect(total).to_have_text("€80.00")
    await expect(page.get_by_role("status")).to_have_text("Total: €80.00")
    assert await more.evaluate("e => e === document.activeElement"), "the focus stays where it was"
    await page.get_by_role("radio", name="home_delivery").check()
    await page.get_by_label("Country of delivery").select_option("BE")
    await expect(total).to_have_text("€92.00")
    await page.get_by_label("Quantity", exact=True).fill("99")
    await expect(page.locator("#line-0-problem")).to_have_text("Only 9 left: choose a smaller quantity.")
    await expect(page.get_by_label("Quantity", exact=True)).to_have_attribute("aria-invalid", "true")
    await page.get_by_label("Quantity", exact=True).fill("2")
    await expect(page.locator("#line-0-problem")).to_be_empty()
    await expect(page.get_by_label("Quantity", exact=True)).not_to_have_attribute("aria-invalid", "true")
    await expect(total).to_have_text("€52.00")
    await page.reload()
    await expect(total).to_have_text("€20.00")


async def test_a_delivery_is_offered_as_soon_as_it_suits_what_is_left(town: Town, page: Page) -> None:
    book = await town.shop.product("9.00", name=Text(en="Book"), is_physical=False)
    await page.goto(await town.cart(CartItem(book.id, 1), CartItem(town.candle.id, 1)))
    by_mail = page.get_by_role("radio", name="digital")
    await expect(by_mail).to_have_count(0)
    await page.get_by_label("Quantity", exact=True).nth(1).fill("0")
    await expect(by_mail).to_be_enabled()
    await page.get_by_label("Quantity", exact=True).nth(1).fill("1")
    await expect(by_mail).to_have_count(0)


async def test_the_last_answer_counts(town: Town, page: Page) -> None:
    """An answer that comes after a newer question was asked is not shown."""
    held = asyncio.Event()
    first = True

    async def slow(route: object) -> None:
        nonlocal first
        if first:
            first = False
            await held.wait()
        await route.continue_()  # type: ignore[attr-defined]

    await page.goto(await town.cart(CartItem(town.candle.id, 1)))
    await page.route("**/preview/**", slow)
    quantity = page.get_by_label("Quantity", exact=True)
    await quantity.fill("5")
    await expect(page.locator("form[aria-busy]")).to_have_count(1)
    await quantity.fill("3")
    await expect(page.locator("[data-live=total]")).to_have_text("€60.00")
    held.set()
    await page.wait_for_timeout(200)
    await expect(page.locator("[data-live=total]")).to_have_text("€60.00")
    await expect(page.locator("form[aria-busy]")).to_have_count(0)


async def test_by_keyboard_alone(town: Town, page: Page) -> None:
    await page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    await page.goto(await town.cart())
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await page.keyboard.press("Enter")
    await reach(page, "#delivery-" + str(town.shop.modes[DeliveryKind.CLICK_AND_COLLECT]))
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("radio", name="home_delivery")).to_be_checked()
    await page.keyboard.press("ArrowDown")  # around, past the one that is not offered
    await expect(page.get_by_role("radio", name="click_and_collect")).to_be_checked()
    await reach(page, ".panel .main")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your details")
    await reach(page, "#first_name")
    for text in ("Ada", "Martin", "ada@example.com"):
        await page.keyboard.type(text)
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Check and pay")
    await reach(page, ".pay .main")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/_provider/**")


async def reach(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus, which must be seen at every stop."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await page.evaluate("s => document.activeElement.matches(s)", selector):
            return
        seen = await page.evaluate("""() => {
          const e = document.activeElement, s = getComputedStyle(e);
          return e === document.body || e.type === 'radio' || s.outlineStyle !== 'none';
        }""")
        assert seen, await page.evaluate("document.activeElement.outerHTML.slice(0, 100)")
    pytest.fail(f"{selector} is out of reach")


async def test_nothing_moves_and_nothing_comes_from_elsewhere(town: Town, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.add_init_script("""
      window.moved = 0;
      new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) window.moved += e.value; }))
        .observe({type: 'layout-shift', buffered: true});
    """)
    await page.goto(await town.cart())
    await page.wait_for_load_state("networkidle")
    await page.wait_for_timeout(200)
    assert await page.evaluate("window.moved") < 0.02
    assert [url for url in asked if not url.startswith(town.origin)] == []
