"""Experiences and gift cards in one order, as a customer buys them."""

from collections.abc import Callable

import pytest

from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import (
    CONTINUE,
    FORM,
    GIFT_CARDS,
    STEPS,
    WINDOW,
    chosen_massage,
    filled,
    identified,
    paid,
)
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_gift_card_offers import links
from tests.funnel.checkout.test_pages import check_controls, check_headings


async def test_a_gift_card_joins_an_experience_in_one_order(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await customer.open(f"{STEPS}customization/")
    await customer.send(FORM, None, ("do", "card"))
    assert customer.h1 == "Give a gift card"
    await filled(customer, FORM, {"value": "50.00", "giftee-name": "Paul Langevin"}, ("do", "another"))
    assert customer.h1 == "Give a gift card", "another of the same"
    await customer.open(f"{STEPS}customization/")
    rows = customer.page.one("ul", class_="lines").all("li")
    assert [row.one("h3").text for row in rows] == ["Massage by the fire", "Gift card"]
    assert customer.page.one(id="lines").text == "Items"
    check_headings(customer.page)
    check_controls(customer.page)
    assert customer.amounts["Items"] == "€140.00"
    await customer.open(WINDOW)
    assert customer.page.one("a", class_="in-basket").text == "Your order: 2 gifts"
    await customer.open(f"{STEPS}customization/")
    await customer.send(FORM, None, CONTINUE)
    await identified(customer, STEPS)
    await paid(shop, customer)
    assert customer.path.startswith("/orders/")
    assert [await shop.count(table) for table in ("shop_order", "voucher", "gift_card")] == [1, 1, 1]
    assert "Massage by the fire" in customer.page.text
    assert "Gift card" in customer.page.text
    await customer.open(f"{STEPS}customization/")
    assert customer.h1 != "Your order", "what is ordered is no longer in the basket"


async def test_a_gift_card_does_not_pay_for_a_gift_card(shop: Shop, customer: Customer) -> None:
    paying = await shop.gift_card("20.00")
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, {"value": "50.00", "reception": "print_at_home"})
    await identified(customer, STEPS)
    await customer.use_code(paying.code)
    assert "Takes nothing off this order. Gift cards do not pay for gift cards." in customer.page.text
    assert customer.amounts["Total"] == "€50.00"


async def test_a_gift_card_that_is_no_longer_sold_is_removed(shop: Shop, customer: Customer, sold: Experiences) -> None:
    await chosen_massage(customer, sold)
    await customer.open(GIFT_CARDS)
    await customer.send(FORM, {"value": "50.00"}, CONTINUE)
    form, address = customer.form(FORM), customer.path
    await shop.execute("UPDATE partner SET gift_card_offer_enabled = false")
    for _ in range(2):
        await customer.open(address)
        assert customer.response.status_code == 404
        await customer.post(form.attributes["action"], {"line": "x", "value": "other", "other": "abc"})
        assert customer.response.status_code in {403, 404}
    await customer.open(address)
    await customer.open(customer.page.one("main").all("a")[0].attributes["href"])
    rows = customer.page.one("ul", class_="lines").all("li")
    assert [len(row.all("a")) for row in rows] == [1, 0], "nothing to change about the gift card"
    await customer.send(FORM, None, ("do", rows[1].one("button", class_="remove").attributes["value"]))
    await customer.send(FORM, None, CONTINUE)
    assert customer.step == "information"


async def test_who_sells_gift_cards_alone_leads_to_no_experiences(
    shop: Shop, customer: Customer, visitors: Callable[[], Customer]
) -> None:
    assert shop.partner.gift_card_offer_enabled
    for visitor, start in ((visitors(), f"{STEPS}customization/"), (customer, STEPS)):
        await visitor.open(start)
        assert visitor.h1 == "Give a gift card"
        assert WINDOW not in links(visitor)
    await filled(customer, FORM, {"value": "50.00", "reception": "print_at_home"}, ("do", "update"))
    await customer.open(f"{STEPS}customization/")
    assert [button.text for button in customer.page.one("p", class_="one-more").all("button")] == ["Add a gift card"]


@pytest.mark.parametrize("root", [WINDOW, GIFT_CARDS])
async def test_former_addresses_of_the_steps_lead_on(customer: Customer, sold: Experiences, root: str) -> None:
    await chosen_massage(customer, sold)
    for step in ("customization", "information"):
        now = customer.path.replace(customer.step, step)
        former = now.replace(STEPS, root)
        for method in ("GET", "POST"):
            answer = await customer.http.request(method, former)
            assert (answer.status_code, answer.headers["location"]) == (308, now)
            assert answer.headers["cache-control"] == "no-store"
        assert (await customer.open(former)).path == now
    await customer.open(f"{root}nowhere/at/all/")
    assert customer.response.status_code == 404
