"""Sessions, forms that are not ours, and whose host is whose."""

from collections.abc import Callable

import httpx
import pytest

from funnel.core.forms import LARGEST, CsrfTokens
from schema.cart.cart import CartItem
from schema.core.errors import Unavailable
from schema.delivery.delivery import DeliveryKind
from store.core.settings import Settings
from store.database.db import Database
from store.partner.partners import PartnerRow
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.conftest import checkout_app
from tests.servers.production import NOBODYS_HOST, NOBODYS_URL, OTHER_HOST, OTHER_URL, SHOP_HOST

CUSTOMIZATION = "/ecommerce/shop/customization/"
Visitors = Callable[[], Customer]


async def open_first_step(shop: Shop, customer: Customer, quantity: int = 1) -> dict[str, str]:
    """A customer at the first step; answers what its form would send."""
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, quantity))
    await customer.open(f"{CUSTOMIZATION}?cart={cart.id}")
    return fields_of(customer.form(CUSTOMIZATION), customer.page)


# ---- the session -------------------------------------------------------------------------------------------------------


async def test_one_session_for_all_carts_of_a_shop(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    session = customer.http.cookies["__Host-coffret-session"]
    first = customer.path
    await open_first_step(shop, customer)
    assert customer.http.cookies["__Host-coffret-session"] == session
    assert customer.path != first
    for cookie in customer.response.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/" in cookie


async def test_cookies_over_https_belong_to_one_host(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    cookies = customer.response.headers.get_list("set-cookie")
    assert cookies
    for cookie in cookies:
        assert cookie.startswith("__Host-coffret-")
        assert "; Secure" in cookie
        assert "Domain" not in cookie


async def test_cookies_over_http_are_plain_ones(shop: Shop) -> None:
    app = checkout_app(shop, Settings(funnel_scheme="http"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{SHOP_HOST}") as http:
        customer = Customer(http)
        await open_first_step(shop, customer)
        cookies = customer.response.headers.get_list("set-cookie")
        assert cookies
        for cookie in cookies:
            assert cookie.startswith("coffret-")
            assert "Secure" not in cookie


@pytest.mark.parametrize("forged", ["", "short", "x" * 43 + "!", "../" * 20])
async def test_a_session_id_that_is_not_ours_is_replaced(shop: Shop, customer: Customer, forged: str) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.open(f"{CUSTOMIZATION}?cart={cart.id}", Cookie=f"__Host-coffret-session={forged}")
    given = customer.response.cookies["__Host-coffret-session"]
    assert given != forged
    assert len(given) == 43


async def test_a_shared_link_shows_products_only(shop: Shop, customer: Customer, visitors: Visitors) -> None:
    await open_first_step(shop, customer)
    collect = {"delivery": str(shop.modes[DeliveryKind.CLICK_AND_COLLECT])}
    await customer.send(CUSTOMIZATION, {**collect, "line-0-quantity": "3"}, ("do", "continue"))
    await customer.identify()
    stranger = visitors()
    await stranger.open(customer.path)
    assert stranger.step == "customization"
    assert "ada@example.com" not in stranger.page.text
    assert fields_of(stranger.form(CUSTOMIZATION), stranger.page)["line-0-quantity"] == "1"


async def test_a_step_without_a_cart_goes_on_with_the_last(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    here = customer.path
    await customer.open(CUSTOMIZATION)
    assert customer.path == here
    await customer.open(f"{CUSTOMIZATION}?cart=nonsense")
    assert customer.response.status_code == 404


# ---- forms that are not ours -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "headers"),
    [
        ({"csrf": ""}, {}),
        ({"csrf": "a.b"}, {}),
        ({"csrf": "é.ü"}, {}),
        ({}, {"Origin": "http://evil.example"}),
        ({}, {"Origin": "null"}),
        ({}, {"Sec-Fetch-Site": "cross-site"}),
        ({}, {"Sec-Fetch-Site": "same-site"}),
    ],
)
async def test_a_foreign_form_changes_nothing(
    shop: Shop, customer: Customer, change: dict[str, str], headers: dict[str, str]
) -> None:
    fields = await open_first_step(shop, customer) | {"line-0-quantity": "7"}
    path = customer.path
    await customer.post(path, fields | change, **headers)
    assert customer.response.status_code == 403
    assert customer.h1 == "This page was open for too long"
    assert any(a.attributes["href"] == path for a in customer.page.one("main").all("a"))
    await customer.open(path)
    assert fields_of(customer.form(CUSTOMIZATION), customer.page)["line-0-quantity"] == "1"


async def test_the_token_of_another_session_is_foreign(shop: Shop, customer: Customer, visitors: Visitors) -> None:
    fields = await open_first_step(shop, customer)
    stranger = visitors()
    await open_first_step(shop, stranger)
    await stranger.post(customer.path, fields)
    assert stranger.response.status_code == 403


async def test_every_form_of_every_address_is_checked(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    query = customer.path.partition("?")[2]
    for path in ("customization", "customization/preview", "information", "payment", "payment/codes", "payment/cancel"):
        await customer.post(f"/ecommerce/shop/{path}/?{query}", {"csrf": "x.y"})
        assert customer.response.status_code == 403, path
    await customer.post("/ecommerce/shop/language/", {"language": "fr"})
    assert customer.response.status_code == 403


def test_tokens_differ_and_belong_to_a_session() -> None:
    tokens = CsrfTokens("secret")
    assert tokens.make("a") != tokens.make("a")
    assert CsrfTokens("other").make("a").partition(".")[2] != tokens.make("a").partition(".")[2]


async def test_a_body_that_is_no_form_is_told_so(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    url = str(customer.response.url)
    for content, kind, status in (
        (b"{}", "application/json", 415),
        (b"x=%ff\xff", "application/x-www-form-urlencoded", 400),
        (b"x=" + b"y" * LARGEST, "application/x-www-form-urlencoded", 413),
        (b"&".join(b"a%d=1" % n for n in range(5000)), "application/x-www-form-urlencoded", 400),
    ):
        answer = await customer.http.post(url, content=content, headers={"Content-Type": kind})
        assert answer.status_code == status, kind
        assert answer.headers["content-type"].startswith("text/html")


# ---- hosts -------------------------------------------------------------------------------------------------------------


async def test_an_unknown_host_has_no_shop(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    query = customer.path.partition("?")[2]
    await customer.open(f"{NOBODYS_URL}/ecommerce/shop/customization/?{query}")
    assert customer.response.status_code == 404
    assert customer.h1 == "There is no shop here"
    assert "set-cookie" not in customer.response.headers


async def test_a_host_is_known_in_any_case_but_not_by_forwarding(shop: Shop, customer: Customer) -> None:
    await open_first_step(shop, customer)
    path = customer.path
    await customer.open(path, Host=SHOP_HOST.upper())
    assert customer.response.status_code == 200
    await customer.open(path, Host=NOBODYS_HOST, **{"X-Forwarded-Host": SHOP_HOST})
    assert customer.response.status_code == 404


async def test_a_foreign_cart_is_as_gone_as_an_unknown_one(shop: Shop, customer: Customer) -> None:
    other = PartnerRow(
        marketplace_id=shop.partner.marketplace_id,
        source_id="other",
        commercial_name="Other",
        short_name="other",
        site_domain=OTHER_HOST,
        website="https://other.example",
    )
    await shop.add(other)
    await open_first_step(shop, customer)
    path = customer.path
    pages = []
    for address in (path, f"{CUSTOMIZATION}?cart=3f2504e0-4f89-41d3-9a0c-0305e82c3301", CUSTOMIZATION + "?cart="):
        await customer.open(f"{OTHER_URL}{address}")
        assert customer.response.status_code == 404
        pages.append(customer.page.one("main").text)
    assert pages == [pages[0]] * 3
    assert customer.h1 == "This basket has expired"
    assert customer.page.one("main").one("a").attributes["href"] == "https://other.example"


# ---- when things break -------------------------------------------------------------------------------------------------


async def test_an_unknown_page_is_a_page(shop: Shop, customer: Customer) -> None:
    await customer.open("/ecommerce/shop/delivery/")
    assert customer.response.status_code == 404
    assert customer.h1 == "This page does not exist"


async def test_a_bug_of_ours_is_told_kindly(shop: Shop, customer: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    await open_first_step(shop, customer)
    path = customer.path

    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(shop.services.carts, "get", broken)
    await customer.open(path)
    assert customer.response.status_code == 500
    assert customer.h1 == "Something went wrong on our side"
    assert "ZeroDivisionError" not in customer.response.text


async def test_a_store_out_of_reach_is_a_pause(shop: Shop, customer: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    await open_first_step(shop, customer)
    path = customer.path

    async def away(*_: object) -> None:
        raise Unavailable(what="The cart store")

    monkeypatch.setattr(shop.services.carts, "get", away)
    await customer.open(path)
    assert customer.response.status_code == 503
    assert customer.h1 == "We will be right back"


async def test_a_database_out_of_reach_is_a_page_too(
    shop: Shop, customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(shop.services.db, "sessions", away)
    assert isinstance(shop.services.db, Database)
    await customer.open(f"{CUSTOMIZATION}?cart=3f2504e0-4f89-41d3-9a0c-0305e82c3301")
    assert customer.response.status_code == 500
    assert customer.h1 == "Something went wrong on our side"
