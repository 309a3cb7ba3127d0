"""The shop of gift cards as each partner offers them, and what it says while it is closed."""

import re
from collections.abc import Callable
from typing import Any

from funnel.core.languages import translations
from resolvers.gift_card.offers import update_gift_card_offer
from schema.gift_card.input import UpdateGiftCardOffer
from schema.validation.languages import LANGUAGES
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import FORM, GIFT_CARDS, STEPS, WINDOW, filled, identified, paid, wrong
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings

CLOSED = "There are no gift cards on sale at the moment"


async def change(shop: Shop, **values: Any) -> None:
    """Change the offer of the shop."""
    await update_gift_card_offer(shop.manager, UpdateGiftCardOffer.model_validate(values))


def links(customer: Customer) -> set[str]:
    """The paths that a page leads to."""
    found = {link.attributes["href"].partition("?")[0] for link in customer.page.all("a")}
    return {re.sub(r"https://[^/]+(?=/\w+/shop/)", "", link) for link in found}


async def test_the_form_proposes_what_the_partner_offers(shop: Shop, customer: Customer) -> None:
    await change(shop, suggested=["60.00", "15.50", "90.00"], minimum="15.50", maximum="90.00", validity_months=1)
    await customer.open(GIFT_CARDS)
    labels = [label for label in customer.page.all("label") if label.attributes["for"].startswith("value-")]
    proposed = [label.text for label in labels]
    assert proposed == ["€60", "€15.50", "€90", "Another value"]
    assert "It is valid for 1 month." in customer.page.one(id="value").text
    await filled(customer, FORM, {"value": "other", "other": "90.01", "reception": "print_at_home"})
    assert (customer.step, wrong(customer, "value")) == ("customization", "Choose a value from €15.50 to €90.00.")
    await change(shop, suggested=[])
    await customer.open(GIFT_CARDS)
    assert customer.page.one("input", id="other").attributes["value"] == "15.50", (
        "without proposals it begins with the least"
    )


async def is_closed(customer: Customer, path: str) -> None:
    """There is nothing at an address but a way back to the experiences."""
    await customer.open(path)
    assert (customer.response.status_code, GIFT_CARDS in links(customer)) == (404, False), path
    assert WINDOW in links(customer)


async def said_in_every_language(customer: Customer, visitors: Callable[[], Customer]) -> None:
    """The page of a shop that is closed is as whole as any."""
    await customer.open(GIFT_CARDS)
    assert customer.h1 == CLOSED
    check_headers(customer)
    check_headings(customer.page)
    check_controls(customer.page)
    for language in LANGUAGES:
        said = await visitors().open(GIFT_CARDS, **{"Accept-Language": language})
        assert said.h1 == translations(language).gettext(CLOSED)


async def test_a_closed_shop_says_so_and_nothing_leads_to_it(
    shop: Shop, visitors: Callable[[], Customer], customer: Customer
) -> None:
    other = visitors()
    for buyer in (customer, other):
        await buyer.open(GIFT_CARDS)
        await filled(buyer, FORM, {"value": "50.00", "reception": "print_at_home"})
        await identified(buyer, STEPS)
        assert buyer.step == "payment"
    opened, form = customer.path, customer.form("/shop/payment/?")
    assert GIFT_CARDS in links(await visitors().open(WINDOW))
    await paid(shop, other)
    assert GIFT_CARDS in links(other)
    summary = other.path
    await shop.execute("UPDATE partner SET website = ''")
    await change(shop, enabled=False)
    await is_closed(customer, GIFT_CARDS)
    for step in ("payment", "information", "customization"):
        await customer.open(opened.replace("payment", step))
        assert customer.step == "customization"
        assert "This is no longer on sale. Remove it to continue." in customer.page.one("ul", class_="lines").text
    await is_closed(customer, f"{customer.path}&new=1")
    await customer.open("/giftcards/x")
    assert (customer.response.status_code, links(customer) & {GIFT_CARDS, WINDOW, "/orders/"}) == (404, {"/orders/"})
    await said_in_every_language(customer, visitors)
    before = await shop.count("checkout_attempt")
    token = form.one("input", name="csrf").attributes["value"]
    await customer.post(form.attributes["action"], {"csrf": token, "total": "50.00", "by_card": "50.00"})
    assert (customer.step, await shop.count("checkout_attempt")) == ("customization", before), (
        "an old page does not pay"
    )
    await other.open(summary)
    assert other.response.status_code == 200
    assert (WINDOW in links(other), GIFT_CARDS in links(other)) == (True, False)
    seen = await visitors().open(WINDOW)
    assert GIFT_CARDS not in links(seen)
    assert "Please come back later." in seen.page.one("main").text
    await change(shop, enabled=True)
    await customer.open(opened)
    assert customer.step == "payment"
