"""The shop window of vouchers and gift cards: what is shown, filtered, sorted and shown in pages, what is not sold any more, the
pictures of one experience, every page in every language.
"""

from typing import Any
from urllib.parse import urlencode

import pytest

from funnel.core.languages import translations
from funnel.shop.catalogue_page import CataloguePageUrls
from schema.catalogue.catalogue_page import CataloguePage, CatalogueQuery
from schema.core.text import Text
from schema.validation.languages import LANGUAGES
from store.catalogue.catalogue import EnvironmentRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.catalogue.catalogue_page import PAGE_SIZE
from store.media.media import MediaRow
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import GIFT_CARDS, STEPS, WINDOW, language_link, open_form, open_page
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.resolvers.catalogue.test_catalogue_page import copies


async def test_the_window_shows_what_is_sold(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await shop.execute("UPDATE voucher_prototype SET is_active = false WHERE id = :id", id=sold.meal.id)
    await customer.open(WINDOW)
    cards = customer.page.one("ul", class_="experiences").all("li")
    assert [card.one("h2").text for card in cards] == ["Massage by the fire", "Nights above the lake"]
    assert "highlight" in cards[0].attributes["class"], "the highlight is first, and larger"
    assert [card.one("p", class_="price").text for card in cards] == ["from €90.00", "from €240.00"]
    assert cards[0].one("p", class_="about").text == "Calm & warm.", "only the words"
    assert customer.page.all("a", href=f"{GIFT_CARDS}?lang=en")
    assert "noindex" not in customer.response.text
    (link,) = cards[0].all("a")
    await customer.open(link.attributes["href"])
    assert customer.h1 == "Massage by the fire"
    assert "On weekdays." in customer.page.one("section", aria_labelledby="conditions").text


async def test_a_window_of_nothing_leads_to_gift_cards(shop: Shop, customer: Customer) -> None:
    await customer.open(WINDOW)
    assert customer.response.status_code == 200
    assert not customer.page.all("ul", class_="experiences")
    assert customer.page.one("p", class_="actions").one("a").attributes["href"] == f"{GIFT_CARDS}?lang=en"


@pytest.mark.parametrize("prototype", ["999999", "0", "x", "99999999999999999999"])
async def test_what_is_not_sold_is_told_with_a_way_back(
    shop: Shop, customer: Customer, sold: Experiences, prototype: str
) -> None:
    await customer.open(f"{STEPS}customization/?prototype={prototype}")
    assert customer.response.status_code == 404
    assert customer.h1 == "This experience is no longer on sale"
    assert customer.page.one("div", class_="actions").all("a")[0].attributes["href"] == WINDOW


async def test_every_page_speaks_every_language(shop: Shop, customer: Customer, sold: Experiences) -> None:
    massage = (await open_form(customer, sold.massage.id)).path
    card = (await customer.open(GIFT_CARDS)).path
    customer.http.cookies.delete("__Host-coffret-language")  # that of the page where the order was begun
    for language in LANGUAGES:
        said = translations(language).gettext
        await customer.open(WINDOW, **{"Accept-Language": language})
        assert customer.h1 == said("Give a moment to remember")
        await customer.open(massage, **{"Accept-Language": language})
        assert said("Adults") in [label.text for label in customer.page.all("label")]
        await customer.open(card, **{"Accept-Language": language})
        assert customer.h1 == said("Give a gift card")
        assert customer.page.one("html").attributes["lang"] == language
    await customer.send(f"{STEPS}language/", None, ("language", "de"))
    assert customer.h1 == translations("de").gettext("Give a gift card"), "the same page, in German"


# ---- filtered, sorted, in pages -----------------------------------------------------------------------------------------


def experience_names(customer: Customer) -> list[str]:
    """The names of the experiences on the page."""
    return [card.one("h2").text for card in customer.page.one("ul", class_="experiences").all("li")]


def chips(customer: Customer) -> dict[str, str]:
    """Where the universes lead to, by what they say."""
    return {link.text: link.attributes["href"] for link in customer.page.one("nav", class_="universes").all("a")}


async def filter_page(customer: Customer, **changes: str) -> Customer:
    """Send the form, as a browser does."""
    form = customer.page.one("form", class_="facets")
    assert form.attributes["method"] == "get"
    path, fragment = form.attributes["action"].split("#")
    assert customer.page.all(id=fragment)
    return await customer.open(f"{path}?{urlencode(fields_of(form, customer.page) | changes)}")


async def a_picnic_by_the_lake(shop: Shop, sold: Experiences) -> tuple[EnvironmentRow, EnvironmentRow]:
    """Another universe and two environments: at the table a picnic by the lake, on the hill the nights."""
    of: dict[str, Any] = {"marketplace_id": shop.partner.marketplace_id}
    table = await shop.add(UniverseRow(**of, name=Text(en="Table", de="Tafel")))
    lake, hill = [await shop.add(EnvironmentRow(**of, name=Text(en=name))) for name in ("Lake", "Hill")]
    await copies(
        shop, sold.meal, 1, name=Text(en="Picnic"), universe_id=table.id, environment_id=lake.id, stay_price_amount=30
    )
    await shop.execute("UPDATE voucher_prototype SET environment_id = :e WHERE id = :id", e=hill.id, id=sold.stay.id)
    return lake, hill


async def test_the_window_offers_what_there_is_to_filter_by(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await customer.open(WINDOW)
    assert not customer.page.all("form", class_="facets"), "three are seen at a glance"
    assert customer.page.one("section", id="experiences").attributes["aria-label"] == "Experiences"
    await a_picnic_by_the_lake(shop, sold)
    await customer.open(WINDOW)
    assert experience_names(customer) == ["Massage by the fire", "Nights above the lake", "Table for two", "Picnic"]
    assert customer.page.one("p", class_="found").text == "4 experiences"
    assert list(chips(customer)) == ["All", "Spa 3", "Table 1"]
    assert not customer.page.all("select", id="price"), "there is no price range"
    assert [option.text for option in customer.page.one("select", id="environment").all("option")] == [
        "All",
        "Lake (1)",
        "Hill (1)",
    ]
    for check in (check_headings, check_controls):
        check(customer.page)
    check_headers(customer)


async def test_what_was_filtered_stays_filtered_by_more_in_another_order_and_language(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    lake, hill = await a_picnic_by_the_lake(shop, sold)
    await customer.open(WINDOW)
    await filter_page(customer, sort="cheapest")
    assert experience_names(customer)[0] == "Picnic"
    assert "noindex" in customer.response.text, "one address of it is found, not each order"
    await customer.open(chips(customer)["Spa 3"])
    assert experience_names(customer) == ["Massage by the fire", "Table for two", "Nights above the lake"], (
        "still by price"
    )
    assert customer.page.one("nav", class_="universes").one("a", aria_current="true").text == "Spa 3"
    await filter_page(customer, environment=str(hill.id))
    assert (experience_names(customer), customer.page.one("p", class_="found").text) == (
        ["Nights above the lake"],
        "1 experience See all experiences",
    )
    await filter_page(customer, environment=str(lake.id))
    assert customer.page.one("p", class_="found").text == "0 experiences"
    assert not customer.page.all("ul", class_="experiences")
    await customer.open(language_link(customer, "de"))
    assert customer.page.one("p", class_="found").text == "0 Erlebnisse", "what was asked for outlives the language"
    assert "Tafel 1" in chips(customer)
    await customer.open(customer.page.one("div", class_="nothing").one("a").attributes["href"])
    assert len(experience_names(customer)) == 4
    for odd in ("universe=x", "universe=99999999999&price=-1", "sort=nothing&page=0", "page=two", "environment="):
        assert len(experience_names(await customer.open(f"{WINDOW}?{odd}"))) == 4


async def test_hundreds_are_leafed_through(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await copies(shop, sold.meal, 4 * PAGE_SIZE)
    await customer.open(WINDOW)
    seen, numbers = experience_names(customer), []
    while following := customer.page.all("a", rel="next"):
        numbers.append([item.text for item in customer.page.one("nav", class_="pages").all("li")])
        await customer.open(following[0].attributes["href"])
        seen += experience_names(customer)
    assert len(seen) == 3 + 4 * PAGE_SIZE
    assert numbers[0] == ["Page 1", "Page 2", "…", "Page 5", "Next page"]
    assert numbers[2] == ["Previous page", "Page 1", "Page 2", "Page 3", "Page 4", "Page 5", "Next page"]
    assert customer.page.one("title").text.startswith("Experiences to give – page 5 of 5")
    assert customer.page.one("nav", class_="pages").one("a", aria_current="page").text == "Page 5"
    assert "noindex" not in customer.response.text, "later pages are found as well"
    assert "highlight" not in customer.page.one("ul", class_="experiences").all("li")[0].attributes["class"]
    check_controls(customer.page)


@pytest.mark.parametrize(
    ("last", "here", "numbers"),
    [(1, 1, (1,)), (3, 1, (1, 2, 3)), (9, 1, (1, 2, 0, 9)), (9, 5, (1, 0, 4, 5, 6, 0, 9)), (9, 9, (1, 0, 8, 9))],
)
def test_the_pages_near_this_one_are_linked_to(last: int, here: int, numbers: tuple[int, ...]) -> None:
    window = CataloguePage(CatalogueQuery(page=here), "EUR", 1, 1, last, (), (), (), ())
    assert CataloguePageUrls(None, window).pages == numbers  # type: ignore[arg-type]


async def pictures_of(shop: Shop, prototype: VoucherPrototypeRow, many: int) -> list[MediaRow]:
    """Give an experience pictures."""
    of: dict[str, Any] = {"partner_id": shop.partner.id}
    made = []
    for position in range(1, many + 1):
        about: dict[str, Any] = {"name": "Private", "content_type": "image/webp", "size": 1, "digest": "0" * 64}
        made.append(await shop.add(MediaRow(**of, **about, width=1500, height=1000)))
        await shop.add(
            PrototypeImageRow(**of, voucher_prototype_id=prototype.id, media_id=made[-1].id, position=position)
        )
    return made


async def test_all_pictures_of_an_experience_are_shown(shop: Shop, customer: Customer, sold: Experiences) -> None:
    media = await pictures_of(shop, sold.stay, 3)
    await shop.execute("UPDATE voucher_prototype SET cover_image = 2 WHERE id = :id", id=sold.stay.id)
    await open_page(customer, sold.stay.id)
    gallery = customer.page.one("div", class_="gallery")
    links, full = gallery.all("a"), customer.page.all("div", class_="lightbox")
    assert [link.attributes["href"].removeprefix("#") for link in links] == [box.attributes["id"] for box in full]
    ordered = [str(media[at].uuid) for at in (1, 0, 2)]
    for place, shown in enumerate(zip(links, full, strict=True)):
        for picture in (each.one("img") for each in shown):
            assert ordered[place] in picture.attributes["src"], "the cover first"
            assert picture.attributes["alt"] == f"Nights above the lake, picture {place + 1} of 3"
            assert (picture.attributes["width"], picture.attributes["height"]) == ("1500", "1000")
    sizes = [source.split()[-1] for source in full[0].one("img").attributes["srcset"].split(", ")]
    assert sizes == ["320w", "800w", "1500w"]
    lazy = ["lazy" in picture.attributes.get("loading", "") for picture in gallery.all("img")]
    assert lazy == [False, True, True]
    assert [box.one("a", class_="after").attributes["href"] for box in full] == [
        "#picture-2",
        "#picture-3",
        "#picture-1",
    ]
    assert [box.one("a", class_="close").attributes["href"] for box in full] == ["#pictures"] * 3
    assert "Private" not in customer.response.text
    check_headings(customer.page)

    await pictures_of(shop, sold.meal, 1)
    await open_page(customer, sold.meal.id)
    assert len(customer.page.one("div", class_="gallery").all("a")) == 1
    assert not customer.page.all("a", class_="after"), "there is no other picture"
    assert customer.page.one("img", class_="picture").attributes["alt"] == "Table for two"
    await customer.open(WINDOW)
    assert {img.attributes["alt"] for img in customer.page.all("img", class_="picture")} == {""}, (
        "its name is beside it"
    )
