"""Apple Pay and Google Pay in a browser: the sandbox's own sheet, the browser's interfaces as a test stands in for them, and
browsers that have neither.
"""

import json

import pytest
from playwright.async_api import Page, Route

from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.running_shop import Json, RunningShop
from tests.browser.test_payment_page import link_to
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, GOOD_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

APPLE = """
delete globalThis.PaymentRequest;
globalThis.asked = [];
globalThis.ApplePaySession = class {
  static STATUS_SUCCESS = 0;
  static STATUS_FAILURE = 1;
  static supportsVersion(version) { return version === 3; }
  static canMakePayments() { return true; }
  constructor(version, request) { asked.push({ version, request }); }
  begin() { this.onvalidatemerchant({ validationURL: "https://apple-pay-gateway.apple.com/paymentservices/startSession" }); }
  completeMerchantValidation(session) {
    asked.push({ session });
    const paymentData = { version: "EC_v1", sandboxCard: "CARD" };
    this.onpaymentauthorized({ payment: { token: { paymentData, paymentMethod: { network: "MasterCard" }, transactionIdentifier: "1" } } });
  }
  completePayment({ status }) { sessionStorage.status = status; }
  abort() { asked.push("aborted"); }
};
"""
"""Safari's interface, whose user confirms at once."""
GOOGLE = """
globalThis.asked = [];
globalThis.PaymentRequest = class {
  constructor(methods, details) { asked.push({ methods, details }); }
  async canMakePayment() { return true; }
  async show() {
    if (globalThis.cancels) throw new DOMException("closed", "AbortError");
    const token = JSON.stringify({ protocolVersion: "ECv2", sandboxCard: "CARD" });
    return { details: { paymentMethodData: { tokenizationData: { token } } }, complete: async (result) => { sessionStorage.status = result; } };
  }
};
"""
"""Chrome's interface."""


async def at_payment(shop: RunningShop, customer: Customer, script: str = "", card: str = GOOD_CARD) -> Json:
    """Come to the third step; with a `script` in a browser that has what it defines, instead of the sandbox's sheet."""
    if script:
        await customer.page.add_init_script(script.replace("CARD", card))
        await customer.page.route(
            "**/sandbox-wallets.*.js", lambda route: route.fulfill(content_type="text/javascript")
        )
    candle = await shop.product("30.00")
    cart = await shop.hand_over({"product_id": candle.id, "quantity": 1})
    await customer.come_to_pay(cart)
    return cart


async def sandbox_sheet(page: Page, method: str, card: str = GOOD_CARD) -> None:
    """Pay with the sheet of the sandbox."""
    await page.click(f"[data-wallet={method}]")
    await page.select_option("#sandbox-card", card)
    await page.click(".sandbox-wallet [value=pay]")


@pytest.mark.parametrize("method", ["apple_pay", "google_pay"])
async def test_the_sheet_of_the_sandbox_pays(shop: RunningShop, customer: Customer, method: str) -> None:
    cart, before, page = await at_payment(shop, customer), await shop.charges(), customer.page
    await page.locator(f"[data-wallet={method}]").wait_for()
    await sound(page, f"payment with {method}")
    await page.click(f"[data-wallet={method}]")
    await page.locator(".sandbox-wallet").wait_for()
    await sound(page, f"sheet of {method}")
    await page.keyboard.press("Escape")
    assert await page.locator(".sandbox-wallet").count() == 0
    await sandbox_sheet(page, method)
    await customer.arrive("order")
    assert await customer.h1() == "Thank you for your order"
    await shop.order(cart)
    assert await shop.charges() == before + 1
    paid = "SELECT t.method FROM payment_transaction t JOIN payment p ON p.id = t.payment_id JOIN shop_order o ON o.id = p.order_id WHERE o.cart_id = :cart"
    assert await shop.one(paid, cart=cart["id"]) == method


async def test_apple_pay_by_the_browser(shop: RunningShop, customer: Customer) -> None:
    page = customer.page
    opaque = {"merchantSessionIdentifier": "opaque"}
    await page.route("**/payment/apple-pay/*", lambda route: route.fulfill(json=opaque))
    cart = await at_payment(shop, customer, APPLE)
    button = page.get_by_role("button", name="Pay with Apple Pay")
    await button.wait_for()
    await page.evaluate(
        "globalThis.addEventListener('pagehide', () => { sessionStorage.asked = JSON.stringify(asked); })"
    )
    await button.click()
    await customer.arrive("order")
    asked = json.loads(await page.evaluate("sessionStorage.asked"))
    assert (asked[0]["version"], asked[0]["request"]["total"]["amount"]) == (3, "30.00")
    assert asked[1] == {"session": opaque}
    assert await page.evaluate("sessionStorage.status") == "0"
    await shop.order(cart)


async def test_apple_does_not_validate_the_shop(shop: RunningShop, customer: Customer) -> None:
    page = customer.page
    await at_payment(shop, customer, APPLE)
    before = await shop.charges()
    await page.route("**/payment/apple-pay/*", lambda route: route.abort())
    await page.get_by_role("button", name="Pay with Apple Pay").click()
    told = page.get_by_text("This did not work, and nothing was charged.")
    await told.wait_for()
    await sound(page, "Apple Pay has failed")
    assert "aborted" in await page.evaluate("asked")
    assert await page.locator(".wallet[aria-disabled]").count() == 0
    assert await shop.charges() == before
    customer.watch.problems[:] = [each for each in customer.watch.problems if "apple-pay" not in each]


async def test_a_sheet_that_ends_by_itself_keeps_nobody_from_the_order(shop: RunningShop, customer: Customer) -> None:
    """Safari's sheet is closed while the token is on its way, and takes no answer any more."""
    page = customer.page
    await page.route("**/payment/apple-pay/*", lambda route: route.fulfill(json={}))
    ended = APPLE.replace(
        "completePayment({ status }) { sessionStorage.status = status; }",
        "completePayment() { sessionStorage.busy = document.querySelectorAll('.wallet[aria-disabled]').length; throw new Error('ended'); }",
    ).replace('transactionIdentifier: "1" } } });', 'transactionIdentifier: "1" } } }); this.oncancel();')
    cart = await at_payment(shop, customer, ended)
    before = await shop.charges()
    await page.get_by_role("button", name="Pay with Apple Pay").click()
    await customer.arrive("order")
    assert int(await page.evaluate("sessionStorage.busy")) > 0, "no button can be pressed meanwhile"
    await shop.order(cart)
    assert await shop.charges() == before + 1


async def test_a_refused_token_is_told(shop: RunningShop, customer: Customer) -> None:
    cart, page = await at_payment(shop, customer, GOOGLE), customer.page
    before = await shop.charges()
    await page.route("**/payment/token/*", lambda route: route.fulfill(status=429))
    await page.get_by_role("button", name="Pay with Google Pay").click()
    await page.get_by_text("This did not work, and nothing was charged.").wait_for()
    assert await page.evaluate("sessionStorage.status") == "fail"
    assert await page.locator(".wallet[aria-disabled]").count() == 0
    assert await shop.charges() == before
    await page.unroute("**/payment/token/*")
    await page.get_by_role("button", name="Pay with Google Pay").click()
    await customer.arrive("order")
    await shop.order(cart)
    customer.watch.problems[:] = [each for each in customer.watch.problems if "429" not in each]


async def test_an_answer_that_is_lost_on_the_way_is_looked_up(shop: RunningShop, customer: Customer) -> None:
    url, before, page = await link_to(shop), await shop.charges(), customer.page

    async def lose(route: Route) -> None:
        await route.fetch()
        await route.fulfill(status=502)

    await page.route("**/token/", lose)
    await page.goto(url)
    await sandbox_sheet(page, "apple_pay")
    await page.get_by_role("heading", name="Thank you, it is paid").wait_for()
    assert await shop.charges() == before + 1
    customer.watch.problems[:] = [each for each in customer.watch.problems if "502" not in each]


async def test_google_pay_by_the_browser_with_the_banks_page(shop: RunningShop, customer: Customer) -> None:
    cart, page = await at_payment(shop, customer, GOOGLE, CHALLENGE_CARD), customer.page
    button = page.get_by_role("button", name="Pay with Google Pay")
    await button.wait_for()
    [method] = await page.evaluate("asked[0].methods")
    assert method["supportedMethods"] == "https://google.com/pay"
    await page.evaluate("globalThis.cancels = true")
    await button.click()
    assert await page.locator(".wallet[aria-disabled]").count() == 0, "the customer has closed the sheet"
    await page.evaluate("globalThis.cancels = false")
    await button.click()
    await customer.confirm()
    await customer.arrive("order")
    await shop.order(cart)


async def test_a_declined_card_says_why(shop: RunningShop, customer: Customer) -> None:
    cart, page = await at_payment(shop, customer, GOOGLE, DECLINED_CARD), customer.page
    await page.get_by_role("button", name="Pay with Google Pay").click()
    await customer.arrive_at_outcome()
    assert await customer.h1() == "Your payment was declined"
    assert await page.evaluate("sessionStorage.status") == "fail"
    assert await shop.orders(cart) == []


@pytest.mark.parametrize("scripts", [True, False])
async def test_a_browser_that_cannot_pay_shows_no_button(
    shop: RunningShop, new_customer: NewCustomer, *, scripts: bool
) -> None:
    customer = await new_customer(390, scripts=scripts)
    without = "delete globalThis.ApplePaySession; delete globalThis.PaymentRequest;"
    cart, page = await at_payment(shop, customer, without), customer.page
    await page.wait_for_load_state("networkidle")
    assert await page.locator(".wallets").count() == 1
    assert not await page.locator(".wallets").is_visible()
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive("order")
    await shop.order(cart)


async def test_a_payment_link_is_paid(shop: RunningShop, customer: Customer) -> None:
    url, before, page = await link_to(shop), await shop.charges(), customer.page
    await page.goto(url)
    await page.locator("[data-wallet=google_pay]").wait_for()
    await sound(page, "link with wallets")
    await sandbox_sheet(page, "apple_pay", DECLINED_CARD)
    await page.locator(".note").wait_for()
    assert await customer.notes() == ["Your payment was declined"]
    await sandbox_sheet(page, "google_pay", CHALLENGE_CARD)
    await customer.confirm()
    await customer.reach(url)
    assert await customer.h1() == "Thank you, it is paid"
    assert await shop.charges() == before + 1
    await shop.check_ledger()
