"""Network gift cards in the pages of the checkout: entered in the field of all codes, named like a shop's own card."""

from collections.abc import Callable

import pytest

from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.network_payment import card_of_network, shown, take_part, usages
from tests.fixtures.shop import Shop, open_shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_limits import CANNOT, WAIT
from tests.funnel.checkout.test_payment import at_payment, pay

Visitors = Callable[[], Customer]


@pytest.fixture(autouse=True)
async def linked(shop: Shop) -> None:
    await take_part(shop)


async def test_it_pays_beside_a_coupon_an_own_card_and_the_bank_card(shop: Shop, customer: Customer) -> None:
    network, own, coupon = await card_of_network(shop, "20.00"), await shop.gift_card("10.00"), await shop.coupon()
    await at_payment(shop, customer, "50.00")
    for code in (network.code.lower(), own.code, coupon.code):
        await customer.use_code(code)
        assert customer.errors == []
    expected = {
        "Products": "€100.00",
        f"Coupon {coupon.code}": "−€10.00",
        "Delivery": "Free",
        "Total": "€90.00",
        f"Gift card ending in {network.code[-4:]}": "−€20.00",
        f"Gift card ending in {own.code[-4:]}": "−€10.00",
    }
    assert customer.amounts == {**expected, "Left to pay": "€60.00"}
    assert network.code not in customer.page.text
    await customer.press_pay()
    await pay(shop, customer)
    assert customer.h1 == "Thank you for your order"
    assert customer.amounts == {**expected, "Paid online": "€60.00"}
    (usage,) = await usages(shop)
    assert (str(usage.value_amount), await shown(shop, network)) == ("20.00", ("used", "0.00"))
    told = await shop.one("SELECT content::text FROM mail WHERE kind = 'order_confirmation'")
    assert network.code[-4:] in told
    assert network.code not in told
    assert await broken_rules(shop.services.db) == {}


async def test_an_order_that_it_covers_needs_no_bank_card(shop: Shop, customer: Customer) -> None:
    card = await card_of_network(shop)
    await at_payment(shop, customer)
    await customer.use_code(card.code)
    await customer.press_pay()
    assert customer.h1 == "Thank you for your order"
    assert await shown(shop, card) == ("using", "60.00")
    await customer.open(customer.path)
    assert await shop.count("network_gift_card_usage") == 1


async def test_a_card_that_is_used_whole_says_so_and_waits(shop: Shop, customer: Customer) -> None:
    card = await card_of_network(shop, is_splittable=False)
    await at_payment(shop, customer)
    await customer.use_code(card.code)
    assert customer.errors == []
    assert "Takes nothing off this order. This gift card can only be used whole" in customer.page.text
    assert customer.amounts == {"Products": "€40.00", "Delivery": "Free", "Total": "€40.00"}
    assert "€100" not in customer.page.text
    await customer.press_pay()
    await pay(shop, customer)
    assert await shown(shop, card) == ("paid", "100.00")


async def test_codes_that_cannot_be_used_all_look_alike(shop: Shop, customer: Customer) -> None:
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    foreign, off = await card_of_network(other), await card_of_network(shop, is_active=False)
    ours = await card_of_network(shop)
    await at_payment(shop, customer)
    pages = []
    for code, is_linked in (("UNKNOWN2", True), (foreign.code, True), (off.code, True), (ours.code, False)):
        await shop.execute(
            "UPDATE partner SET linked_to_ngc_settings = :linked WHERE id = :id", linked=is_linked, id=shop.partner.id
        )
        await customer.use_code(code)
        pages.append((customer.errors, customer.response.status_code, customer.amounts))
    assert all(page == pages[0] for page in pages)
    assert pages[0][0]


async def test_guesses_are_counted(shop: Shop, customer: Customer) -> None:
    """Codes of cards at a shop that takes no part in them count as guesses; then even a good code has to wait."""
    card, link = await card_of_network(shop), "UPDATE partner SET linked_to_ngc_settings = :linked"
    await shop.execute(link, linked=False)
    await at_payment(shop, customer)
    for _ in range(20):
        await customer.use_code(card.code)
        assert customer.errors == CANNOT
    await shop.execute(link, linked=True)
    await customer.use_code(card.code)
    assert customer.errors == WAIT
    assert await shown(shop, card) == ("paid", "100.00")
