"""The back office in a browser: every list, a page and a form of every kind, and jobs done by clicking."""

import datetime as dt
import re

import pytest
from playwright.async_api import Page, expect

from coffret.demo.users import MARKETPLACE_USER, MASTER_USER, PARTNER_USERS, PASSWORD
from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import GOOD_CARD
from tests.servers.chromium import NARROWEST, WIDTHS, fits, needs_chromium, sound, violations

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

PARTNER_USER = PARTNER_USERS[0]
IN_COLOURS = 12
"""One page of so many is asked about its contrasts: all have the same parts."""


def root_of(shop: RunningShop) -> str:
    """The address of the back office."""
    return f"http://127.0.0.1:{shop.program.port}/admin/"


async def log_in(staff: Customer, username: str) -> Page:
    """Log in with the keyboard only."""
    page, keyboard = staff.page, Keyboard(staff)
    await page.goto(root_of(staff.shop))
    await keyboard.type("#username", username)
    await keyboard.type("#password", PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url(root_of(staff.shop))
    return page


async def shown(page: Page, seen: set[str], kind: str) -> None:
    """A page is sound; of a kind that was seen before it is only not wider than a window."""
    if kind in seen:
        await fits(page, kind, widths=(NARROWEST, WIDTHS[1]))
        return
    seen.add(kind)
    colours = len(seen) % IN_COLOURS == 1
    if colours:
        await sound(page, kind)
        return
    await fits(page, kind)
    await page.set_viewport_size({"width": WIDTHS[len(seen) % 2], "height": 844})
    assert await violations(page, colours=False) == [], f"{kind}: {page.url}"


async def links_of(page: Page, selector: str) -> list[str]:
    """Where links lead to."""
    found: list[str] = await page.locator(selector).evaluate_all("all => all.map(a => a.href)")
    return found


async def test_every_list_and_a_page_and_a_form_of_every_kind(shop: RunningShop, new_customer: NewCustomer) -> None:
    """For each role; nothing of it breaks the policy, which the customers' browsers are asked about in the end."""
    seen: set[str] = set()
    opened = dict[str, int]()
    for username in (MASTER_USER, MARKETPLACE_USER, PARTNER_USER):
        staff = await new_customer()
        await staff.page.goto(root_of(shop))
        await shown(staff.page, seen, "log-in")
        page = await log_in(staff, username)
        await shown(page, seen, f"home of {username}")
        lists = await links_of(page, "#menu li a")
        opened[username] = len(lists)
        for url in lists:
            slug = url.rstrip("/").rpartition("/")[2]
            await look(page, url, seen, f"{slug} list")
            forms = await links_of(page, "main header .does a")
            rows = await links_of(page, "main tbody th a")
            if rows and f"{slug} page" not in seen:
                await look(page, rows[0], seen, f"{slug} page")
                forms += await links_of(page, "main div.does a")
            for form in forms:
                action = form.rstrip("/").rpartition("/")[2]
                kind = "export form" if "/new/export/" in form else f"{slug} form"
                if not {kind, action} & seen or "new" in action:
                    await look(page, form, seen, kind)
        await page.goto(root_of(shop))
        await page.locator(".who summary").click()
        await page.get_by_role("button", name="Log out").click()
        await page.wait_for_url("**/admin/log-in/")
    assert opened[MASTER_USER] > opened[PARTNER_USER] > 20
    assert len([kind for kind in seen if kind.endswith(" page")]) > 35
    assert len([kind for kind in seen if kind.endswith(" form")]) > 30


async def look(page: Page, url: str, seen: set[str], kind: str) -> None:
    """Open a page and look at it."""
    answer = await page.goto(url)
    assert answer is not None
    assert answer.status == 200, url
    await shown(page, seen, kind)


async def test_an_order_is_marked_ready(shop: RunningShop, new_customer: NewCustomer) -> None:
    buyer = await new_customer()
    soap = await shop.demo_product("Trio of garden soaps")
    cart = await shop.hand_over({"product_id": soap, "quantity": 1})
    await buyer.come_to_pay(cart, DeliveryKind.CLICK_AND_COLLECT)
    await buyer.leave_to_pay()
    await buyer.pay_by(GOOD_CARD)
    await buyer.arrive("order")
    number = (await shop.order(cart))["number"]
    page = await log_in(await new_customer(), PARTNER_USER)
    await page.get_by_role("link", name="Orders to prepare").click()
    await page.get_by_role("rowheader", name=f"Order {number} ·").get_by_role("link").click()
    await page.get_by_role("link", name="Mark ready").click()
    last, mails = (
        await shop.one("SELECT max(id) FROM mail"),
        "SELECT count(*) FROM mail WHERE id > :id AND kind = 'order_ready'",
    )
    await page.get_by_role("button", name="Mark ready").click()
    await expect(page.get_by_role("status")).to_have_text("Done: Mark ready")
    await expect(page.get_by_text("Ready to collect").first).to_be_visible()
    await expect(page.get_by_role("link", name="Mark ready")).to_have_count(0)
    await shop.until(lambda: shop.one(mails, id=last))
    await sound(page, "order that is ready")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
async def test_a_price_is_changed(shop: RunningShop, new_customer: NewCustomer, *, scripts: bool) -> None:
    page = await log_in(await new_customer(scripts=scripts), PARTNER_USER)
    menu = page.locator("#menu")
    if await menu.get_attribute("open") is None:
        await menu.locator("> summary").click()
    await menu.get_by_role("link", name="Experiences", exact=True).click()
    await page.locator("main tbody th a").first.click()
    title = await page.locator("h1").inner_text()
    await page.locator("main div.does a", has_text="Edit").first.click()
    price = page.locator("#f-stayPrice")
    before = await price.input_value()
    await price.fill("not a price")
    await page.get_by_role("button", name="Save").click()
    assert await page.locator("[aria-invalid=true]").get_attribute("id") == "f-stayPrice"
    await price.fill("1234,5")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_have_text("Done: Edit")
    assert await page.locator("h1").inner_text() == title
    await expect(page.get_by_text("€1,234.50")).to_be_visible()
    await page.locator("main div.does a", has_text="Edit").first.click()
    await page.locator("#f-stayPrice").fill(before)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("€1,234.50")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
async def test_the_search_is_walked_by_keyboard(shop: RunningShop, new_customer: NewCustomer, width: int) -> None:
    page = await log_in(await new_customer(width), PARTNER_USER)
    await page.keyboard.press("Control+k")
    await page.keyboard.type("Hartwell")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/search/?q=Hartwell")
    await sound(page, "results of a search")
    await page.keyboard.press("Control+k")
    results = page.locator(".found a")
    await page.keyboard.press("ArrowDown")
    await expect(results.nth(0)).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(results.nth(1)).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await expect(page.locator("#q")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_contain_text("Hartwell")
    await page.goto(f"{root_of(shop)}search/")
    await sound(page, "search without words")


async def test_a_gift_card_is_extended(shop: RunningShop, new_customer: NewCustomer) -> None:
    page = await log_in(await new_customer(390), MARKETPLACE_USER)
    await page.goto(f"{root_of(shop)}gift-cards/")
    await page.locator(".filters summary").click()
    await page.select_option("#f-status", "PAID")
    await page.get_by_role("button", name="Apply").click()
    await page.locator("main tbody th a").first.click()
    id = int(page.url.rstrip("/").rpartition("/")[2])
    assert re.fullmatch(r"Gift card •••• \w{2,4} Paid", (await page.locator("h1").inner_text()).strip())
    await page.get_by_role("link", name="Extend").click()
    year = dt.date.fromisoformat(
        str(await shop.one("SELECT expires_on::date FROM gift_card WHERE id = :id", id=id))
    ).year
    await page.locator("#f-expiresOn").fill(f"{year + 1}-11-30T12:00")
    await page.get_by_role("button", name="Extend").click()
    await expect(page.get_by_role("status")).to_have_text("Done: Extend")
    await expect(page.locator(f"time[datetime^='{year + 1}-11-30']").first).to_be_visible()
    assert await shop.one("SELECT extract(year FROM expires_on)::int FROM gift_card WHERE id = :id", id=id) == year + 1


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
async def test_a_line_of_an_order_is_refunded(shop: RunningShop, new_customer: NewCustomer, *, scripts: bool) -> None:
    """Found by its number, on a page in the order of the work, previewed, changed, and confirmed."""
    buyer = await new_customer()
    soap = await shop.demo_product("Trio of garden soaps")
    cart = await shop.hand_over({"product_id": soap, "quantity": 3})
    await buyer.come_to_pay(cart, DeliveryKind.CLICK_AND_COLLECT)
    await buyer.leave_to_pay()
    await buyer.pay_by(GOOD_CARD)
    await buyer.arrive("order")
    order = await shop.order(cart)
    page = await log_in(await new_customer(scripts=scripts), PARTNER_USER)
    look_at = sound if scripts else fits  # axe is a script
    await page.goto(f"{root_of(shop)}orders/?number={order['number']}")
    await page.locator("main tbody th a").first.click()
    await expect(page.locator("main a.main")).to_have_text("Mark ready")
    await look_at(page, "order")
    await page.get_by_role("link", name="Refund the buyer").click()
    await look_at(page, "what is refunded")
    await page.get_by_role("button", name="Preview").click()
    await expect(page.get_by_role("alert")).to_have_text("Choose what is refunded.")
    await page.get_by_role("checkbox", name="Trio of garden soaps").check()
    await page.get_by_label("Quantity").fill("2")
    await page.get_by_role("button", name="Preview").click()
    await expect(page.get_by_role("heading", level=2).first).to_contain_text("€36.00")
    await look_at(page, "preview of a refund")
    await page.get_by_role("button", name="Change it").click()
    await expect(page.get_by_label("Quantity")).to_have_value("2")
    await page.get_by_label("Quantity").fill("1")
    await page.get_by_role("button", name="Preview").click()
    await page.get_by_role("button", name="Refund €18.00").click()
    await expect(page.get_by_role("status")).to_have_text("Done: Refund the buyer")
    await expect(page.locator("#payments + ul")).to_contain_text("−€18.00")
    amounts = "SELECT p.refunded_amount FROM payment p JOIN shop_order o ON o.id = p.order_id WHERE o.cart_id = :cart"
    assert await shop.one(amounts, cart=cart["id"]) == 18
    await page.get_by_role("link", name="All of this customer").click()
    await page.locator("main tbody th a").first.click()
    await look_at(page, "customer")
