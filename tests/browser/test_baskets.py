"""Vouchers and gift cards, bought in a browser: by keyboard as far as the payment, and without scripts on a phone."""

import json
import re

import pytest
from playwright.async_api import expect

from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.fixtures.basket import Experiences, experiences
from tests.fixtures.shop import CHALLENGE_CARD, GOOD_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

TIMEOUT = 60_000


async def test_a_voucher_with_options_for_somebody(shop: RunningShop, customer: Customer) -> None:
    sold = await experiences(shop)
    await _a_long_name(shop, sold)
    await _filters_the_catalogue_and_looks_at_pictures(shop, customer)
    await _finds_a_long_name_whole(shop, customer, sold)
    await _chooses_a_massage_with_options(customer, sold)
    await _is_told_what_is_missing(customer)
    await _pays_with_a_challenge(customer)
    await _finds_the_voucher_and_its_document(shop, customer, sold)
    await customer.page.goto(f"{shop.home}giftcards/shop/")
    await sound(customer.page, "gift card")
    await shop.rows("UPDATE voucher_prototype SET is_active = false WHERE id = :id RETURNING id", id=sold.massage.id)


async def _a_long_name(shop: RunningShop, sold: Experiences) -> None:
    long = "UPDATE voucher_prototype SET name = CAST(:said AS jsonb) WHERE id = :id RETURNING id"
    await shop.rows(long, said=json.dumps({"en": f"Table for two {'donaudampfschiff' * 6}"}), id=sold.meal.id)


async def _filters_the_catalogue_and_looks_at_pictures(shop: RunningShop, customer: Customer) -> None:
    page, keys = customer.page, Keyboard(customer)
    await page.goto(f"{shop.home}vouchers/shop/")
    await sound(page, "shop window")
    async with page.expect_navigation():
        await keys.press(page.get_by_role("link", name="Stays"))
    await keys.to(page.get_by_label("Sort by"))
    await page.select_option("#sort", "dearest")
    async with page.expect_navigation():
        await keys.press(page.get_by_role("button", name="Show"))
    await sound(page, "shop window, filtered")
    async with page.expect_navigation():
        await keys.press(page.get_by_role("link", name="A night among the lavender"))
    await sound(page, "page of an experience")
    await keys.press(page.locator("a.zoom").first)
    await expect(page.locator("#picture-1 img")).to_be_visible(timeout=TIMEOUT)
    await keys.press(page.locator("#picture-1").get_by_role("link", name="Next picture"))
    await expect(page.locator("#picture-2 img")).to_be_visible(timeout=TIMEOUT)
    await expect(page.locator("#picture-1 img")).to_be_hidden(timeout=TIMEOUT)
    await keys.press(page.locator("#picture-2").get_by_role("link", name="Close"))
    await expect(page.locator("#picture-2 img")).to_be_hidden(timeout=TIMEOUT)


async def _finds_a_long_name_whole(shop: RunningShop, customer: Customer, sold: Experiences) -> None:
    page, keys = customer.page, Keyboard(customer)
    await page.goto(f"{shop.home}vouchers/shop/customization/?prototype={sold.meal.id}")
    await sound(page, "a long name on the page of the experience")
    async with page.expect_navigation():
        await keys.press(page.get_by_role("link", name="Experiences"))


async def _chooses_a_massage_with_options(customer: Customer, sold: Experiences) -> None:
    page, keys = customer.page, Keyboard(customer)
    async with page.expect_navigation():
        await keys.press(page.get_by_role("link", name="Massage by the fire").last)
    await keys.press(page.get_by_role("button", name="Choose this experience"))
    await customer.arrive("customization")
    await sound(page, "voucher")
    total = page.locator('.panel [data-live="basket"] .sum dd')
    await keys.press(page.get_by_role("group", name="Adults").get_by_role("button", name="One more"))
    await expect(total).to_have_text("€170.00", timeout=TIMEOUT)
    await keys.to(page.locator(f"#option-{sold.lavender.id}"))
    await page.keyboard.press("ArrowDown")
    await expect(total).to_have_text("€182.00", timeout=TIMEOUT)
    await keys.press(page.locator(f"#option-{sold.robe.id}"), "Space")
    await expect(total).to_have_text("€197.00", timeout=TIMEOUT)
    await keys.press(customer.button("continue"))
    await expect(page).to_have_url(re.compile("part=personal"), timeout=TIMEOUT)
    await sound(page, "voucher, for whom")
    preview = page.locator("img.preview")
    first = await preview.get_attribute("src")
    await keys.type("#giftee-name", "Marie")
    await keys.type("#message", "Enjoy!")
    await expect(preview).not_to_have_attribute("src", first or "", timeout=TIMEOUT)
    assert await preview.evaluate("async (img) => { await img.decode(); return img.naturalWidth; }") == 794


async def _is_told_what_is_missing(customer: Customer) -> None:
    page, keys = customer.page, Keyboard(customer)
    await keys.press(customer.button("continue"))
    await expect(page.locator("#errors")).to_be_focused(timeout=TIMEOUT)
    await sound(page, "voucher, wrong")
    await keys.to(page.locator("[name=reception]").first)
    await page.keyboard.press("ArrowDown")
    assert await page.locator("#reception-giftee_email").is_checked()
    await keys.press(customer.button("continue"))
    await expect(page.locator("#errors a")).to_have_attribute("href", "#giftee-email", timeout=TIMEOUT)
    await page.fill("#giftee-email", "marie@example.com")
    await customer.go_on()


async def _pays_with_a_challenge(customer: Customer) -> None:
    page = customer.page
    await page.goto(page.url.replace("information", "customization"))
    await sound(page, "basket")
    await customer.go_on()
    await customer.give_details()
    await sound(page, "payment of a voucher")
    assert "2 adults · Rose · Robe · for Marie" in await customer.read_text(".small-lines")
    await customer.leave_to_pay()
    await customer.pay_by(CHALLENGE_CARD)
    await customer.confirm()
    await customer.arrive("order")
    await sound(page, "summary of a voucher")


async def _finds_the_voucher_and_its_document(shop: RunningShop, customer: Customer, sold: Experiences) -> None:
    page = customer.page
    ((code, state),) = await shop.rows(
        "SELECT code, state FROM voucher WHERE voucher_prototype_id = :id", id=sold.massage.id
    )
    assert (code, state) == (await page.locator(".issued .code").inner_text(), "paid")
    document = await page.get_by_role("link", name="Open to print").get_attribute("href")
    assert document is not None
    answer = await shop.http.get(document, headers={"Host": shop.domain})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")


async def test_a_gift_card_without_scripts(shop: RunningShop, new_customer: NewCustomer) -> None:
    customer = await new_customer(390, scripts=False)
    page = customer.page
    before = await shop.rows("SELECT id FROM gift_card")
    await page.goto(f"{shop.home}giftcards/shop/")
    await page.check("#value-other")
    await page.fill("#other", "25,5")
    await customer.press(customer.button("update"))
    assert "€25.50" in await customer.read_text(".bar")
    await page.fill("#other", "a lot")
    await customer.press(customer.button("continue"))
    assert await page.locator("#errors:focus").count() == 1
    assert await page.input_value("#other") == "a lot"
    await page.check("#value-1")
    await customer.press(customer.button("continue"))
    await page.check("#for-self")
    assert not await page.locator("#giftee-email").is_visible()
    await page.check("#reception-print_at_home")
    await customer.go_on()
    await customer.give_details()
    await customer.leave_to_pay()
    await customer.pay_by(GOOD_CARD)
    await customer.arrive("order")
    new = "SELECT code, value_amount::text, status FROM gift_card WHERE id <> ALL(:before)"
    ((code, value, status),) = await shop.rows(new, before=[id for (id,) in before])
    assert (value, status) == ("50.00", "paid")
    assert code in await customer.read_text(".issued")
    assert "Sent to ada@example.com." in await customer.read_text("main")
