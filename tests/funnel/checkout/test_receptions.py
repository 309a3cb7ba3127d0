"""Parts of one order that are received in different ways, as a customer chooses them."""

from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import (
    CONTINUE,
    FORM,
    GIFT_CARDS,
    STEPS,
    chosen_massage,
    filled,
    identified,
    paid,
)
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings

MAILED = {
    "value": "50.00",
    "giftee-name": "Paul Langevin",
    "reception": "giftee_email",
    "giftee-email": "paul@example.com",
}


async def two_ways(customer: Customer, sold: Experiences) -> Customer:
    """A massage to print and a gift card by e-mail; at the list of both."""
    await chosen_massage(customer, sold)
    await customer.open(f"{STEPS}customization/")
    await customer.send(FORM, None, ("do", "card"))
    await filled(customer, FORM, MAILED)
    assert customer.step == "information", customer.errors
    return await customer.open(f"{STEPS}customization/")


def about(customer: Customer) -> list[str]:
    return [row.one("p", class_="details").text for row in customer.page.one("ul", class_="lines").all("li")]


def checked(customer: Customer) -> str:
    (chosen,) = [one for one in customer.page.all("input", name="reception") if "checked" in one.attributes]
    return chosen.attributes["value"]


async def test_a_part_is_received_in_its_own_way(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await two_ways(customer, sold)
    first, second = about(customer)
    assert ("By e-mail, to print at home" in first, "By e-mail to the recipient" in second) == (True, True)
    assert checked(customer) == "each"
    check_headings(customer.page)
    check_controls(customer.page)
    await customer.send(FORM, None, CONTINUE)
    await identified(customer, STEPS)
    review = customer.page.one("ul", class_="small-lines").text
    assert ("paul@example.com" in review, "By e-mail, to print at home" in review) == (True, True)
    assert customer.page.one("section", aria_labelledby="delivery").one("p", class_="name").text == "By e-mail"
    await paid(shop, customer)
    assert "Sent to paul@example.com." in customer.page.text
    assert "Sent to ada@example.com." in customer.page.text


async def test_the_form_of_a_part_shows_its_own_way(customer: Customer, sold: Experiences) -> None:
    await two_ways(customer, sold)
    changes = [row.one("a").attributes["href"] for row in customer.page.one("ul", class_="lines").all("li")]
    for address, way in zip(changes, ("print_at_home", "giftee_email"), strict=True):
        await customer.open(f"{address}&part=personal")
        assert checked(customer) == way
        assert "For this one only." in customer.page.text


async def test_one_way_for_all_replaces_those_of_the_parts(customer: Customer, sold: Experiences) -> None:
    await two_ways(customer, sold)
    await customer.send(FORM, {"reception": "print_at_home"}, CONTINUE)
    assert customer.step == "information"
    await customer.open(f"{STEPS}customization/")
    assert checked(customer) == "print_at_home"
    assert all("By e-mail" not in told for told in about(customer)), "there is one way: the question below tells it"


async def test_what_one_part_changes_for_others_is_told(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await two_ways(customer, sold)
    options = [one.attributes["value"] for one in customer.page.all("input", name="reception")]
    post, on_site = (next(each for each in options if each.startswith(way)) for way in ("expedition", "on_site"))
    first, second = (row.one("a").attributes["href"] for row in customer.page.one("ul", class_="lines").all("li"))
    await customer.open(f"{first}&part=personal")
    assert "go this way, too" not in customer.page.text
    await filled(customer, FORM, {"reception": post, "country": "FR"})
    await customer.open(f"{second}&part=personal")
    told = customer.page.one(id=f"reception-{on_site}-more").text
    assert "Other parts that are posted or collected go this way, too." in told
    await filled(customer, FORM, {"reception": on_site})
    await customer.open(f"{STEPS}customization/")
    assert checked(customer) == on_site
    assert await shop.count("shop_order") == 0


async def test_each_as_chosen_needs_a_way_of_each(customer: Customer) -> None:
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, {"value": "50.00"}, ("do", "another"))
    await customer.open(f"{STEPS}customization/")
    assert [one for one in customer.page.all("input", name="reception") if "checked" in one.attributes] == []
    await customer.send(FORM, {"reception": "each"}, CONTINUE)
    assert (customer.step, customer.errors) == ("customization", ["Choose how you would like to receive your order."])


async def test_a_list_that_was_open_meanwhile_changes_no_way(customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await customer.open(f"{STEPS}customization/")
    form = customer.form(FORM)
    shown = {one.attributes["name"]: one.attributes.get("value", "") for one in form.all("input", type="hidden")}
    assert shown["reception_before"] == "print_at_home"
    await customer.send(FORM, None, ("do", "card"))
    await filled(customer, FORM, MAILED)
    await customer.post(
        form.attributes["action"], {**shown, "reception": "print_at_home", "country": "FR", "do": "continue"}
    )
    await customer.open(f"{STEPS}customization/")
    assert checked(customer) == "each", "the way of the gift card is as it was chosen in the other tab"


async def test_a_price_can_be_asked_for_without_a_choice(customer: Customer, sold: Experiences) -> None:
    await two_ways(customer, sold)
    await customer.send(FORM, {"reception": "print_at_home"}, ("do", "update"))
    assert checked(customer) == "print_at_home"
    await customer.open(f"{STEPS}customization/")
    assert checked(customer) == "each", "nothing is kept before the next step"
