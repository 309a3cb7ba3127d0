"""Hints at mistyped e-mail addresses: shown once, taken by a button, and never in the way."""

from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import GIFT_CARDS, STEPS, chosen_massage, filled
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.checkout.test_pages import check_controls, check_headings

TYPED, MEANT = "ann@gmial.com", "ann@gmail.com"
HINT = f"Did you mean {MEANT}?"
FIND = "/orders/"
INFORMATION = f"{STEPS}information/"
PERSON = {"first_name": "Ann", "last_name": "Bell", "email": TYPED}


def hints(customer: Customer) -> list[str]:
    return [button.text for button in customer.page.all("button") if button.text.startswith("Did you mean")]


async def test_the_buyer_is_asked_once_and_goes_on_with_the_same_address(
    shop: Shop, customer: Customer, sold: Experiences
) -> None:
    await chosen_massage(customer, sold)
    assert hints(customer) == []
    await customer.send(INFORMATION, PERSON)
    assert (customer.step.partition("?")[0], customer.errors) == ("information", []), "a hint is no error"
    assert hints(customer) == [HINT]
    email = customer.page.one("input", id="email")
    assert email.attributes["value"] == TYPED
    assert "email-suggestion" in email.attributes["aria-describedby"]
    check_headings(customer.page)
    check_controls(customer.page)
    await customer.send(INFORMATION)
    assert customer.step == "payment"
    assert await shop.one("SELECT count(*) FROM shop_order") == 0


async def test_the_button_takes_the_suggestion(customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await customer.send(INFORMATION, PERSON)
    await customer.send(INFORMATION, button=("use-email", MEANT))
    form = fields_of(customer.form(INFORMATION), customer.page)
    assert (form["email"], form["first_name"], hints(customer)) == (MEANT, "Ann", [])
    await customer.send(INFORMATION)
    assert customer.step == "payment"


async def test_another_wrong_address_is_asked_about_again(customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await customer.send(INFORMATION, PERSON)
    await customer.send(INFORMATION, {"email": "ann@hotmial.com"})
    assert hints(customer) == ["Did you mean ann@hotmail.com?"]
    await customer.send(INFORMATION, {"email": "ann@valserene.example"})
    assert customer.step == "payment"


async def test_a_hint_stands_beside_errors_and_counts_as_seen(customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await customer.send(INFORMATION, {**PERSON, "last_name": ""})
    assert customer.errors == ["Enter your last name."]
    assert hints(customer) == [HINT]
    await customer.send(INFORMATION, {"last_name": "Bell"})
    assert customer.step == "payment"


async def test_the_preview_has_the_hint_for_scripts(customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    preview = customer.form(INFORMATION).attributes["data-preview"]
    fields = fields_of(customer.form(INFORMATION), customer.page) | PERSON
    told = (await customer.http.post(preview, data=fields, headers={"Sec-Fetch-Site": "same-origin"})).text
    assert HINT in told
    assert f'name="hinted-email" value="{TYPED}"' in told


async def test_the_giftee_is_asked_about_too(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await customer.open(GIFT_CARDS)
    action = f"{STEPS}customization/"
    typed = {"value": "50.00", "for": "gift", "giftee-email": TYPED, "reception": "giftee_email"}
    await filled(customer, action, typed)
    assert hints(customer) == [HINT]
    await customer.send(action, button=("use-giftee-email", MEANT))
    assert fields_of(customer.form(action), customer.page)["giftee-email"] == MEANT
    await customer.send(action, {"giftee-email": TYPED}, ("do", "continue"))
    assert hints(customer) == [HINT]
    await customer.send(action, button=("do", "continue"))
    assert customer.step.partition("?")[0] == "information"


async def test_who_looks_for_an_order_is_asked_before_the_look_up(shop: Shop, customer: Customer) -> None:
    await customer.open(FIND)
    await customer.send(FIND, email=TYPED, number="1042")
    assert (customer.response.status_code, hints(customer)) == (200, [HINT])
    await customer.send(FIND, button=("use-email", MEANT))
    form = fields_of(customer.form(FIND), customer.page)
    assert (form["email"], form["number"], hints(customer)) == (MEANT, "1042", [])
    await customer.send(FIND, email=TYPED)
    await customer.send(FIND)
    assert "sent=1" in customer.path
