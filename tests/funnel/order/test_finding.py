"""Customers who ask for the link to their order: it goes to the buyer only, and the page tells nobody anything."""

import datetime as dt
from collections.abc import Callable

import pytest

from store.core.clock import clock
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import STEPS, WINDOW, chosen_massage, identified, paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.servers.production import SERVICE_URL

FIND = "/orders/"
ANSWER = "If there is such an order, the link to it is on its way to you."
Visitors = Callable[[], Customer]


@pytest.fixture
async def order(shop: Shop, visitors: Visitors, sold: Experiences) -> str:
    """The path of the page of an order of ada@example.com, number 1."""
    buyer = visitors()
    await chosen_massage(buyer, sold)
    await identified(buyer, STEPS)
    return (await paid(shop, buyer)).path


async def recipients(shop: Shop) -> list[str]:
    """The buyers that got the link."""
    return list(await shop.one("SELECT json_agg(recipient ORDER BY id) FROM mail WHERE kind = 'order_link'") or [])


async def ask(customer: Customer, email: str, number: str) -> str:
    await customer.open(FIND)
    await customer.send(FIND, email=email, number=number)
    return customer.page.one("main").text


@pytest.mark.parametrize(
    ("email", "number"), [("ada@example.com", "1"), (" ADA@example.com ", "#1"), ("ada@example.com", "0001")]
)
async def test_the_buyer_gets_the_link(shop: Shop, order: str, customer: Customer, email: str, number: str) -> None:
    assert ANSWER in await ask(customer, email, number)
    assert await recipients(shop) == ["ada@example.com"]
    about = await shop.one("SELECT content->>'order_page' FROM mail WHERE kind = 'order_link'")
    assert about == str(await shop.one("SELECT uuid FROM shop_order"))


@pytest.mark.parametrize(
    ("email", "number"), [("eve@example.com", "1"), ("ada@example.com", "2"), ("ada@example.com", "999999999")]
)
async def test_whoever_guesses_gets_the_same_answer_and_nothing_is_sent(
    shop: Shop, order: str, customer: Customer, email: str, number: str
) -> None:
    assert ANSWER in await ask(customer, email, number)
    assert await recipients(shop) == []


@pytest.mark.parametrize(
    ("email", "number", "wrong"),
    [
        ("", "1", "Enter your e-mail address: the shop reaches you there."),
        ("ada", "1", "Enter an e-mail address like name@example.com."),
        (f"{'a' * 250}@example.com", "1", "Enter an e-mail address like name@example.com."),
        ("ada@example.com", "", "Enter the number of your order."),
        ("ada@example.com", "one", "Enter the number of your order, such as 1042."),
        ("ada@example.com", "9999999999", "Enter the number of your order, such as 1042."),
        ("ada@example.com", "\u0661", "Enter the number of your order, such as 1042."),
    ],
)
async def test_what_cannot_be_an_order_is_told_at_its_field(
    shop: Shop, order: str, customer: Customer, email: str, number: str, wrong: str
) -> None:
    await ask(customer, email, number)
    assert (customer.response.status_code, customer.errors) == (422, [wrong])
    check_headings(customer.page)
    check_controls(customer.page)
    assert await recipients(shop) == []


async def test_it_is_sent_once_in_a_quarter_of_an_hour(shop: Shop, order: str, customer: Customer) -> None:
    for _ in range(3):
        await ask(customer, "ada@example.com", "1")
    assert await recipients(shop) == ["ada@example.com"]
    clock.advance(dt.timedelta(minutes=16))
    await ask(customer, "ada@example.com", "1")
    assert await recipients(shop) == ["ada@example.com"] * 2


@pytest.mark.parametrize("number", ["1", "2"])
async def test_asking_is_limited_whether_there_is_such_an_order_or_not(
    shop: Shop, order: str, customer: Customer, number: str
) -> None:
    statuses = []
    for _ in range(22):
        await ask(customer, "ada@example.com", number)
        statuses.append(customer.response.status_code)
    assert statuses == [200] * 20 + [429] * 2
    assert len(await recipients(shop)) == (1 if number == "1" else 0)


async def test_a_change_of_language_stays_there(order: str, customer: Customer) -> None:
    await ask(customer, "ada", "x")
    await customer.send("/ecommerce/shop/language/", button=("language", "fr"))
    assert (customer.path, customer.page.one("html").attributes["lang"]) == (FIND, "fr")


async def test_it_is_linked_in_the_shop_and_is_sound(order: str, customer: Customer) -> None:
    await customer.open(WINDOW)
    assert f"{FIND}?lang=en" in [link.attributes["href"] for link in customer.page.one("footer").all("a")]
    await customer.open(FIND)
    check_headings(customer.page)
    check_controls(customer.page)
    check_headers(customer)


async def test_the_service_itself_has_no_orders_to_find(customer: Customer) -> None:
    assert (await customer.open(f"{SERVICE_URL}{FIND}")).response.status_code == 404
