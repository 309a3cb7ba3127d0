"""The pages of a partner that does not sell: one plain page, in every language, at every counter and every step."""

from collections.abc import Callable

import pytest

from funnel.core.languages import translations
from schema.cart.cart import CartItem
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import (
    FORM,
    GIFT_CARDS,
    STEPS,
    WINDOW,
    chosen_massage,
    filled,
    identified,
)
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.funnel.checkout.test_payment import at_payment, pay
from tests.funnel.redemption.fixtures import Venue, note, press

CLOSED = "This shop is closed at the moment"
PRODUCTS = "/ecommerce/shop/"
Visitors = Callable[[], Customer]


async def close(shop: Shop, status: str = "i") -> None:
    """Let the partner sell no more, or again."""
    await shop.execute(f"UPDATE partner SET status = '{status}'")  # noqa: S608 - a test's word


async def is_closed(customer: Customer, path: str) -> None:
    """There is one plain page, whose only way out is the partner's own site."""
    await customer.open(path)
    assert (customer.response.status_code, customer.h1) == (404, CLOSED), path
    ways = [link.attributes["href"] for link in customer.page.one("main").all("a")]
    assert ways == ["https://shop.example"]
    assert customer.page.one("main").all("form") == []


@pytest.mark.parametrize("status", ["i", "n"])
async def test_nothing_is_sold_at_any_step(shop: Shop, visitors: Visitors, sold: Experiences, status: str) -> None:
    goods, vouchers, cards = visitors(), visitors(), visitors()
    await at_payment(shop, goods)
    await chosen_massage(vouchers, sold, **{f"option-{sold.rose.id}": "1"})
    await cards.open(GIFT_CARDS)
    await filled(cards, FORM, {"value": "50.00", "reception": "print_at_home"})
    await identified(cards, STEPS)
    await close(shop, status)
    for customer, root in ((goods, PRODUCTS), (vouchers, WINDOW), (cards, GIFT_CARDS)):
        query = customer.path.partition("?")[2]
        for step in ("customization", "information", "payment"):
            await is_closed(customer, f"{root}{step}/?{query}")
    for path in (WINDOW, GIFT_CARDS, f"{STEPS}customization/?prototype={sold.massage.id}"):
        await is_closed(visitors(), path)
    await close(shop, "a")
    await goods.open(f"{PRODUCTS}payment/?{goods.path.partition('?')[2]}")
    assert goods.step == "payment", "what was chosen is kept"


async def test_the_page_is_whole_and_speaks_every_language(shop: Shop, visitors: Visitors, customer: Customer) -> None:
    await close(shop)
    for path in (WINDOW, GIFT_CARDS):
        await is_closed(customer, path)
        check_headers(customer)
        check_headings(customer.page)
        check_controls(customer.page)
        for language in LANGUAGES:
            said = await visitors().open(path, **{"Accept-Language": language})
            assert said.h1 == translations(language).gettext(CLOSED)
            assert (said.h1 == CLOSED) is (language == "en")


async def test_a_page_that_was_open_buys_nothing(shop: Shop, customer: Customer) -> None:
    candle = await shop.product(stock=5)
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.choose(cart.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])
    await close(shop)
    await customer.identify()
    assert customer.h1 == CLOSED, "closed in the middle of the steps"
    await close(shop, "a")
    await customer.open(f"{PRODUCTS}information/?cart={cart.id}")
    await customer.identify()
    assert customer.step == "payment"
    await close(shop)
    await customer.press_pay()
    assert (customer.h1, await shop.count("checkout_attempt")) == (CLOSED, 0)


async def test_a_payment_that_was_begun_is_finished(shop: Shop, customer: Customer) -> None:
    cart = await at_payment(shop, customer)
    form = fields_of(customer.form(f"{PRODUCTS}payment/?"), customer.page)
    path = customer.path
    await customer.press_pay()
    provider = customer.refresh[1]
    await close(shop)
    await customer.open(f"{PRODUCTS}payment/?cart={cart.id}")
    assert CLOSED in [heading.text for heading in customer.page.all("h2")]
    assert "You can still finish the payment" in customer.page.text
    assert "pay anew" not in customer.page.text
    assert customer.page.one("main").all("form") == [], "there is nothing to change, and nothing else to pay"
    assert [link.text for link in customer.page.one("main").all("a")] == ["Finish the payment"]
    await customer.post(path, form)
    assert customer.refresh[1] == provider, "pressed again it leads to the same payment"
    await pay(shop, customer)
    assert (customer.step, customer.h1) == ("order", "Thank you for your order")
    assert await shop.count("shop_order") == 1
    await customer.open(f"{PRODUCTS}customization/?cart={cart.id}")
    assert customer.step == "order"


async def test_what_was_bought_is_redeemed_all_the_same(venue: Venue) -> None:
    row = await venue.voucher()
    await close(venue.shop)
    staff = await venue.staff(row.code)
    await press(staff, "Start using it")
    assert (note(staff), await venue.state(row)) == ("It is in use now.", "using")
