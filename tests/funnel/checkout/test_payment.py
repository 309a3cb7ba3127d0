"""Paying, without scripts: what is agreed, the provider's page and back, and every way it can end."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from sqlalchemy import text

from schema.cart.cart import Cart, CartItem
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from store.core.clock import clock
from store.product.products import ProductRow
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, GOOD_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of

PAYMENT = "/ecommerce/shop/payment/"
Visitors = Callable[[], Customer]


async def at_payment(shop: Shop, customer: Customer, price: str = "20.00", **cart: Any) -> Cart:
    """A customer who only needs to pay."""
    candle = await shop.product(price, stock=5)
    found = await shop.cart(CartItem(candle.id, 2), **cart)
    await customer.choose(found.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])
    await customer.identify()
    assert customer.step == "payment"
    return found


async def attempt_of(shop: Shop) -> UUID:
    """The last attempt."""
    found: UUID = await shop.one("SELECT id FROM checkout_attempt ORDER BY created_on DESC LIMIT 1")
    return found


async def pay(shop: Shop, customer: Customer, card: str | None = GOOD_CARD, challenge: str = "confirm") -> Customer:
    """What happens at the provider, and the way back from it."""
    attempt_id = await attempt_of(shop)
    payin = await shop.payin_of(attempt_id)
    answer = await shop.control("POST", f"/payins/{payin}/pay", {"card": card, "challenge": challenge})
    assert answer.status_code == 200, answer.text
    return await customer.open(await return_url(shop, customer))


async def return_url(shop: Shop, customer: Customer) -> str:
    """Where the provider sends the customer back to."""
    cart_id = await shop.one("SELECT cart_id FROM checkout_attempt ORDER BY created_on DESC LIMIT 1")
    return f"{PAYMENT}return/{cart_id}/{await attempt_of(shop)}/?transactionId=made-up"


# ---- to the provider and back ------------------------------------------------------------------------------------------


async def test_a_card_with_a_challenge_makes_an_order(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    assert customer.page.one(class_="pay").one("button").text == "Pay €40.00"
    await customer.press_pay()
    assert customer.step == "leaving"
    seconds, provider = customer.refresh
    assert seconds == 0
    assert urlsplit(provider).netloc == "provider.test"
    assert customer.page.one("a", href=provider).text == "Go to the payment page"
    await pay(shop, customer, CHALLENGE_CARD)
    assert customer.step == "order"
    assert customer.h1 == "Thank you for your order"
    told = customer.page.text
    assert "Order number 1" in told
    assert "ada@example.com" in told
    assert customer.amounts == {"Products": "€40.00", "Delivery": "Free", "Total": "€40.00"}
    assert await shop.count("shop_order") == 1


async def test_the_order_stays_where_it_was_made(shop: Shop, customer: Customer, visitors: Visitors) -> None:
    cart = await at_payment(shop, customer)
    await customer.press_pay()
    await pay(shop, customer)
    for path in ("customization", "information", "payment", "summary", "payment/leaving"):
        await customer.open(f"/ecommerce/shop/{path}/?cart={cart.id}")
        assert customer.step == "order"
    await customer.open(await return_url(shop, customer))
    assert customer.step == "order"
    stranger = visitors()
    await stranger.open(f"/ecommerce/shop/summary/?cart={cart.id}")
    assert stranger.response.status_code == 410
    assert stranger.h1 == "This order is complete"
    assert "/orders/" in [link.attributes["href"] for link in stranger.page.one("main").all("a")]
    assert await shop.count("shop_order") == 1


async def test_a_return_url_gets_its_customer_back(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer, return_url="https://shop.example/thanks?x=1")
    await customer.press_pay()
    await pay(shop, customer)
    assert customer.response.status_code == 303
    assert customer.response.headers["location"] == "https://shop.example/thanks?x=1"


async def test_pressing_twice_and_two_tabs_pay_once(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    data = fields_of(customer.form(f"{PAYMENT}?"), customer.page)
    path = customer.path
    links = set()
    for _ in range(3):
        await customer.post(path, data)
        links.add(customer.refresh[1])
    assert len(links) == 1
    assert await shop.count("checkout_attempt") == 1


async def test_an_open_payment_is_finished_or_given_up(shop: Shop, customer: Customer) -> None:
    cart = await at_payment(shop, customer)
    await customer.press_pay()
    provider = customer.refresh[1]
    await customer.open(f"{PAYMENT}?cart={cart.id}")
    assert "You have begun to pay" in [h2.text for h2 in customer.page.all("h2")]
    finish = next(a for a in customer.page.all("a") if a.text == "Finish the payment")
    await customer.open(finish.attributes["href"])
    assert customer.refresh[1] == provider
    await customer.open(f"{PAYMENT}?cart={cart.id}")
    await customer.send(f"{PAYMENT}cancel/")
    assert customer.step == "customization"
    assert "You have begun to pay" not in customer.page.text
    assert await shop.one("SELECT stock FROM product") == 5


@pytest.mark.parametrize(
    ("card", "title"),
    [
        (DECLINED_CARD, "Your payment was declined"),
        ("4970109000000205", "The amount is above your limit"),
        ("4970109000000304", "This card cannot be used"),
        ("4970109000000403", "Your payment was declined"),
        ("4970109000000700", "Your bank could not be sure that it was you"),
        (None, "You left before paying"),
    ],
)
async def test_a_payment_that_fails_says_so_and_leads_on(
    shop: Shop, customer: Customer, card: str | None, title: str
) -> None:
    await at_payment(shop, customer)
    await customer.press_pay()
    await pay(shop, customer, card)
    assert customer.response.status_code == 200
    assert customer.h1 == title
    assert "Nothing was charged." in customer.page.text
    links = {a.text: a.attributes["href"] for a in customer.page.one("main").all("a")}
    assert list(links) == ["Try again", "Change the order", "Back to the shop"]
    await customer.open(links["Try again"])
    assert title in [h2.text for h2 in customer.page.all("h2")]
    await customer.press_pay()
    await pay(shop, customer)
    assert customer.h1 == "Thank you for your order"
    assert await shop.count("shop_order") == 1


async def test_a_bank_that_takes_its_time_is_waited_for(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await customer.press_pay()
    await customer.open(await return_url(shop, customer))
    pauses = []
    while "refresh" in customer.response.headers:
        assert customer.h1 == "We are checking your payment"
        seconds, again = customer.refresh
        pauses.append(seconds)
        await customer.open(again)
    assert pauses == sorted(pauses)
    assert 60 < sum(pauses) < 300
    assert any(a.text == "Look again" for a in customer.page.all("a"))
    await pay(shop, customer)
    assert customer.h1 == "Thank you for your order"


async def test_waiting_can_be_given_up(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await customer.press_pay()
    await customer.open(await return_url(shop, customer))
    await customer.send(f"{PAYMENT}cancel/")
    assert customer.step == "payment"
    assert customer.h1 == "Check and pay"


async def test_an_expired_link_is_told(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await customer.press_pay()
    clock.advance(dt.timedelta(minutes=25))
    await customer.open(await return_url(shop, customer))
    assert customer.h1 == "The time to pay ran out"


async def test_what_was_gone_when_the_money_came_is_refunded(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await customer.press_pay()
    attempt_id, back = await attempt_of(shop), await return_url(shop, customer)
    payin = await shop.payin_of(attempt_id)
    await customer.open(f"{PAYMENT}?cart={back.split('/')[5]}")
    await customer.send(f"{PAYMENT}cancel/")
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE product SET stock = 0"))
    await shop.control("POST", f"/payins/{payin}/pay", {"card": GOOD_CARD, "challenge": "confirm"})
    await customer.open(back)
    assert customer.h1 == "Your payment is being refunded"
    assert "Amount that goes back: €40.00" in customer.page.text
    assert await shop.count("shop_order") == 0
    assert next(a for a in customer.page.one("main").all("a")).text == "Check my order again"


async def test_another_browser_is_told_nothing(shop: Shop, customer: Customer, visitors: Visitors) -> None:
    await at_payment(shop, customer)
    await customer.press_pay()
    back = await return_url(shop, customer)
    stranger = visitors()
    await stranger.open(back)
    assert stranger.response.status_code == 404
    assert stranger.h1 == "This payment belongs to another browser"
    assert "€" not in stranger.page.text
    made_up = back.replace(str(await attempt_of(shop)), "3f2504e0-4f89-41d3-9a0c-0305e82c3301")
    await stranger.open(made_up)
    assert stranger.h1 == "This payment belongs to another browser"


async def test_the_cart_may_expire_while_its_customer_pays(shop: Shop, customer: Customer) -> None:
    cart = await at_payment(shop, customer)
    await customer.press_pay()
    await shop.services.carts.delete_if_unchanged(shop.partner.id, cart.id, cart.last_modified)
    await customer.open(f"/ecommerce/shop/payment/?cart={cart.id}")
    assert customer.h1 == "We are checking your payment"
    await pay(shop, customer)
    assert customer.h1 == "Thank you for your order"


# ---- what stands in the way of paying ----------------------------------------------------------------------------------


async def refusal_title(customer: Customer) -> str:
    """The title of the reason why a payment did not begin."""
    assert customer.step == "payment"
    told = customer.page.one(role="alert").one("h2").text
    await customer.open(customer.path)
    assert not customer.page.all(role="alert"), "told once"
    return told


async def test_a_changed_price_is_shown_before_it_is_paid(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE product SET price_amount = 25"))
    await customer.press_pay()
    assert await refusal_title(customer) == "Your order has changed since you saw it"
    assert customer.amounts["Total"] == "€50.00"
    assert await shop.count("checkout_attempt") == 0
    await customer.press_pay()
    assert customer.step == "leaving"


@pytest.mark.parametrize("total", ["", "1e2", "-40", "40.00.00", "NaN"])
async def test_an_amount_that_is_none_pays_nothing(shop: Shop, customer: Customer, total: str) -> None:
    await at_payment(shop, customer)
    await customer.send(f"{PAYMENT}?", {"total": total})
    assert await refusal_title(customer) == "Your order has changed since you saw it"
    assert await shop.count("checkout_attempt") == 0


async def test_sold_out_meanwhile_leads_back_to_the_order(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE product SET stock = 0"))
    await customer.press_pay()
    assert customer.step == "customization"
    assert "This product is sold out" in customer.page.text
    assert await shop.count("checkout_attempt") == 0


async def test_a_shop_that_cannot_be_paid_says_so(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    async with shop.services.db.sessions() as db, db.begin():
        await (await db.connection()).execute(text("UPDATE partner SET payments_active = false"))
    await customer.press_pay()
    assert await refusal_title(customer) == "This shop cannot take payments at the moment"


async def test_a_silent_provider_is_told_and_tried_again(shop: Shop, customer: Customer) -> None:
    cart = await at_payment(shop, customer)
    fault = {"method": "POST", "path": "/payins/card/web", "kind": "status", "status": 503, "times": 50}
    assert (await shop.control("POST", "/faults", fault)).status_code == 200
    await customer.press_pay()
    assert await refusal_title(customer) == "The payment service is slow to respond"
    await shop.control("DELETE", "/faults")
    await customer.open(f"{PAYMENT}?cart={cart.id}")
    await customer.press_pay()
    await pay(shop, customer)
    assert customer.h1 == "Thank you for your order"
    assert await shop.count("shop_order") == 1


# ---- coupons and gift cards --------------------------------------------------------------------------------------------


async def test_codes_add_up_and_come_off_one_by_one(shop: Shop, customer: Customer) -> None:
    await shop.coupon("WELCOME10", "10.00")
    card = await shop.gift_card("15.00")
    await at_payment(shop, customer)
    await customer.use_code(" welcome-10 ")
    await customer.use_code(card.code.lower())
    end = card.code[-4:]
    assert customer.amounts == {
        "Products": "€40.00",
        "Coupon WELCOME10": "−€4.00",
        "Delivery": "Free",
        "Total": "€36.00",
        f"Gift card ending in {end}": "−€15.00",
        "Left to pay": "€21.00",
    }
    assert customer.page.one(class_="pay").one("button").text == "Pay €21.00"
    assert card.code not in customer.page.one("main").text
    coupon = customer.page.one(class_="applied").all("li")[0]
    form = coupon.one("form")
    await customer.post(form.attributes["action"], fields_of(form, customer.page) | {"remove": "WELCOME10"})
    assert "Coupon WELCOME10" not in customer.amounts
    assert customer.amounts["Left to pay"] == "€25.00"


async def test_unknown_expired_and_foreign_codes_get_one_answer(shop: Shop, customer: Customer) -> None:
    await shop.coupon("ENDED", "10.00", ends_on=clock.now() - dt.timedelta(days=1))
    empty = await shop.gift_card("5.00", expires_on=clock.now() - dt.timedelta(days=1))
    await at_payment(shop, customer)
    answers = []
    for code in ("NEVER-HEARD", "ENDED", empty.code):
        await customer.use_code(code)
        assert customer.page.one(id="code").attributes["value"] == code
        answers.append((customer.page.all(id="errors"), customer.page.one(id="code-wrong").text))
    assert answers == [answers[0]] * 3
    assert answers[0] == ([], "This code cannot be used here. Check that it is typed correctly.")
    await customer.use_code("   ")
    assert customer.errors == ["Enter a code."]


async def test_wholly_covered_needs_no_card(shop: Shop, customer: Customer) -> None:
    card = await shop.gift_card("100.00")
    await at_payment(shop, customer)
    await customer.use_code(card.code)
    assert customer.page.one(class_="pay").one("button").text == "Confirm the order"
    await customer.press_pay()
    assert customer.step == "order"
    assert customer.amounts["Paid online"] == "€0.00"
    assert await shop.one("SELECT remaining_amount FROM gift_card") == Decimal("60.00")


# ---- what the page shows -----------------------------------------------------------------------------------------------


async def test_everything_that_is_paid_is_shown(shop: Shop, customer: Customer) -> None:
    book = await shop.product("10.00", name=Text(en="Book"), vat_rate=Decimal("5.50"))
    candle: ProductRow = await shop.product("20.00", vat_rate=Decimal("20.00"))
    large = await shop.variant(candle, "30.00")
    cart = await shop.cart(CartItem(book.id, 1), CartItem(candle.id, 2, large.id))
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], "FR")
    await customer.identify(phone="0612345678", recipient_name="Grace Hopper", message="<b>Hello</b>")
    told = customer.page.one("main").text
    for part in (
        "Book",
        "Quantity: 2 · Large",
        "€60.00",
        "Ada Martin",
        "+33 6 12 34 56 78",
        "Grace Hopper",
        "75011 Paris",
    ):
        assert part in told, part
    assert customer.page.one("blockquote").text == "<b>Hello</b>"
    rates = [row.one("dt").text for row in customer.page.one("dl", class_="vat").all("div")]
    assert rates == ["Including VAT of 5.5% on €9.48", "Including VAT of 20% on €54.17"]
    assert customer.amounts["Total"] == "€75.00"
