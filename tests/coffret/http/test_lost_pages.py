"""Addresses that lead nowhere: a page in the shop's look at its own domain, a page for a lost document, plain answers elsewhere."""

from collections.abc import AsyncIterator

import httpx
import pytest

from funnel.core.languages import translations
from funnel.lost_documents import DOCUMENT_NOT_FOUND
from schema.validation.languages import LANGUAGES
from store.core.settings import Settings
from store.document.addresses import DocumentKind, document_path
from tests.coffret.conftest import running
from tests.fixtures.shop import Shop, open_shop, sandbox_and_provider
from tests.funnel.checkout.basket_pages import language_link
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import parsed
from tests.servers.production import NOBODYS_HOST, SERVICE_HOST, SHOP_HOST, SHOP_URL

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
UNKNOWN = ("/nowhere", "/nowhere.xml", "/ecommerce", "/onboarding/x/", "/k/abcdefgh", "/_mail/")
DEAD = [
    *(document_path(kind, "x" * 22) for kind in DocumentKind),
    document_path(DocumentKind.VOUCHER, "x" * 22).removesuffix(".pdf"),
    "/documents/",
]


@pytest.fixture
async def production_shop(production: Settings) -> AsyncIterator[tuple[Shop, httpx.AsyncClient]]:
    """A production installation with a shop."""
    sandbox, provider = sandbox_and_provider()
    async with running(production) as (app, client):
        yield await open_shop(app.state.container.services, sandbox, SHOP_HOST), client
    await provider.aclose()


@pytest.mark.parametrize("path", UNKNOWN)
async def test_an_unknown_path_of_a_shop_is_a_page_in_its_look(
    production_shop: tuple[Shop, httpx.AsyncClient], path: str
) -> None:
    _, client = production_shop
    answer = await client.get(path, headers={"Host": SHOP_HOST, "Accept-Language": "fr"})
    assert (answer.status_code, answer.headers["content-language"]) == (404, "fr")
    page = parsed(answer.text)
    assert page.one("h1").text == "Cette page n’existe pas"
    ways = [way.attributes["href"] for way in page.one("main").all("a")]
    assert ways == ["/giftcards/shop/?lang=fr", "https://shop.example", "/orders/?lang=fr"]
    assert "set-cookie" not in answer.headers
    assert any(link.attributes["href"].startswith("/ecommerce/shop/brand.") for link in page.all("link"))
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_it_leads_to_the_shop_window_where_no_website_is_known(
    production_shop: tuple[Shop, httpx.AsyncClient],
) -> None:
    shop, client = production_shop
    await shop.execute("UPDATE partner SET website = '' WHERE id = :id", id=shop.partner.id)
    page = parsed((await client.get("/nowhere", headers={"Host": SHOP_HOST})).text)
    assert [way.attributes["href"] for way in page.one("main").all("a")] == [
        "/giftcards/shop/?lang=en",
        "/orders/?lang=en",
    ]


async def test_its_language_can_be_changed(production_shop: tuple[Shop, httpx.AsyncClient]) -> None:
    _, client = production_shop
    client.base_url = httpx.URL(SHOP_URL)
    customer = Customer(client)
    await customer.open("/no/where?x=%20y")
    await customer.open(language_link(customer, "de"))
    assert (customer.path, customer.response.status_code) == ("/no/where?x=+y&lang=de", 404)
    assert customer.h1 == "Diese Seite gibt es nicht"


@pytest.mark.parametrize("path", UNKNOWN)
async def test_elsewhere_it_is_a_plain_404(production_shop: tuple[Shop, httpx.AsyncClient], path: str) -> None:
    _, client = production_shop
    nobodys = await client.get(path, headers={"Host": NOBODYS_HOST})
    assert nobodys.status_code == 404
    assert "The Shop" not in nobodys.text
    own = await client.get(path, headers={"Host": SERVICE_HOST})
    assert own.status_code == 404
    if path in {"/nowhere", "/_mail/"}:
        assert own.text == "Not Found"


async def test_unknown_paths_of_the_api_stay_json(production_shop: tuple[Shop, httpx.AsyncClient]) -> None:
    _, client = production_shop
    answer = await client.get("/api/nowhere/", headers={"Host": SERVICE_HOST, **BROWSER})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


@pytest.mark.parametrize("path", DEAD)
async def test_a_lost_document_is_a_page_to_a_browser_and_data_to_others(
    production_shop: tuple[Shop, httpx.AsyncClient], path: str
) -> None:
    _, client = production_shop
    host = {"Host": SERVICE_HOST}
    page = await client.get(path, headers={**host, **BROWSER})
    assert page.status_code == 404
    assert parsed(page.text).one("h1").text == DOCUMENT_NOT_FOUND.title
    data = await client.get(path, headers={**host, "Accept": "application/pdf"})
    assert (data.status_code, data.headers["content-type"]) == (404, "application/json")


async def test_it_speaks_every_language(production_shop: tuple[Shop, httpx.AsyncClient]) -> None:
    _, client = production_shop
    titles = set()
    for language in LANGUAGES:
        headers = {"Host": SERVICE_HOST, "Accept-Language": language, **BROWSER}
        answer = await client.get(DEAD[0], headers=headers)
        title = parsed(answer.text).one("h1").text
        assert title == translations(language).gettext(DOCUMENT_NOT_FOUND.title)
        titles.add(title)
    assert len(titles) == len(LANGUAGES)


async def test_who_tries_too_many_documents_is_told_so_on_a_page(production: Settings) -> None:
    production.guesses_per_address = "2/hour"
    async with running(production) as (_, client):
        answers = [
            await client.get(document_path(DocumentKind.VOUCHER, f"{i:022}"), headers={"Host": SERVICE_HOST, **BROWSER})
            for i in range(4)
        ]
    assert [answer.status_code for answer in answers] == [404, 404, 429, 429]
    assert parsed(answers[-1].text).one("h1").text == "Too many attempts"
    assert int(answers[-1].headers["retry-after"]) > 0
