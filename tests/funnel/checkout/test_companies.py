"""A company buys, without scripts: the folded part of the second step, what is kept of it, and the invoice on the page."""

import pytest

from schema.cart.cart import CartItem
from schema.delivery.delivery import DeliveryKind
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of

INFORMATION = "/ecommerce/shop/information/"
COMPANY = {
    "company_name": "Analytical Engines",
    "vat_id": "40 303 265 045",
    "billing_line_1": "2 quai du Lac",
    "billing_postal_code": "74000",
    "billing_city": "Annecy",
    "billing_country": "FR",
}


@pytest.fixture
async def at_details(shop: Shop, customer: Customer) -> Customer:
    """A customer who collects a candle, at the second step."""
    cart = await shop.cart(CartItem((await shop.product("20.00")).id, 1))
    return await customer.choose(cart.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])


def is_open(customer: Customer) -> bool:
    [part] = customer.page.all("details", class_="more")
    return "open" in part.attributes


async def test_it_is_folded_away_and_optional(at_details: Customer) -> None:
    assert not is_open(at_details)
    typed = fields_of(at_details.form(INFORMATION), at_details.page)
    assert (typed["company_name"], typed["vat_id"], typed["billing_country"]) == ("", "", "FR")
    await at_details.identify()
    assert at_details.step == "payment"
    await at_details.open(at_details.path.replace("payment", "information"))
    assert not is_open(at_details)


async def test_what_is_wrong_is_told_at_its_field_and_nothing_is_kept(at_details: Customer, shop: Shop) -> None:
    await at_details.identify(company_name="", vat_id="FR40303265046", billing_postal_code="7400")
    assert at_details.errors == [
        "Enter the name of the company.",
        "Check this VAT number: enter it as on its invoices, like FR40303265045.",
        "Enter a street and number.",
        "Enter a postal code of this country, like 75001.",
        "Enter a town or city.",
    ]
    assert is_open(at_details)
    typed = fields_of(at_details.form(INFORMATION), at_details.page)
    assert (typed["vat_id"], typed["billing_postal_code"]) == ("FR40303265046", "7400")
    await at_details.identify(**COMPANY)
    assert at_details.step == "payment"


async def test_the_company_is_checked_paid_for_and_invoiced(at_details: Customer, shop: Shop) -> None:
    await at_details.identify(**COMPANY)
    said = at_details.page.one("main").text
    for part in ("Analytical Engines", "2 quai du Lac", "74000 Annecy", "VAT number FR40303265045"):
        assert part in said
    await paid(shop, at_details)
    assert at_details.step == "order"
    said = at_details.page.one("main").text
    for part in (
        "Invoice to",
        "Analytical Engines",
        "74000 Annecy",
        "VAT number FR40303265045",
        "Open the invoice (PDF)",
    ):
        assert part in said
    assert "receipt (PDF)" not in said


async def test_at_home_the_address_may_stay_empty(shop: Shop, customer: Customer) -> None:
    cart = await shop.cart(CartItem((await shop.product("20.00")).id, 1))
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], "FR")
    assert fields_of(customer.form(INFORMATION), customer.page)["billing_country"] == ""
    await customer.identify(company_name="Analytical Engines", vat_id="40303265045")
    assert customer.step == "payment"
    said = customer.page.one("main").text
    assert "Analytical Engines" in said
    assert "VAT number FR40303265045" in said


async def test_an_order_that_is_collected_after_all_needs_the_address(shop: Shop, customer: Customer) -> None:
    cart = await shop.cart(CartItem((await shop.product("20.00")).id, 1))
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], "FR")
    await customer.identify(company_name="Analytical Engines")
    assert customer.step == "payment"
    await customer.choose(cart.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])
    assert customer.step == "information"
    await customer.open(f"/ecommerce/shop/payment/?cart={cart.id}")
    assert customer.step == "information"
    assert is_open(customer)
    await customer.identify(**COMPANY)
    assert customer.step == "payment"
