"""The whole walk for those who have no scripts, and for those who have no mouse."""

import pytest
from playwright.async_api import Page

from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.customer import ABROAD, DETAILS, Customer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import CHALLENGE_CARD
from tests.servers.chromium import needs_chromium

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def test_without_scripts(shop: RunningShop, new_customer: NewCustomer) -> None:
    customer = await new_customer(390, scripts=False)
    candle = await shop.demo_product("Lavender scented candle")
    coupon, card = await shop.coupon("NOSCRIPT"), await shop.gift_card("10.00")
    tea = await shop.demo_product("Evening herbal tea")
    cart = await shop.hand_over({"product_id": candle, "quantity": 1}, return_url=shop.home)
    await customer.open(cart)
    await _changes_the_lines(customer, tea)
    await _mistypes_a_quantity(customer)
    await customer.choose_delivery(DeliveryKind.HOME_DELIVERY, "BE")
    await customer.go_on()
    await _forgets_the_details(customer)
    await customer.give_details(**ABROAD)
    await customer.use("noscript", card.code)
    await _mistypes_a_code_and_takes_one_off(customer)
    await customer.use(coupon.code)
    await customer.leave_to_pay()
    await customer.pay_by(CHALLENGE_CARD)
    await customer.confirm()
    order = await shop.order(cart)
    await customer.arrive_in_shop(order["number"])
    amounts = [order[name]["amount"] for name in ("discountTotal", "deliveryTotal", "giftCardTotal", "cardTotal")]
    assert amounts == ["2.60", "8.90", "10.00", "22.30"]
    assert order["products"][0]["variant"]["name"]["en"].startswith("180")


async def _changes_the_lines(customer: Customer, tea: int) -> None:
    page = customer.page
    await customer.press(customer.button("continue"))
    assert await page.locator("#errors li").count() == 2, "a version and a delivery are missing"
    assert await page.locator("#errors:focus").count() == 1
    await page.select_option("#line-0-variant", label=await _label(page, "180"))
    await customer.press(customer.button("update"))
    assert "€26.00" in await customer.read_text("#line-0")
    await customer.press(customer.button("more-0"))
    assert await page.input_value("#line-0-quantity") == "2"
    assert "€52.00" in await customer.read_text("#line-0")
    await page.click(".more summary")
    await customer.press(customer.button(f"add-{tea}"))
    assert await page.locator(".lines > li").count() == 2
    await customer.press(customer.button("less-1"))
    await customer.press(customer.button("remove-1"))
    assert await page.locator(".lines > li").count() == 1


async def _mistypes_a_quantity(customer: Customer) -> None:
    page = customer.page
    await page.fill("#line-0-quantity", "many")
    await customer.press(customer.button("update"))
    assert "Enter a quantity from 0 to 9999." in await customer.read_text("#errors")
    assert await page.input_value("#line-0-quantity") == "many", "what was typed stays"
    await page.fill("#line-0-quantity", "1")


async def _forgets_the_details(customer: Customer) -> None:
    page = customer.page
    await customer.press(page.locator("form.column button.main:visible"))
    assert await page.locator("#errors:focus").count() == 1
    assert "Enter a town or city." in await customer.read_text("#errors")
    await page.click("#errors li:last-child a")
    assert await page.locator("#city:focus").count() == 1


async def _mistypes_a_code_and_takes_one_off(customer: Customer) -> None:
    page = customer.page
    await page.fill("#code", "WRONG")
    await customer.press(page.locator(".add-code button"))
    assert "This code cannot be used here." in await customer.read_text(".codes")
    await customer.press(page.locator(".applied button").first)
    assert await page.locator(".applied li").count() == 1


async def _label(page: Page, beginning: str) -> str:
    """The text of the option that begins so."""
    labels = await page.locator("#line-0-variant option").all_inner_texts()
    return next(label for label in labels if label.startswith(beginning))


async def test_by_keyboard_alone(shop: RunningShop, customer: Customer) -> None:
    tea = await shop.demo_product("Evening herbal tea")
    cart = await shop.hand_over({"product_id": tea, "quantity": 1}, return_url=shop.home)
    await customer.open(cart)
    keys, page = Keyboard(customer), customer.page
    await keys.press(page.locator("a.skip"))
    assert await page.locator("#main:focus").count() == 1
    await keys.press(page.locator("button[data-step='1']"))
    await page.locator("aside [data-live=totals]", has_text="€29.00").wait_for()
    await keys.press(page.locator("button[value=continue]:visible"))
    await page.locator("#errors:focus").wait_for()
    await keys.press(page.locator("#errors a"))
    await page.wait_for_url("**#delivery")
    await keys.press(page.locator("input[name=delivery]:visible"), "Space")
    for _ in shop.modes:
        if await page.locator(f"#delivery-{shop.modes[DeliveryKind.CLICK_AND_COLLECT]}:checked").count():
            break
        await page.keyboard.press("ArrowDown")
    await keys.press(page.locator("button[value=continue]:visible"))
    await customer.arrive("information")
    for name, value in DETAILS.items():
        await keys.type(f"#{name}", value)
    await page.keyboard.press("Enter")
    await customer.arrive("payment")
    await keys.press(customer.pay_button)
    await customer.arrive_at_provider()
    await keys.press(page.locator(f'#cards a[href*="{CHALLENGE_CARD}"]'))
    await page.wait_for_url("**card=*")
    await keys.press(page.locator("form#card button.main"))
    await page.wait_for_url("**/challenge*")
    await keys.type("#code", "000000")
    await page.keyboard.press("Enter")
    order = await shop.order(cart)
    await customer.arrive_in_shop(order["number"])
    assert order["products"][0]["quantity"] == 2


async def test_from_the_demo_shop_and_back(shop: RunningShop, new_customer: NewCustomer) -> None:
    """As a newcomer tries it, without a word of API."""
    customer = await new_customer(390, "fr-FR")
    await customer.page.goto(shop.home)
    soap = await shop.demo_product("Trio of garden soaps")
    await customer.page.click(f'button[name=product][value="{soap}"]')
    await customer.arrive("customization")
    assert await customer.page.get_attribute("html", "lang") == "fr"
    await customer.choose_delivery()
    await customer.go_on()
    await customer.give_details()
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive_in_shop()
    assert await customer.page.locator("[role=status]").count() == 1
    number = customer.page.url.rpartition("=")[2]
    cart = await shop.one(
        "SELECT cart_id FROM shop_order WHERE number = :number AND partner_id = 1", number=int(number)
    )
    order = await shop.order({"id": str(cart)})
    assert (order["language"], order["products"][0]["productId"]) == ("fr", soap)
