"""The choice of what to pay with: what is offered, that it is what the provider gets, and what a change of mind does."""

import pytest

from schema.cart.cart import CartItem
from schema.delivery.delivery import DeliveryKind
from schema.payment_method import PaymentMethod
from store.core.settings import Settings
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_payment import at_payment, attempt_of, pay, return_url


@pytest.fixture(autouse=True)
async def accepting(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shop that takes all of them, as its account at the provider does."""
    monkeypatch.setattr(Settings, "available_payment_methods", list(PaymentMethod))
    await shop.execute("UPDATE partner SET payment_methods = :all", all=[method.value for method in PaymentMethod])


def offered(customer: Customer) -> dict[str, bool]:
    """What can be chosen, and whether it is."""
    found = [
        each.attributes for each in customer.page.all("input", type="radio") if each.attributes["name"] == "method"
    ]
    assert {each["form"] for each in found} <= {"pay"}
    return {each["value"]: "checked" in each for each in found}


async def pay_with(customer: Customer, method: str) -> Customer:
    """Choose a method and press the button."""
    return await customer.send("/ecommerce/shop/payment/?", method=method)


@pytest.mark.parametrize("method", ["bancontact", "ideal"])
async def test_an_order_is_paid_with_a_local_method(shop: Shop, customer: Customer, method: str) -> None:
    await at_payment(shop, customer)
    assert offered(customer) == {"card": True, "american_express": False, "bancontact": False, "ideal": False}
    await pay_with(customer, method)
    assert customer.step == "leaving"
    payin = await shop.payin_of(await attempt_of(shop))
    answer = await shop.control("POST", f"/payins/{payin}/pay", {"challenge": "confirm"})
    assert answer.status_code == 200, answer.text
    await customer.open(await return_url(shop, customer))
    assert customer.step == "order"
    assert await shop.one("SELECT method FROM payment_transaction WHERE type = 'payin'") == method
    assert await shop.one("SELECT count(*) FROM shop_order") == 1


async def test_an_order_is_paid_with_american_express(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await pay_with(customer, "american_express")
    found = await shop.payin_of(await attempt_of(shop))
    refused = await shop.control("POST", f"/payins/{found}/pay", {"card": "4970107111111119"})
    assert refused.status_code == 400, "the page takes nothing but American Express"
    answer = await shop.control("POST", f"/payins/{found}/pay", {"card": "375989111111119"})
    assert answer.status_code == 200, answer.text
    await customer.open(await return_url(shop, customer))
    assert customer.step == "order"


async def test_a_change_of_mind_gives_up_the_first_payment(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await pay_with(customer, "ideal")
    first = await attempt_of(shop)
    await customer.open("/ecommerce/shop/payment/")
    assert [value for value, chosen in offered(customer).items() if chosen] == ["ideal"], "it was chosen last"
    await pay_with(customer, "ideal")
    assert await attempt_of(shop) == first, "pressed twice"
    await customer.open("/ecommerce/shop/payment/")
    await pay_with(customer, "card")
    assert await attempt_of(shop) != first
    assert await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=first) == "abandoned"
    await pay(shop, customer)
    assert customer.step == "order"
    assert await shop.one("SELECT method FROM payment_transaction WHERE type = 'payin'") == "card"


async def test_what_is_not_offered_any_more_charges_nothing(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await shop.execute("UPDATE partner SET payment_methods = '{card}'")
    await pay_with(customer, "ideal")
    assert customer.step == "payment"
    assert customer.page.one(role="alert").one("h2").text == "Your order has changed since you saw it"
    assert await shop.one("SELECT count(*) FROM checkout_attempt") == 0
    assert offered(customer) == {}, "one method is no choice"
    await customer.press_pay()
    assert customer.step == "leaving"
    assert await shop.one("SELECT payment_method FROM checkout_attempt") == "card"


async def test_the_method_of_the_shops_country_comes_first(shop: Shop, customer: Customer) -> None:
    await shop.execute("UPDATE partner SET hq_country_code = 'NL'")
    await at_payment(shop, customer)
    assert next(iter(offered(customer).items())) == ("ideal", True)


async def test_the_country_of_the_delivery_decides_before_that_of_the_shop(shop: Shop, customer: Customer) -> None:
    await shop.execute("UPDATE partner SET hq_country_code = 'NL'")
    cart = await shop.cart(CartItem((await shop.product("20.00")).id, 1))
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], country="BE")
    await customer.identify(country="BE", postal_code="1000", city="Bruxelles")
    assert customer.step == "payment"
    assert next(iter(offered(customer).items())) == ("bancontact", True)


async def test_a_covered_order_offers_nothing(shop: Shop, customer: Customer) -> None:
    card = await shop.gift_card("50.00")
    await at_payment(shop, customer)
    await customer.use_code(card.code)
    assert offered(customer) == {}
    await customer.press_pay()
    assert customer.step == "order"


async def test_the_page_names_the_payment_service_and_the_only_method(shop: Shop, customer: Customer) -> None:
    await shop.execute("UPDATE partner SET payment_methods = '{bancontact}'")
    await at_payment(shop, customer)
    assert offered(customer) == {}
    said = customer.page.one("main").text
    assert "Bancontact: With your Belgian card, or the app on your phone." in said
    assert "our payment service, Mangopay." in said
