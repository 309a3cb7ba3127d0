"""The demo shop: shown where there is demo data, hands carts over as a shop of its own would, welcomes customers back."""

import tomllib
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx
import pytest
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.routing import Route

from coffret.app import routes_of
from coffret.http.hosts import HostScope, all_routes
from resolvers.core.services import Services
from schema.validation.languages import LANGUAGES
from store.core.settings import DeploymentEnvironment, Settings
from store.core.settings.provider import ProviderName
from tests.coffret.conftest import running
from tests.funnel.checkout.page import Element, parsed

SHOP = "http://demo.localhost:8000"


@pytest.fixture
async def visitor(application: tuple[Starlette, httpx.AsyncClient], demo: Services) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who opens the first demo shop."""
    transport = httpx.ASGITransport(application[0], raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=SHOP) as client:
        yield client


async def open_page(visitor: httpx.AsyncClient, path: str = "/", language: str = "en", cookie: str = "") -> Element:
    """The page, well-formed."""
    answer = await visitor.get(path, headers={"Accept-Language": language, "Cookie": cookie})
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def products(page: Element) -> dict[str, Element]:
    """The products on the page by their names."""
    (goods,) = page.all("ul", class_="goods")
    return {item.one("h3").text: item for item in goods.all("li")}


async def test_it_shows_what_is_on_sale(visitor: httpx.AsyncClient) -> None:
    page = await open_page(visitor)
    assert page.one("h1").text == "Maison Valserène"
    assert "This is a demo." in page.one("p", class_="demo").text
    found = products(page)
    assert "Winter lavender wreath" not in found, "it is not active"
    assert found["Lavender scented candle"].one("p", class_="price").text == "from €26.00"
    assert found["Lavender bath salts"].one("p", class_="price").text == "€22.00"
    assert not found["Ceramic reed diffuser"].all("form"), "it is sold out"
    for item in found.values():
        assert (await visitor.get(item.one("img").attributes["src"])).headers["content-type"] == "image/webp"


async def test_it_leads_to_experiences_gift_cards_and_the_network(visitor: httpx.AsyncClient) -> None:
    links = (await open_page(visitor)).one("nav", class_="besides").all("a")
    assert [link.text for link in links] == ["Experiences to give", "Gift cards", "The network we belong to"]
    *own, network = links
    answer = await visitor.get(network.attributes["href"], follow_redirects=True)
    assert (answer.status_code, answer.url.host, answer.url.path) == (200, "network.localhost", "/network/shop/")
    assert "A spa day for two" in answer.text
    for link in own:
        answer = await visitor.get(link.attributes["href"], follow_redirects=True)
        assert answer.status_code == 200
        assert parsed(answer.text).one("p", class_="foot-name").text == "Maison Valserène"


async def test_its_banner_leads_to_the_back_office(visitor: httpx.AsyncClient) -> None:
    url = (await open_page(visitor)).one("p", class_="demo").one("a").attributes["href"]
    answer = await visitor.get(url, follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/admin/log-in/")
    assert answer.url.host != visitor.base_url.host, "it is the service's own host"


async def test_it_speaks_the_visitors_language_or_english(visitor: httpx.AsyncClient) -> None:
    french = await open_page(visitor, language="fr-CH, en;q=0.5")
    assert french.one("html").attributes["lang"] == "fr"
    assert products(french)["Sels de bain à la lavande"].one("p", class_="price").text == "22,00 €"
    unknown = await open_page(visitor, language="fi")
    assert unknown.one("html").attributes["lang"] == "en"
    chosen = await open_page(visitor, language="fr", cookie="coffret-language=de")
    assert chosen.one("html").attributes["lang"] == "de", "the language chosen in the checkout"


def test_every_text_is_there_in_every_language() -> None:
    texts = tomllib.loads((files("coffret.demo_shop") / "texts.toml").read_text("utf-8"))
    assert tuple(texts) == LANGUAGES
    assert len({tuple(table) for table in texts.values()}) == 1
    for language, table in texts.items():
        for key, value in table.items():
            assert value.strip() == value != "", (language, key)
            assert ("{price}" in value) is (key == "from"), (language, key)
            assert ("{number}" in value) is (key == "ordered"), (language, key)
            assert language == "en" or value != texts["en"][key], (language, key)


async def test_buy_hands_a_cart_over_and_leads_to_the_checkout(visitor: httpx.AsyncClient, demo: Services) -> None:
    for name, variant, choices in (
        ("Lavender bath salts", False, 0),
        ("Lavender scented candle", True, 0),
        ("Organic cotton bathrobe", False, 2),
    ):
        form = products(await open_page(visitor))[name].one("form")
        button = form.one("button").attributes
        assert (form.attributes["method"], form.attributes["action"]) == ("post", "/")
        answer = await visitor.post("/", data={button["name"]: button["value"]})
        assert answer.status_code == 303
        target = urlsplit(answer.headers["location"])
        assert f"{target.scheme}://{target.netloc}" == SHOP
        cart = await demo.carts.get(1, UUID(parse_qs(target.query)["cart"][0]))
        assert cart is not None
        (item,) = cart.items
        assert (item.product_id, item.quantity) == (int(button["value"]), 1)
        assert (item.variant_id is not None, len(item.attribute_values)) == (variant, choices)
        assert cart.return_url == f"{SHOP}/"
        checkout = await visitor.get(answer.headers["location"])
        assert checkout.status_code == 200
        assert name in checkout.text


async def test_what_the_shop_does_not_sell_makes_no_cart(
    visitor: httpx.AsyncClient, demo: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what is no product, nor what is inactive, nor what the neighbour sells."""
    monkeypatch.setattr(type(demo.carts), "create", None)
    rows = await demo.db.rows(text("SELECT id FROM product WHERE partner_id = 2 OR NOT is_active"))
    assert len(rows) > 2
    for product in ("", "0", "999999", "x", "-1", "9" * 5000, "١", *(str(id) for (id,) in rows)):
        answer = await visitor.post("/", data={"product": product})
        assert (answer.status_code, answer.headers["location"]) == (303, f"{SHOP}/"), product


async def test_what_is_no_form_is_refused(visitor: httpx.AsyncClient) -> None:
    assert (await visitor.post("/", json={"product": 1})).status_code == 415
    assert (await visitor.put("/")).status_code == 405


async def test_a_customer_who_comes_back_with_an_order_is_thanked(visitor: httpx.AsyncClient) -> None:
    said = (await open_page(visitor, "/?order=12")).one(role="status").text
    assert said == "Back in the shop. Thank you! The checkout has sent you back with order number 12."
    for path in ("/", "/?order=", "/?order=<b>", "/?order=" + "1" * 40):
        assert not (await open_page(visitor, path)).all(role="status")


async def test_the_page_is_safe_and_small(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    page = parsed(answer.text)
    assert not page.all("script")
    sheets = [await visitor.get(link.attributes["href"]) for link in page.all("link", rel="stylesheet")]
    assert [sheet.headers["content-type"] for sheet in sheets] == ["text/css; charset=utf-8"] * 4
    assert len(answer.content) + sum(len(sheet.content) for sheet in sheets) < 60_000


async def test_only_the_demo_shops_have_it(application: tuple[Starlette, httpx.AsyncClient], demo: Services) -> None:
    _, client = application
    assert "Table Cardamine" in (await client.get("/", headers={"Host": "demo2.localhost:8000"})).text
    for host in ("demo.localhost", "demo.localhost:8001", "other.localhost:8000"):
        nothing = await client.get("/", headers={"Host": host})
        elsewhere = await client.get("/nowhere/", headers={"Host": host})
        assert nothing.status_code == 404
        assert parsed(nothing.text).one("h1").text == parsed(elsewhere.text).one("h1").text
        assert (await client.post("/", headers={"Host": host}, data={"product": "1"})).status_code == 404


async def test_without_demo_data_there_is_none(application: tuple[Starlette, httpx.AsyncClient]) -> None:
    assert (await application[1].get("/", headers={"Host": "demo.localhost:8000"})).status_code == 404


def at_shops(settings: Settings) -> list[str]:
    """The paths of forms at shops. That of the demo shop is sent to `/`, which leads to the shop anywhere else."""
    tables = [table for table in routes_of(settings) if table.hosts in {HostScope.STOREFRONTS, HostScope.ANY}]
    return [route.path for route in all_routes(tables) if isinstance(route, Route) and "POST" in (route.methods or ())]


@pytest.mark.parametrize(
    "settings",
    [
        {"demo": False},
        {"provider": ProviderName.MANGOPAY, "mangopay_client_id": "c", "mangopay_api_key": "k"},
        {
            "environment": DeploymentEnvironment.PRODUCTION,
            "secret": "s" * 32,
            "provider": ProviderName.MANGOPAY,
            "mangopay_client_id": "c",
            "mangopay_api_key": "k",
        },
    ],
)
def test_where_the_demo_does_not_belong_it_is_not_mounted(settings: dict[str, Any]) -> None:
    paths = at_shops(Settings(**settings))
    assert "/ecommerce/shop/payment/" in paths
    assert "/" not in paths
    assert "/" in at_shops(Settings())


async def test_it_stays_away_from_another_installation(app_settings: Settings, demo: Services) -> None:
    app_settings.demo = False
    async with running(app_settings) as (_, client):
        answer = await client.get("/", headers={"Host": "demo.localhost:8000"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/vouchers/shop/?lang=en")
