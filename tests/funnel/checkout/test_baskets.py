"""The pages of vouchers and gift cards: the forms, what they refuse, from the first step to the document."""

import uuid
from collections.abc import Callable

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.fixtures.basket import Experiences, sale_coupon
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import (
    ANOTHER,
    CONTINUE,
    FORM,
    GIFT_CARDS,
    PERSONAL,
    STEPS,
    UPDATE,
    WINDOW,
    chosen_massage,
    filled,
    identified,
    line,
    open_form,
    paid,
    total,
    wrong,
)
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings

# ---- the form of a voucher ---------------------------------------------------------------------------------------------


async def test_the_price_follows_what_is_chosen_without_scripts(customer: Customer, sold: Experiences) -> None:
    await open_form(customer, sold.massage.id)
    assert total(customer) == "€90.00"
    await customer.send(FORM, None, ("do", "more-adults"))
    assert total(customer) == "€170.00"
    more = {f"category-{_category(customer, sold.rose.id)}": str(sold.rose.id), f"option-{sold.robe.id}": "1"}
    await customer.send(FORM, more, ("do", f"more-option-{sold.tea.id}"))
    assert total(customer) == "€203.00"
    assert line(customer) == {"Massage by the fire 2 adults · Rose · Tea · Robe": "€203.00"}
    await customer.send(FORM, {"children": "1"}, UPDATE)
    assert total(customer) == "€243.00"
    assert customer.page.one("input", id="children").attributes["value"] == "1", "what was typed is still there"
    await customer.open(customer.path)
    assert total(customer) == "€90.00", "nothing of it was kept"


def _category(customer: Customer, option_id: int) -> str:
    return customer.page.one("input", id=f"option-{option_id}").attributes["name"].removeprefix("category-")


async def test_a_preview_answers_prices_and_keeps_nothing(customer: Customer, sold: Experiences) -> None:
    await open_form(customer, sold.stay.id)
    form = customer.form(FORM)
    preview, place = form.attributes["data-preview"], customer.path
    sent = {"csrf": form.one("input", name="csrf").attributes["value"], "line": str(uuid.uuid4())}
    typed = {"adults": "2", "nights": "3"}
    await customer.post(preview, sent | typed)
    assert total(customer) == "€360.00", "three nights"
    await customer.post(preview, sent | typed | {"adults": "9"})
    assert "at most 3 people" in wrong(customer, "adults")
    await customer.open(place.split("prototype")[0])
    assert customer.h1 == "Your order is empty"


@pytest.mark.parametrize(
    ("fields", "place", "said"),
    [
        ({"adults": "9"}, "adults", "Choose at most 4 people."),
        ({"adults": "0"}, "adults", "Choose at least one person."),
        ({"adults": "two"}, "adults", "Enter a whole number."),
        ({"babies": "2"}, "babies", "This is not offered for so many. Choose fewer."),
        (
            {"reception": "giftee_email", "giftee-email": "nobody"},
            "giftee-email",
            "Enter an e-mail address like name@example.com.",
        ),
        ({"message": "x" * 1001}, "message", "Use at most 1000 characters."),
        ({"from": "x" * 161}, "from", "Use at most 160 characters."),
    ],
)
async def test_what_is_wrong_is_told_at_its_field(
    shop: Shop, customer: Customer, sold: Experiences, fields: dict[str, str], place: str, said: str
) -> None:
    await chosen_massage(customer, sold, **fields)
    assert customer.step == "customization"
    assert customer.errors == [said]
    assert customer.page.one("div", id="errors").one("a").attributes["href"] == f"#{place}"
    if place != "babies":  # asked for only where more babies can come
        assert customer.page.one(id=place).attributes["aria-invalid"] == "true"
        assert f"{place}-wrong" in customer.page.one(id=place).attributes["aria-describedby"]
        assert wrong(customer, place) == said
    for name, value in fields.items():
        found = customer.page.all(id=name)
        assert not found or value in (found[0].attributes.get("value", ""), found[0].text)
    await customer.open(WINDOW)
    is_kept = place in PERSONAL or place.startswith("giftee")
    assert bool(customer.page.all("a", class_="in-basket")) is is_kept, "what is chosen rightly is kept, nothing else"


async def test_the_rules_of_a_category_are_said_and_held(customer: Customer, sold: Experiences) -> None:
    await open_form(customer, sold.massage.id)
    oils, extras = customer.page.all("fieldset", class_="category")
    assert (oils.one("strong").text, extras.one("strong").text) == ("Choose one.", "Choose up to 2.")
    assert "checked" in oils.one("input", id=f"option-{sold.lavender.id}").attributes, "what costs least is chosen"
    many = {f"option-{sold.tea.id}": "2", f"option-{sold.robe.id}": "1", "reception": "print_at_home"}
    await filled(customer, FORM, many)
    assert customer.errors == ["Choose fewer of these."]
    assert wrong(customer, extras.attributes["id"]) == "Choose fewer of these."
    await filled(customer, FORM, {oils.attributes["id"]: "", f"option-{sold.robe.id}": ""})
    assert "Choose more of these." in customer.errors


async def test_a_way_to_receive_it_must_be_chosen(customer: Customer, sold: Experiences) -> None:
    await open_form(customer, sold.meal.id)
    assert not customer.page.all("input", id="adults"), "for two, and nobody else"
    await filled(customer, FORM, {"giftee-name": "Marie"})
    assert customer.errors == ["Choose how you would like to receive your order."]
    await filled(customer, FORM, {"reception": "giftee_email"})
    assert customer.errors == ["Tell us the e-mail address of whom it is for, or choose another way to receive it."], (
        "of the voucher that is kept since"
    )
    assert customer.page.one("div", id="errors").one("a").attributes["href"] == "#giftee-email"
    await filled(customer, FORM, {"giftee-email": "marie@example.com"})
    assert customer.step == "information"
    await customer.open(WINDOW)
    assert customer.page.one("a", class_="in-basket").text == "Your order: 1 voucher", (
        "put once, however often it was sent"
    )


async def test_a_basket_is_changed_and_emptied(customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await open_form(customer, sold.meal.id)
    await customer.send(FORM, None, CONTINUE)
    assert customer.page.one("input", id="reception-print_at_home").attributes.get("checked") is not None
    await filled(customer, FORM, {"for": "self"}, ANOTHER)
    assert customer.path.startswith(WINDOW)
    await customer.open(f"{STEPS}customization/")
    rows = customer.page.one("ul", class_="lines").all("li")
    assert [row.one("h3").text for row in rows] == ["Massage by the fire", "Table for two"]
    assert "for Marie Curie" in rows[0].text
    assert total(customer) == "€200.00"
    await customer.open(rows[0].one("a").attributes["href"])
    await customer.send(FORM, {"adults": "3"}, CONTINUE)
    assert customer.page.one("input", id="giftee-name").attributes["value"] == "Marie Curie"
    await customer.send(FORM, None, CONTINUE)
    assert customer.step == "information"
    assert customer.amounts["Vouchers"] == "€360.00"
    await customer.open(f"{STEPS}customization/")
    assert (await customer.send(FORM, None, ("do", "remove-nothing"))).response.status_code == 200
    for button in customer.page.all("button", class_="remove"):
        await customer.send(FORM, None, ("do", button.attributes["value"]))
    assert customer.h1 == "Your order is empty"
    ways = [way.attributes["href"] for way in customer.page.one("p", class_="actions").all("a")]
    assert ways == [WINDOW, GIFT_CARDS]
    await customer.send(f"{STEPS}language/", None, ("language", "en"))
    await customer.open(customer.path.replace("customization", "payment"))
    assert customer.h1 == "Your order is empty", "there is nothing to pay"


async def test_what_is_no_longer_sold_stands_in_the_way(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await shop.execute("UPDATE voucher_prototype SET is_active = false")
    await customer.open(f"{STEPS}customization/")
    assert "This is no longer on sale. Remove it to continue." in customer.page.one("ul", class_="lines").text
    await filled(customer, FORM, None)
    assert customer.errors == ["Massage by the fire: This is no longer on sale. Remove it to continue."]


async def test_a_form_belongs_to_its_session(shop: Shop, sold: Experiences, visitors: Callable[[], Customer]) -> None:
    mine, other = visitors(), visitors()
    await open_form(mine, sold.massage.id)
    form, path = mine.form(FORM), mine.path
    stolen = {"csrf": form.one("input", name="csrf").attributes["value"], "do": "continue", "line": str(uuid.uuid4())}
    await other.open(WINDOW)
    await other.post(path, stolen)
    assert other.response.status_code == 403
    await mine.post(path, stolen, Origin="https://evil.example")
    assert mine.response.status_code == 403
    await mine.open(WINDOW)
    assert not mine.page.all("a", class_="in-basket")


# ---- gift cards --------------------------------------------------------------------------------------------------------


async def test_a_gift_card_has_a_value_proposed_or_typed(customer: Customer) -> None:
    await customer.open(GIFT_CARDS)
    assert customer.h1 == "Give a gift card"
    assert [label.text for label in customer.page.one(id="value").all("label")][-2] == "Another value"
    assert total(customer) == "€100.00"
    await customer.send(FORM, {"value": "25.00"}, UPDATE)
    assert total(customer) == "€25.00"
    await customer.send(FORM, {"value": "other", "other": "1 000,00"}, UPDATE)
    assert total(customer) == "€1,000.00"
    for typed, said in (
        ("", "Enter a value."),
        ("much", "Enter an amount like 50 or 49.90."),
        ("5", "Choose a value from €10.00 to €1,000.00."),
        ("1000.01", "Choose a value from €10.00 to €1,000.00."),
    ):
        await filled(customer, FORM, {"value": "other", "other": typed})
        assert customer.errors == [said]
        assert customer.page.one("input", id="other").attributes["value"] == typed
    await filled(customer, FORM, {"value": "other", "other": "42,5", "reception": "print_at_home"})
    assert customer.step == "information"
    assert customer.amounts["Gift cards"] == "€42.50"


# ---- to the end --------------------------------------------------------------------------------------------------------


async def test_a_voucher_is_bought_for_somebody(shop: Shop, customer: Customer, sold: Experiences) -> None:
    rose = {"adults": "2", "message": "Enjoy!", "reception": "giftee_email", "giftee-email": "marie@example.com"}
    await chosen_massage(customer, sold, **rose)
    assert customer.step == "information"
    assert not customer.page.all("input", id="city"), "nothing is sent to the buyer's address"
    assert not customer.page.all("textarea"), "the message is written already"
    await identified(customer, STEPS)
    assert customer.step == "payment"
    assert "2 adults · Lavender · for Marie Curie" in customer.page.one("ul", class_="small-lines").text
    change = [link for link in customer.page.all("a") if link.text == "Change : Delivery"]
    assert change[0].attributes["href"].endswith("#delivery")
    await paid(shop, customer)
    assert customer.step == "order"
    code = await shop.one("SELECT code FROM voucher")
    issued = customer.page.one("dl", class_="issued")
    assert code in issued.text
    assert "Sent to marie@example.com." in customer.page.text
    (document,) = [link for link in customer.page.all("a") if "print (PDF)" in link.text]
    printable = await customer.http.get(document.attributes["href"])
    assert (printable.status_code, printable.headers["content-type"]) == (200, "application/pdf"), (
        "at the shop's own host"
    )
    assert await shop.one("SELECT count(*) FROM voucher") == 1
    await customer.open(customer.path)
    assert code in customer.page.text, "a reload shows it again"
    await customer.open(f"{STEPS}customization/")
    assert customer.h1 == "Your order is empty", "what was opened last has become an order"
    await open_form(customer, sold.meal.id)
    assert customer.h1 == "Table for two", "another experience begins anew"
    await filled(customer, FORM, {"reception": "print_at_home", "for": "self"})
    assert customer.step == "information"
    assert await shop.one("SELECT count(*) FROM voucher") == 1


async def test_what_is_taken_off_sale_while_its_price_is_read_is_told(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await chosen_massage(customer, sold)
    await identified(customer, STEPS)
    assert customer.step == "payment"
    await shop.execute("UPDATE voucher_prototype SET is_active = false")
    await customer.send(f"{STEPS}payment/?")
    assert customer.step == "customization"
    (error,) = customer.page.one(id="errors").all("a")
    assert (error.text, error.attributes["href"]) == ("Your order has changed since you saw it", "#main")
    assert "This is no longer on sale." in customer.page.text
    assert await shop.one("SELECT count(*) FROM checkout_attempt") == 0


async def test_a_gift_card_is_sent_by_post_to_the_buyer(shop: Shop, customer: Customer) -> None:
    await customer.open(GIFT_CARDS)
    home = shop.modes[DeliveryKind.HOME_DELIVERY]
    await filled(customer, FORM, {"value": "50.00", "reception": f"expedition-{home}", "country": "FR"})
    assert customer.page.all("input", id="city"), "where it is sent to"
    await identified(customer, STEPS, address_line_1="1 rue des Lilas", postal_code="75011", city="Paris", country="FR")
    assert customer.amounts["Total"] == "€55.00"
    await paid(shop, customer)
    assert customer.step == "order"
    assert await shop.one("SELECT code FROM gift_card") in customer.page.one("dl", class_="issued").text
    assert "1 rue des Lilas" in customer.page.one("address").text


async def test_nobody_else_sees_a_basket(shop: Shop, sold: Experiences, visitors: Callable[[], Customer]) -> None:
    mine, other = visitors(), visitors()
    await chosen_massage(mine, sold)
    shared = mine.path.replace("information", "customization")
    await other.open(shared)
    assert other.h1 == "Your order is empty"
    assert "Curie" not in other.response.text


async def test_a_coupon_that_raises_the_value_says_by_how_much(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await sale_coupon(shop, "PLUS10", increases_value=True)
    await chosen_massage(customer, sold)
    await identified(customer, STEPS)
    before = customer.amounts
    await customer.use_code("PLUS10")
    applied = customer.page.one(class_="applied").one("li")
    assert applied.one(class_="details").text == "Adds €9.00 to the value of what you buy."
    assert customer.amounts == before


# ---- every page --------------------------------------------------------------------------------------------------------


NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'"


async def renamed_nastily(shop: Shop) -> None:
    """Everything that is sold has the words of an attacker for its name."""
    await shop.execute("UPDATE voucher_option SET name = jsonb_build_object('en', CAST(:nasty AS text))", nasty=NASTY)
    await shop.execute(
        "UPDATE voucher_prototype SET long_description = jsonb_build_object('en', CAST(:nasty AS text))", nasty=NASTY
    )


def check_sound(customer: Customer) -> None:
    """The page that is shown is whole, runs nothing of anybody's, and its forms stay at its counter."""
    page = customer.page
    check_headings(page)
    check_controls(page)
    check_headers(customer)
    scripts = [script for script in page.all("script") if script.attributes["type"] != "application/ld+json"]
    assert [script.text for script in scripts] == [""]
    assert not [e for e in page if "style" in e.attributes or any(name.startswith("on") for name in e.attributes)]
    sent = {f"/{form.attributes['action'].split('/')[1]}" for form in page.all("form")}
    assert sent <= {f"/{customer.path.split('/')[1]}"}, "each form stays at its counter"


async def test_every_page_is_sound(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await renamed_nastily(shop)
    for address in (WINDOW, f"{STEPS}customization/?prototype={sold.massage.id}"):
        check_sound(await customer.open(address))
    check_sound(await open_form(customer, sold.massage.id))
    wrong_fields = {"adults": "0", "giftee-email": NASTY, "message": NASTY}
    check_sound(await filled(customer, FORM, wrong_fields))
    good_fields = {"adults": "1", "giftee-email": "", "giftee-name": NASTY, "reception": "print_at_home"}
    await filled(customer, FORM, good_fields)
    for address in (f"{STEPS}information/", f"{STEPS}customization/"):
        check_sound(await customer.open(address))
    await customer.open(f"{STEPS}information/")
    await identified(customer, STEPS)
    check_sound(customer)
    await paid(shop, customer)
    check_sound(customer)
    for address in (GIFT_CARDS, f"{WINDOW}nowhere/", "/vouchers/", "/giftcards/x/"):
        check_sound(await customer.open(address))


@pytest.mark.usefixtures("sold")
async def test_a_basket_that_is_gone_says_how_long_baskets_are_kept(customer: Customer) -> None:
    for shop in (WINDOW, GIFT_CARDS):
        await customer.open(f"{shop}payment/")
        assert (customer.response.status_code, customer.h1) == (404, "This basket has expired")
        assert "kept for a day" in customer.page.one("main").text
