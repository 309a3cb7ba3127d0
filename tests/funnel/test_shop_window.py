"""The shop window of vouchers and gift cards: what is shown, what is not sold any more, every page in every language."""

import pytest

from funnel.languages import translations
from schema.languages import LANGUAGES
from tests.funnel.bag_pages import GIFT_CARDS, WINDOW, opened
from tests.funnel.bag_world import Experiences
from tests.funnel.customer import Customer
from tests.shop_world import Shop


async def test_the_window_shows_what_is_sold(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await shop.execute("UPDATE voucher_prototype SET is_active = false WHERE id = :id", id=sold.meal.id)
    await customer.open(WINDOW)
    cards = customer.page.one("ul", class_="experiences").all("li")
    assert [card.one("h2").text for card in cards] == ["Massage by the fire", "Nights above the lake"]
    assert "highlight" in cards[0].attributes["class"], "the highlight is first, and larger"
    assert [card.one("p", class_="price").text for card in cards] == ["from €90.00", "from €240.00"]
    assert cards[0].one("p", class_="about").text == "Calm & warm.", "only the words"
    assert customer.page.all("a", href=GIFT_CARDS)
    assert "noindex" not in customer.response.text
    (link,) = cards[0].all("a")
    await customer.open(link.attributes["href"])
    assert customer.h1 == "Massage by the fire"
    assert "On weekdays." in customer.page.one("div", class_="rich").text


async def test_a_window_of_nothing_leads_to_gift_cards(shop: Shop, customer: Customer) -> None:
    await customer.open(WINDOW)
    assert customer.response.status_code == 200
    assert not customer.page.all("ul", class_="experiences")
    assert customer.page.one("p", class_="actions").one("a").attributes["href"] == GIFT_CARDS


@pytest.mark.parametrize("prototype", ["999999", "0", "x", "99999999999999999999"])
async def test_what_is_not_sold_is_told_with_a_way_back(
    shop: Shop, customer: Customer, sold: Experiences, prototype: str
) -> None:
    await customer.open(f"{WINDOW}customization/?prototype={prototype}")
    assert customer.response.status_code == 404
    assert customer.h1 == "This experience is no longer on sale"
    assert customer.page.one("div", class_="actions").all("a")[0].attributes["href"] == WINDOW


async def test_every_page_speaks_every_language(shop: Shop, customer: Customer, sold: Experiences) -> None:
    massage = (await opened(customer, sold.massage.id)).path
    card = (await customer.open(GIFT_CARDS)).path
    for language in LANGUAGES:
        said = translations(language).gettext
        await customer.open(WINDOW, **{"Accept-Language": language})
        assert customer.h1 == said("Give a moment to remember")
        await customer.open(massage, **{"Accept-Language": language})
        assert said("Adults") in [label.text for label in customer.page.all("label")]
        await customer.open(card, **{"Accept-Language": language})
        assert customer.h1 == said("Give a gift card")
        assert customer.page.one("html").attributes["lang"] == language
    await customer.send(f"{GIFT_CARDS}language/", None, ("language", "de"))
    assert customer.h1 == translations("de").gettext("Give a gift card"), "the same page, in German"
