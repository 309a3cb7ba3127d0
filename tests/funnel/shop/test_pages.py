"""The public pages of a shop: what caches, search engines and shared links get, and where an order begins."""

import json
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from schema.validation.languages import LANGUAGES
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import CONTINUE, FORM, STEPS, WINDOW, open_form
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.servers.production import SHOP_URL

MASSAGE = "/vouchers/massage-by-the-fire/"
NAMESPACES = {"map": "http://www.sitemaps.org/schemas/sitemap/0.9", "link": "http://www.w3.org/1999/xhtml"}


async def status_of(customer: Customer, path: str, **headers: str) -> tuple[int, str]:
    answer = await customer.http.get(path, headers=headers or None)
    return answer.status_code, answer.headers.get("location", "")


@pytest.mark.parametrize("path", [WINDOW, MASSAGE])
async def test_a_page_is_cached_for_everybody_without_a_basket(
    customer: Customer, sold: Experiences, path: str
) -> None:
    await customer.open(f"{path}?lang=de")
    answer = customer.response
    assert (answer.status_code, answer.headers["content-language"]) == (200, "de")
    assert answer.headers["cache-control"] == "public, max-age=0, s-maxage=60, must-revalidate"
    assert answer.headers["vary"] == "Accept-Encoding, Cookie", "the language is in the address"
    assert not customer.http.cookies
    again = await customer.http.get(f"{path}?lang=de", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    bare = await customer.http.get(path, headers={"Accept-Language": "fr"})
    assert (bare.headers["content-language"], "Accept-Language" in bare.headers["vary"]) == ("fr", True)
    assert bare.headers["etag"] != answer.headers["etag"]
    check_headers(customer)
    check_headings(customer.page)
    check_controls(customer.page)


async def test_who_has_a_basket_sees_it_and_nobody_else_does(
    customer: Customer, visitors: Callable[[], Customer], sold: Experiences
) -> None:
    await open_form(customer, sold.massage.id)
    await customer.send(FORM, {"for": "self", "reception": "print_at_home"}, CONTINUE)
    for path in (WINDOW, MASSAGE):
        await customer.open(path)
        assert customer.page.one("a", class_="in-basket").text == "Your order: 1 voucher"
        assert customer.response.headers["cache-control"] == "private, no-cache"
        other = await visitors().open(path)
        assert not other.page.all("a", class_="in-basket")
    await customer.open(customer.page.one("a", class_="in-basket").attributes["href"])
    assert customer.h1 == "Your order"


async def test_an_order_begins_with_the_button_of_the_page_in_its_language(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await customer.open(f"{MASSAGE}?lang=fr")
    assert not customer.http.cookies
    await customer.send("/vouchers/", None, ("do", "begin"))
    assert customer.path.startswith(f"{STEPS}customization/?prototype={sold.massage.id}&cart=")
    assert customer.response.headers["content-language"] == "fr"
    foreign = await customer.http.post(
        MASSAGE, data={"do": "begin"}, headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    )
    assert foreign.status_code == 403


async def test_what_shared_caches_may_keep_sets_no_cookie(
    shop: Shop, sold: Experiences, visitors: Callable[[], Customer]
) -> None:
    """A cache would hand the session of one visitor, with the basket and the address in it, to all others."""
    formerly = "UPDATE voucher_prototype SET former_slugs = '{warm-stones}' WHERE id = :id"
    await shop.execute(formerly, id=sold.massage.id)
    form = f"{STEPS}customization/"
    for path in (
        *("/", WINDOW, MASSAGE, MASSAGE.rstrip("/"), "/vouchers/warm-stones/", "/vouchers/nothing/", "/nothing"),
        *(form, f"{form}?prototype={sold.massage.id}", "/giftcards/shop/", "/orders/", "/balance/"),
        *("/robots.txt", "/sitemap.xml", "/favicon.ico"),
    ):
        answer = await visitors().http.get(path)
        is_public = "public" in answer.headers.get("cache-control", "")
        assert not (is_public and "set-cookie" in answer.headers), path
        assert answer.status_code != 301 or not is_public, "a slug that comes back must not lead round in circles"


async def test_a_former_address_leads_to_the_page(shop: Shop, customer: Customer, sold: Experiences) -> None:
    massage = sold.massage.id
    assert await status_of(customer, f"{STEPS}customization/?prototype={massage}") == (301, MASSAGE)
    await shop.execute(
        "UPDATE voucher_prototype SET slug = 'hot-stones', former_slugs = '{massage-by-the-fire}' WHERE id = :id",
        id=massage,
    )
    assert await status_of(customer, f"{MASSAGE}?lang=de") == (301, "/vouchers/hot-stones/?lang=de")
    assert await status_of(customer, "/vouchers/hot-stones") == (301, "/vouchers/hot-stones/")
    assert await status_of(customer, "/vouchers/hot-stones/") == (200, "")


async def test_what_is_not_on_sale_is_gone_and_what_never_was_is_not_found(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await shop.execute("UPDATE voucher_prototype SET is_active = false WHERE id = :id", id=sold.massage.id)
    await customer.open(f"{MASSAGE}?lang=en")
    assert (customer.response.status_code, customer.h1) == (410, "This experience is no longer on sale")
    assert customer.page.one("main").all("a")[0].attributes["href"] == f"{WINDOW}?lang=en"
    assert customer.page.one("meta", name="robots").attributes["content"] == "noindex"
    await customer.open("/vouchers/nothing/?lang=de")
    assert (customer.response.status_code, customer.h1) == (404, "Diese Seite gibt es nicht")
    assert not customer.http.cookies
    answer = await customer.http.post(MASSAGE, data={"do": "begin"})
    assert answer.status_code == 404


async def test_search_engines_and_shared_links_get_what_they_ask_for(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await shop.execute(
        """UPDATE voucher_prototype SET description = '{"en": "Calm </script><b>&</b> warm"}' WHERE id = :id""",
        id=sold.massage.id,
    )
    await customer.open(f"{MASSAGE}?lang=en&cart=1")
    page = customer.page
    canonical = f"{SHOP_URL}{MASSAGE}?lang=en"
    assert page.one("link", rel="canonical").attributes["href"] == canonical
    alternates = {link.attributes["hreflang"]: link.attributes["href"] for link in page.all("link", rel="alternate")}
    assert alternates == {
        **{language: f"{SHOP_URL}{MASSAGE}?lang={language}" for language in LANGUAGES},
        "x-default": f"{SHOP_URL}{MASSAGE}",
    }
    assert not page.all("meta", name="robots")
    told = {
        meta.attributes["property"]: meta.attributes["content"]
        for meta in page.all("meta")
        if "property" in meta.attributes
    }
    assert (told["og:title"], told["og:url"]) == ("Massage by the fire", canonical)
    assert told["og:description"] == page.one("meta", name="description").attributes["content"]
    data = json.loads(page.one("script", type="application/ld+json").text)
    assert (data["@type"], data["name"]) == ("Product", "Massage by the fire")
    assert "</script>" not in customer.response.text.split("ld+json", 1)[1].split("</script>", 1)[0]
    offer = data["offers"]
    assert (offer["price"], offer["priceCurrency"], offer["url"]) == ("90.00", "EUR", canonical)
    assert offer["availability"] == "https://schema.org/InStock"
    assert offer["seller"]["name"] == shop.partner.commercial_name


@pytest.mark.parametrize(
    ("path", "query", "canonical_query"),
    [
        (MASSAGE, "utm_source=x&page=2&lang=fr", ""),
        (WINDOW, "utm_source=x&lang=fr&sort=name&universe=1&page=1", "universe=1&"),
        (WINDOW, "environment=999999&price=x&page=0", ""),
        (WINDOW.rstrip("/"), "fbclid=x", ""),
    ],
)
async def test_a_page_has_one_address_whatever_leads_to_it(
    customer: Customer, sold: Experiences, path: str, query: str, canonical_query: str
) -> None:
    await customer.open(f"{path}?{query}")
    address = f"{SHOP_URL}{path.rstrip('/')}/?{canonical_query}"
    canonical = f"{address}lang=fr" if "lang=fr" in query else address.rstrip("?&")
    assert customer.page.one("link", rel="canonical").attributes["href"] == canonical
    alternates = {link.attributes["href"] for link in customer.page.all("link", rel="alternate")}
    assert alternates == {*(f"{address}lang={each}" for each in LANGUAGES), address.rstrip("?&")}


@pytest.mark.parametrize("slug", ["a%00b", "%FF", "Massage", "a--b", "s" * 81, "s" * 5000])
async def test_what_is_no_slug_is_not_found(customer: Customer, sold: Experiences, slug: str) -> None:
    await customer.open(f"/vouchers/{slug}/?lang=en")
    assert customer.response.status_code == 404
    assert (await customer.http.post(f"/vouchers/{slug}/", data={"do": "begin"})).status_code == 404


async def test_the_footer_keeps_the_language(customer: Customer, sold: Experiences) -> None:
    await customer.open(f"{MASSAGE}?lang=de")
    hrefs = {link.attributes["href"] for link in customer.page.one("footer").all("a")}
    assert "/balance/?lang=de" in hrefs
    await customer.open("/balance/?lang=de")
    assert customer.response.headers["content-language"] == "de"
    assert [form for form in customer.page.all("form") if form.attributes["action"] == "/balance/"]


async def test_a_price_is_from_only_where_it_varies(customer: Customer, sold: Experiences) -> None:
    prices = []
    for path in (MASSAGE, "/vouchers/nights-above-the-lake/", "/vouchers/table-for-two/"):
        await customer.open(path)
        prices.append(customer.page.one("form", class_="begin").one("p", class_="price").text.split(" for ")[0])
    assert prices == ["from €90.00", "from €240.00", "€110.00"]


async def test_robots_find_every_page_in_every_language(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await shop.execute("UPDATE voucher_prototype SET is_active = false WHERE id = :id", id=sold.meal.id)
    robots = await customer.http.get("/robots.txt")
    assert f"Sitemap: {SHOP_URL}/sitemap.xml" in robots.text.splitlines()
    root = ET.fromstring((await customer.http.get("/sitemap.xml")).text)  # noqa: S314 - of our own
    pages = [page.findtext("map:loc", namespaces=NAMESPACES) for page in root.findall("map:url", NAMESPACES)]
    paths = (WINDOW, MASSAGE, "/vouchers/nights-above-the-lake/")
    assert pages == [f"{SHOP_URL}{path}?lang=en" for path in paths]
    links = [link.attrib["href"] for link in root.findall("map:url/link:link", NAMESPACES)]
    assert links == [
        f"{SHOP_URL}{path}{end}" for path in paths for end in (*(f"?lang={each}" for each in LANGUAGES), "")
    ]
    await shop.execute("UPDATE partner SET status = 'i' WHERE id = :id", id=shop.partner.id)
    assert "<loc>" not in (await customer.http.get("/sitemap.xml")).text


async def test_the_root_leads_to_what_is_sold(shop: Shop, customer: Customer, sold: Experiences) -> None:
    assert await status_of(customer, "/", **{"Accept-Language": "de"}) == (303, f"{WINDOW}?lang=de")
    await shop.execute("UPDATE voucher_prototype SET is_active = false")
    assert await status_of(customer, "/") == (303, "/giftcards/shop/?lang=en")
    await shop.execute("UPDATE partner SET gift_card_offer_enabled = false WHERE id = :id", id=shop.partner.id)
    assert await status_of(customer, "/") == (303, shop.partner.website)
    await shop.execute("UPDATE partner SET website = '' WHERE id = :id", id=shop.partner.id)
    await customer.open("/")
    assert customer.response.status_code == 404
    assert [way.text for way in customer.page.one("main").all("a")] == ["Find your order"]


async def test_the_icon_is_the_logo_or_the_first_letter(shop: Shop, customer: Customer) -> None:
    await shop.execute("UPDATE partner SET logo_url = '', commercial_name = '<i>' WHERE id = :id", id=shop.partner.id)
    icon = await customer.http.get("/favicon.ico")
    assert (icon.headers["content-type"], "&lt;</text>" in icon.text) == ("image/svg+xml", True)
    await shop.execute("UPDATE partner SET logo_url = '/media/logo.svg' WHERE id = :id", id=shop.partner.id)
    assert await status_of(customer, "/favicon.ico") == (302, "/media/logo.svg")


async def test_clients_that_ask_for_json_get_it(shop: Shop, customer: Customer) -> None:
    answer = await customer.http.get("/nowhere", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    assert set(answer.json()) == {"detail"}
