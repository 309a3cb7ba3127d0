"""The second part of a line's form: for whom it is, how it is received, and when it is sent."""

import datetime as dt

from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import (
    CONTINUE,
    FORM,
    STEPS,
    chosen_massage,
    filled,
    open_form,
    total,
    wrong,
)
from tests.funnel.checkout.customer import Customer


async def test_a_preview_of_the_second_part_prices_the_post_and_keeps_nothing(
    customer: Customer, sold: Experiences
) -> None:
    await open_form(customer, sold.stay.id)
    await customer.send(FORM, {"adults": "2", "nights": "3"}, CONTINUE)
    form, place = customer.form(FORM), customer.path
    delivery = next(i for i in customer.page.all("input", name="reception") if "data-home" in i.attributes)
    sent = {name: form.one("input", name=name).attributes["value"] for name in ("csrf", "line")}
    typed = {"reception": delivery.attributes["value"], "country": "FR", "giftee-name": "Zoé"}
    await customer.post(form.attributes["data-preview"], sent | typed)
    assert total(customer) == "€365.00", "three nights, and 5.00 for the post"
    await customer.open(place)
    assert total(customer) == "€360.00"
    assert customer.page.one("input", id="giftee-name").attributes["value"] == ""


async def test_a_time_needs_its_day_and_only_what_is_mailed_has_one(customer: Customer, sold: Experiences) -> None:
    by_mail = {"reception": "giftee_email", "giftee-email": "marie@example.com", "send_at": "18:00"}
    await chosen_massage(customer, sold, **by_mail)
    assert customer.errors == ["Choose a day."]
    assert wrong(customer, "send_on") == "Choose a day."
    hidden = {"send_on": "2020-01-01", "giftee-email": "nobody", "giftee-postal_code": "1"}
    await filled(customer, FORM, {**hidden, "reception": "print_at_home"})
    assert customer.step == "information", "what the page does not ask for stands in nobody's way"


async def test_a_line_whose_time_is_over_can_be_changed(shop: Shop, customer: Customer, sold: Experiences) -> None:
    day = (shop.services.clock.now() + dt.timedelta(days=2)).date().isoformat()
    by_mail = {"reception": "giftee_email", "giftee-email": "marie@example.com", "send_on": day}
    await chosen_massage(customer, sold, **by_mail)
    await customer.open(f"{STEPS}customization/")
    assert "sent on" in customer.page.one("ul", class_="lines").text
    change = customer.page.one("ul", class_="lines").one("a").attributes["href"]
    for _ in range(4):  # a basket is kept for a day after each visit
        shop.services.clock.advance(dt.timedelta(hours=20))
        await customer.open(change)
    await customer.send(FORM, {"adults": "2"}, CONTINUE)
    assert "part=personal" in customer.path, customer.errors
    await customer.send(FORM, {"send_on": ""}, CONTINUE)
    assert customer.step == "information"


async def test_a_long_name_is_shared_between_first_and_last_name(customer: Customer, sold: Experiences) -> None:
    name = "The whole family of the house by the river, and all of its many friends, near and far, old and new"
    await chosen_massage(customer, sold, **{"giftee-name": name})
    assert customer.step == "information", customer.errors
    await customer.open(f"{STEPS}customization/")
    assert f"for {name}" in customer.page.one("ul", class_="lines").text
    await open_form(customer, sold.massage.id)
    await filled(customer, FORM, {"giftee-name": "x" * 90})
    assert customer.errors[0] == "Use at most 80 characters."
