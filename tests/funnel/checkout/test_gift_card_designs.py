"""The designs of a partner's own gift cards: chosen in the shop, and kept by the line, the order, the card and its mail."""

from collections.abc import Callable
from typing import Any

import pytest

from resolvers.network.designs import create_gift_card_design, update_gift_card_design
from schema.core.text import Text
from schema.gift_card.design_input import CreateGiftCardDesign, UpdateGiftCardDesign
from schema.gift_occasion import GiftOccasion
from schema.validation.languages import LANGUAGES
from store.gift_card.designs import GiftCardDesignRow
from tests.fixtures.network_prints import design_of
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import FORM, GIFT_CARDS, STEPS, filled, identified, line, paid, wrong
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings

NOBODY_ELSE = {"value": "50.00", "reception": "print_at_home", "giftee-name": "Zoé"}
GONE = "This is no longer offered. Choose again."


@pytest.fixture
async def design(shop: Shop) -> GiftCardDesignRow:
    """A design of the shop for birthdays, the first of two, beside one of its network and one that is not offered."""
    own: dict[str, Any] = {"partner_id": shop.partner.id}
    first = await design_of(shop, occasion=GiftOccasion.BIRTHDAY, **own)
    await design_of(shop, None, name=Text(en="Winter"), ranking=2, **own)
    await design_of(shop, name=Text(en="Of the network"))
    await design_of(shop, name=Text(en="Withdrawn"), is_active=False, **own)
    return first


def offered(customer: Customer) -> list[str]:
    """The designs that the form offers."""
    labels = customer.page.all("label")
    return [label.one("span", class_="name").text for label in labels if label.attributes["for"].startswith("design-")]


def sized(design: GiftCardDesignRow, size: str) -> str:
    """The path of a size of its picture, which the design keeps as the cover."""
    assert design.picture_url.endswith("/cover.webp")
    return design.picture_url.replace("cover", size)


def chosen(customer: Customer) -> list[str]:
    return [
        each.attributes["value"] for each in customer.page.all("input", name="design") if "checked" in each.attributes
    ]


async def test_the_form_offers_the_designs_with_their_occasions(
    customer: Customer, visitors: Callable[[], Customer], design: GiftCardDesignRow
) -> None:
    await customer.open(GIFT_CARDS)
    assert offered(customer) == ["Happy birthday", "Winter"]
    assert chosen(customer) == [str(design.id)]
    (picture,) = (each.one("img") for each in customer.page.all("div", class_="design") if each.all("img"))
    assert picture.attributes["src"] == sized(design, "thumb")
    (birthday,) = customer.page.all("span", class_="occasion")
    assert birthday.text == "Birthday"
    check_controls(customer.page)
    check_headings(customer.page)
    said = set()
    for language in LANGUAGES:
        visitor = visitors()
        visitor.http.headers["Accept-Language"] = language
        await visitor.open(GIFT_CARDS)
        said.add(visitor.page.one("span", class_="occasion").text)
    assert said == {
        *(
            "Anniversaire",
            "Geburtstag",
            "Cumpleaños",
            "Compleanno",
            "Verjaardag",
            "Aniversário",
            "Aniversari",
            "Birthday",
        )
    }


async def test_a_link_can_name_the_design(customer: Customer, design: GiftCardDesignRow) -> None:
    await customer.open(f"{STEPS}customization/?design={design.id + 1}")
    assert chosen(customer) == [str(design.id + 1)]
    await customer.open(f"{GIFT_CARDS}?design={design.id + 1}")
    assert chosen(customer) == [str(design.id + 1)]
    for unknown in ("4711", "x"):
        await customer.open(f"{STEPS}customization/?design={unknown}")
        assert chosen(customer) == [str(design.id)]


async def test_it_stays_with_the_line_the_order_the_card_the_document_and_the_mail(
    shop: Shop, customer: Customer, design: GiftCardDesignRow
) -> None:
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, NOBODY_ELSE)
    await customer.open(f"{STEPS}customization/")
    assert line(customer) == {"Gift card · Happy birthday for Zoé": "€50.00"}
    assert customer.page.one("ul", class_="lines").one("img").attributes["src"] == sized(design, "thumb")
    await customer.open(customer.page.one("ul", class_="lines").one("a").attributes["href"])
    assert chosen(customer) == [str(design.id)]
    await filled(customer, FORM, NOBODY_ELSE)
    await identified(customer, STEPS)
    await paid(shop, customer)
    assert await shop.one("SELECT design_id FROM gift_card") == design.id
    assert await shop.one("SELECT picture_url FROM order_product") == sized(design, "card")
    assert "Happy birthday" in customer.page.one("main").text
    content = await shop.one("SELECT content FROM mail WHERE kind = 'gift_card'")
    assert content["accent"] == "#8a2846"
    (item,) = content["items"]
    assert item["name"]["fr"] == "Joyeux anniversaire"
    assert item["picture"] == sized(design, "card")


async def test_a_design_that_is_no_longer_offered_is_chosen_anew(
    shop: Shop, customer: Customer, design: GiftCardDesignRow
) -> None:
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, {**NOBODY_ELSE, "design": "4711"})
    assert (customer.step, wrong(customer, "design")) == ("customization", GONE)
    await filled(customer, FORM, {**NOBODY_ELSE, "design": str(design.id)})
    await identified(customer, STEPS)
    assert customer.step == "payment"
    await update_gift_card_design(
        shop.manager, UpdateGiftCardDesign.model_validate({"id": design.id, "is_active": False})
    )
    await customer.send(f"{STEPS}payment/?")
    assert await shop.count("checkout_attempt") == 0, "what is not offered any more is not sold"
    await customer.open(f"{STEPS}customization/")
    assert "Please choose again" in customer.page.one("ul", class_="lines").text
    await customer.open(customer.page.one("ul", class_="lines").one("a").attributes["href"])
    assert offered(customer) == ["Winter"]
    await filled(customer, FORM, {**NOBODY_ELSE, "design": str(design.id + 1)})
    assert customer.step == "information"


async def test_what_was_begun_without_designs_goes_on_without(shop: Shop, customer: Customer) -> None:
    await customer.open(GIFT_CARDS)
    assert offered(customer) == []
    await filled(customer, FORM, NOBODY_ELSE)
    await create_gift_card_design(shop.manager, CreateGiftCardDesign.model_validate({"name": {"en": "New"}}))
    await identified(customer, STEPS)
    await paid(shop, customer)
    assert await shop.one("SELECT design_id FROM gift_card") is None
    assert await shop.one("SELECT picture_url FROM order_product") == ""
    (item,) = (await shop.one("SELECT content FROM mail WHERE kind = 'gift_card'"))["items"]
    assert (item["name"], item["picture"]) == ({}, "")


async def test_an_open_line_without_a_design_can_be_changed(shop: Shop, customer: Customer) -> None:
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, NOBODY_ELSE)
    await design_of(shop, partner_id=shop.partner.id)
    await customer.open(f"{STEPS}customization/")
    await customer.open(customer.page.one("ul", class_="lines").one("a").attributes["href"])
    assert (offered(customer), chosen(customer)) == (["Happy birthday"], [])
    await filled(customer, FORM, {**NOBODY_ELSE, "value": "100.00"})
    await customer.open(f"{STEPS}customization/")
    assert line(customer) == {"Gift card for Zoé": "€100.00"}
