"""Every page in every state: accessible on a phone and a desktop, nothing beside the window, small, nobody else asked."""

import contextlib
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Error, Response

from schema.checkout.checkout import CheckoutStep
from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.customer import ADDRESS, Customer
from tests.browser.running_shop import Json, RunningShop
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

LIMIT = 60_000
"""Bytes of a page without the products' pictures."""


async def demo_cart(shop: RunningShop, return_url: str = "") -> Json:
    """A cart as the demo's: something plain, something with versions, something with choices."""
    names = ("Trio of garden soaps", "Lavender scented candle", "Organic cotton bathrobe")
    soap, candle, bathrobe = [await shop.demo_product(name) for name in names]
    ((variant,), *_) = await shop.rows("SELECT id FROM product_variant WHERE product_id = :id", id=candle)
    chosen = await shop.rows(
        """SELECT a.id, min(v.value) FROM product_attribute a JOIN attribute_value v ON v.attribute_id = a.id
        WHERE a.product_id = :id GROUP BY a.id""",
        id=bathrobe,
    )
    return await shop.hand_over(
        {"product_id": soap, "quantity": 2},
        {"product_id": candle, "quantity": 1, "variant_id": variant},
        {"product_id": bathrobe, "quantity": 1, "attribute_values": {str(id): value for id, value in chosen}},
        return_url=return_url,
    )


async def test_the_first_step(shop: RunningShop, customer: Customer) -> None:
    page = customer.page
    await page.goto(shop.home)
    await sound(page, "shop")
    await customer.open(await demo_cart(shop))
    await sound(page, "customization")
    await customer.choose_delivery(DeliveryKind.HOME_DELIVERY, "BE")
    await page.click(".more summary")
    await page.wait_for_load_state("networkidle")
    await page.locator("[aria-busy]").wait_for(state="detached")
    await sound(page, "customization home delivery, more products")
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.click(".bar summary")
    await sound(page, "customization totals opened")
    await page.set_viewport_size({"width": 1280, "height": 844})
    foreign = await shop.one("SELECT id FROM product WHERE partner_id <> :id LIMIT 1", id=shop.partner.id)
    await customer.open(
        await shop.hand_over(
            {"product_id": await shop.demo_product("Ceramic reed diffuser"), "quantity": 1},
            {"product_id": await shop.demo_product("Winter lavender wreath"), "quantity": 1},
            {"product_id": foreign, "quantity": 1},
            {"product_id": await shop.demo_product("Lavender scented candle"), "quantity": 1},
            {"product_id": await shop.demo_product("Organic cotton bathrobe"), "quantity": 1},
            {"product_id": await shop.demo_product("Lavender and apricot body oil"), "quantity": 4},
            {"product_id": await shop.demo_product("Lavender bath salts"), "quantity": 1},
        )
    )
    await sound(page, "customization cannot be sold")
    await customer.press(customer.button("continue"))
    await sound(page, "customization with errors")
    await customer.open(await shop.hand_over())
    await sound(page, "customization empty")


async def test_the_steps_after_it(shop: RunningShop, customer: Customer) -> None:
    page, cart = customer.page, await demo_cart(shop)
    coupon, card = await shop.coupon("SOUND10"), await shop.gift_card("50.00")
    await customer.open(cart)
    await customer.choose_delivery()
    await customer.go_on()
    await sound(page, "information")
    await page.goto(cart["funnel_url"])
    await customer.choose_delivery(DeliveryKind.HOME_DELIVERY, "FR")
    await customer.go_on()
    await sound(page, "information home delivery")
    await customer.press(page.locator("form.column button.main:visible"))
    await sound(page, "information with errors")
    await customer.give_details(**ADDRESS, message="Happy birthday!\nWith love")
    await sound(page, "payment")
    await customer.use(coupon.code, card.code)
    await sound(page, "payment with codes")
    await page.fill("#code", "WRONG")
    await customer.press(page.locator(".add-code button"))
    await sound(page, "payment with errors")
    await shop.hand_over({"product_id": (await shop.product()).id, "quantity": 1}, id=cart["id"])
    await page.reload()
    await sound(page, "customization cart replaced")


async def test_the_provider_and_the_way_back(shop: RunningShop, customer: Customer) -> None:
    page, cart = customer.page, await demo_cart(shop)
    await customer.come_to_pay(cart)
    await page.route("**/_provider/pay/**", lambda route: route.fulfill(status=204))  # and so the browser stays
    await customer.press(customer.pay_button)
    assert customer.at == "leaving"
    await sound(page, "leaving")
    await page.unroute("**/_provider/pay/**")
    await customer.open(cart)
    await sound(page, "customization payment begun")
    await page.click(".note a.button")
    await customer.arrive_at_provider()
    await sound(page, "card")
    await customer.press(page.locator("form#card button.main"))
    await sound(page, "card with errors")
    await customer.pay_by(CHALLENGE_CARD)
    await page.wait_for_url("**/challenge*")
    await sound(page, "challenge")
    await customer.confirm("111111")
    await page.locator(".problems").wait_for()
    await sound(page, "challenge with errors")
    await page.click(".aside a")
    await sound(page, "left the bank")
    await page.click("main a.plain")
    await customer.arrive_at_outcome()
    await sound(page, "waiting")
    await page.goto("about:blank")  # the page that waits looks again, which would overtake the next address
    with contextlib.suppress(Error):  # the page leads on before it is wholly there
        await page.goto(f"http://{shop.domain}/ecommerce/shop/payment/leaving/?cart={cart['id']}")
    await customer.confirm()
    await customer.arrive("order")
    await sound(page, "summary")


async def test_the_other_endings(shop: RunningShop, customer: Customer, new_customer: NewCustomer) -> None:
    page, cart = customer.page, await demo_cart(shop, shop.home)
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    await customer.pay_by(DECLINED_CARD)
    await customer.arrive_at_outcome()
    await sound(page, "declined")
    await page.click("main a.main")
    await sound(page, "payment after declined")
    await customer.leave_to_pay()
    await page.click("form[action*=cancel] button")
    await customer.arrive_at_outcome()
    await sound(page, "cancelled")
    outcome = page.url
    other = await new_customer()
    await other.page.goto(outcome)
    await sound(other.page, "another browser's payment")
    await other.page.goto(f"http://{shop.domain}/ecommerce/shop/nothing/")
    await sound(other.page, "no such page")
    await page.goto(f"http://{shop.domain}/ecommerce/shop/payment/?cart={cart['id']}")
    await page.evaluate("document.querySelector('form[data-once] [name=csrf]').value = 'forged'")
    await customer.pay_button.click()
    await page.locator("h1", has_text="This page was open for too long").wait_for()
    await sound(page, "foreign form")
    await page.goto(f"http://{shop.domain}/ecommerce/shop/payment/?cart={cart['id']}")
    await customer.leave_to_pay()
    await shop.pass_time(minutes=16)
    await page.reload()
    await sound(page, "the provider's time is over")
    await page.click("main a.main")
    await customer.arrive_at_outcome()
    await sound(page, "expired")
    await page.goto(f"http://{shop.domain}/ecommerce/shop/payment/?cart={cart['id']}")
    await customer.leave_to_pay()
    await customer.pay_by()
    await customer.arrive_in_shop()
    await sound(page, "shop after the order")
    await page.goto(f"http://{shop.domain}/ecommerce/shop/customization/?cart=unknown")
    await sound(page, "no such basket")


async def test_a_payment_that_is_given_back(shop: RunningShop, customer: Customer) -> None:
    product = await shop.product("20.00", stock=1)
    cart = await shop.hand_over({"product_id": product.id, "quantity": 1})
    await customer.come_to_pay(cart)
    await customer.leave_to_pay()
    tab = await (await customer.another_tab()).open(cart)
    await tab.page.click(".note form button")
    await tab.page.wait_for_url("**/customization/*")
    await shop.rows("UPDATE product SET stock = 0 WHERE id = :id RETURNING id", id=product.id)
    await customer.pay_by()
    await customer.arrive_at_outcome()
    await sound(customer.page, "refunded")


async def test_a_host_without_a_shop(shop: RunningShop, new_customer: NewCustomer) -> None:
    customer = await new_customer()
    host = f"nobody.localhost:{shop.program.port}"
    customer.watch.hosts |= {host}
    await customer.page.goto(f"http://{host}/ecommerce/shop/customization/")
    assert await customer.h1() == "There is no shop here"
    await sound(customer.page, "no shop")


async def test_every_page_is_small(shop: RunningShop, new_customer: NewCustomer) -> None:
    """Measured as a browser that was never here before loads them."""
    walker = await new_customer()
    await walker.come_to_pay(await demo_cart(shop), DeliveryKind.HOME_DELIVERY)
    cart = walker.page.url.rpartition("cart=")[2]
    weights = {}
    for step in CheckoutStep:
        at, url = str(step), f"http://{shop.domain}/ecommerce/shop/{step}/?cart={cart}"
        if step is CheckoutStep.SUMMARY:
            await walker.leave_to_pay()
            await walker.pay_by()
            await walker.arrive("order")
            at, url = "order", walker.page.url
        fresh = await new_customer()
        await fresh.page.context.add_cookies(await walker.page.context.cookies())  # type: ignore[arg-type]  # what it gives it takes
        weights[step] = await weighed(fresh, url)
        assert fresh.at == at
    assert max(weights.values()) < LIMIT, weights


async def weighed(customer: Customer, url: str) -> int:
    """The bytes that a page and all that it loads take on the way, but for the products' pictures."""
    responses: list[Response] = []

    def keep(response: Response) -> None:
        responses.append(response)

    customer.page.on("response", keep)
    await customer.page.goto(url, wait_until="networkidle")
    pictures = await customer.page.locator("main img").evaluate_all("all => all.map(img => img.currentSrc)")
    loaded = [response for response in responses if response.url not in pictures]
    sizes = {response.url: (await response.request.sizes())["responseBodySize"] for response in loaded}
    assert {urlsplit(url).path.rpartition(".")[2] for url in sizes} >= {"css", "js", "svg"}, sizes
    return sum(sizes.values())


async def test_the_watch_sees_what_it_is_for(customer: Customer, shop: RunningShop) -> None:
    """What the other tests rely on: a page that asks others, or breaks the policy, is noticed."""
    await customer.page.goto(shop.home)
    await customer.page.evaluate(
        """() => new Promise(done => {
            const style = document.createElement('style'); style.textContent = 'p{color:red}'; document.head.append(style);
            const script = document.createElement('script'); script.textContent = 'alert(1)'; document.head.append(script);
            setTimeout(done, 100);
        })"""
    )
    assert len([problem for problem in customer.watch.problems if "Content Security Policy" in problem]) == 2
    customer.watch.problems.clear()
    await customer.page.route("http://elsewhere.example/", lambda route: route.fulfill(body="tracked"))
    await customer.page.goto("http://elsewhere.example/")
    assert customer.watch.problems == ["asks somebody else: http://elsewhere.example/"]
    customer.watch.problems.clear()


async def test_legal_texts(shop: RunningShop, customer: Customer) -> None:
    page = customer.page
    await customer.open(await demo_cart(shop))
    links = await page.locator(".foot-legal a").evaluate_all("found => found.map(a => a.href)")
    assert len(links) == 4
    for link in links:
        await page.goto(link)
        await sound(page, "legal text")
