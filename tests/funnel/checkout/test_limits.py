"""What customers see when there was too much: pages of the shop, in their language, with nothing lost."""

import contextlib
import dataclasses
import datetime as dt
import html
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from funnel.core.languages import translations
from schema.cart.cart import CartItem
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.codes import ALPHABET, normalize
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.conftest import checkout_app
from tests.servers.production import SHOP_URL

CANNOT = ["This code cannot be used here. Check that it is typed correctly."]
WAIT = ["Too many attempts. Wait a few minutes, then try again."]


async def at_payment(shop: Shop, customer: Customer) -> Customer:
    """A customer who only needs to pay."""
    cart = await shop.cart(CartItem((await shop.product()).id, 1))
    await customer.choose(cart.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])
    return await customer.identify()


async def test_after_twenty_codes_that_are_none_even_a_good_one_has_to_wait(shop: Shop, customer: Customer) -> None:
    await shop.coupon("WELCOME10")
    await at_payment(shop, customer)
    for n in range(20):
        await customer.use_code(f"guess {n}")
        assert customer.errors == CANNOT
    for code in ("guess 20", "welcome 10"):
        await customer.use_code(code)
        assert (customer.response.status_code, customer.errors) == (200, WAIT)
        assert customer.page.one(id="code").attributes["value"] == code
    assert "Discount" not in customer.amounts
    clock.advance(dt.timedelta(hours=1))
    await customer.use_code("welcome 10")
    assert customer.errors == []
    assert "WELCOME10" in customer.page.one(id="codes").text


async def test_a_new_browser_at_the_same_address_has_to_wait_too(shop: Shop, visitors: Any) -> None:
    customer = await at_payment(shop, visitors())
    for n in range(20):
        await customer.use_code(f"guess {n}")
    other = await at_payment(shop, visitors())
    await other.use_code("guess")
    assert other.errors == WAIT


async def test_a_slip_of_the_finger_is_no_guess_and_is_not_looked_for(shop: Shop, customer: Customer) -> None:
    card = await shop.gift_card()
    plain = normalize(card.code)
    typo = plain[:-1] + next(c for c in ALPHABET if c != plain[-1])
    await at_payment(shop, customer)
    for _ in range(25):
        await customer.use_code(typo)
        assert customer.errors == CANNOT
    await customer.use_code(card.code)
    assert customer.errors == []


@pytest.fixture
async def hurried(shop: Shop) -> AsyncIterator[Customer]:
    """A customer of a shop where an address may send four forms a minute."""
    clock.advance(dt.timedelta(seconds=60 - clock.timestamp() % 60))
    settings = shop.services.settings.model_copy(update={"rate_limit_forms": "4/minute"})
    app = checkout_app(shop, settings)
    app.state.container = type(app.state.container)(dataclasses.replace(shop.services, settings=settings))
    transport = httpx.ASGITransport(app, client=("192.0.2.9", 1234))
    async with httpx.AsyncClient(transport=transport, base_url=SHOP_URL) as client:
        yield Customer(client)


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Too many attempts"), ("fr", "Trop de tentatives"), ("de", "Zu viele Versuche")]
)
async def test_too_many_forms_get_a_page_that_says_so_and_leads_back(
    shop: Shop, hurried: Customer, language: str, title: str
) -> None:
    hurried.http.headers["accept-language"] = language
    await at_payment(shop, hurried)
    url = str(hurried.response.url)
    for n in range(2):
        await hurried.use_code(f"guess {n}")
    await hurried.use_code("guess 2")
    assert (hurried.response.status_code, hurried.h1) == (429, title)
    assert 0 < int(hurried.response.headers["retry-after"]) <= 60
    assert hurried.response.headers["content-type"].startswith("text/html")
    assert [link for link in hurried.page.all("a") if "/customization/?cart=" in link.attributes.get("href", "")]
    await hurried.open(url)  # looking is free, and the order is as it was
    assert hurried.step == "payment"
    clock.advance(dt.timedelta(minutes=1))
    await hurried.use_code("guess 3")
    assert hurried.response.status_code == 200


@contextlib.asynccontextmanager
async def looking(shop: Shop, **more: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at a shop where an address may see three pages a minute."""
    clock.advance(dt.timedelta(seconds=60 - clock.timestamp() % 60))
    settings = shop.services.settings.model_copy(update={"rate_limit_pages": "3/minute", **more})
    app = checkout_app(shop, settings)
    app.state.container = type(app.state.container)(dataclasses.replace(shop.services, settings=settings))
    transport = httpx.ASGITransport(app, client=("192.0.2.9", 1234))
    async with httpx.AsyncClient(transport=transport, base_url=SHOP_URL) as client:
        yield client


@pytest.mark.parametrize("language", LANGUAGES)
async def test_too_many_pages_get_one_that_says_so_in_every_language(shop: Shop, language: str) -> None:
    async with looking(shop) as client:
        client.headers["accept-language"] = language
        for path in ("/ecommerce/shop/customization/", "/vouchers/shop/", "/redeem/log-in/"):
            assert (await client.get(path)).status_code in {200, 404}
        answer = await client.get("/vouchers/shop/")
        said = translations(language).gettext("Too many attempts")
        assert (answer.status_code, said in html.unescape(answer.text)) == (429, True)
        assert f'<html lang="{language}"' in answer.text
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert (await client.head("/giftcards/shop/")).status_code == 429
        assert (await client.get("/ecommerce/shop/brand.0.css")).status_code == 200, "style sheets are not counted"
        clock.advance(dt.timedelta(minutes=1))
        assert (await client.get("/vouchers/shop/")).status_code == 200


async def test_pages_are_not_counted_where_they_are_not_to_be(shop: Shop) -> None:
    async with looking(shop, rate_limit_pages="off") as client:
        for _ in range(6):
            assert (await client.get("/vouchers/shop/")).status_code == 200


async def test_an_order_is_made_within_the_limits(shop: Shop, customer: Customer) -> None:
    """A customer in doubt changes everything many times, and still buys."""
    product = await shop.product()
    key, seen = await shop.ready(ProductChoice(product.id, 1))
    assert (await shop.start(key, seen)).redirect_url
    cart = await shop.cart(CartItem(product.id, 1))
    for _ in range(20):
        await customer.choose(cart.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])
        await customer.identify()
    assert (customer.response.status_code, customer.step) == (200, "payment")
