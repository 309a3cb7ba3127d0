"""Coupons on the pages: what they do, and why one does nothing, where it was typed and in every sum."""

from collections.abc import Callable
from decimal import Decimal

from funnel.core.languages import translations
from funnel.core.messages import COUPON_PROBLEMS
from schema.checkout.codes import CodeProblem
from schema.coupon.coupon import CouponTarget
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from store.core.localization.formats import Formats
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import CONTINUE, FORM, GIFT_CARDS, STEPS, chosen_massage, filled, identified
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.checkout.test_payment import at_payment, pay

CUSTOMIZATION, INFORMATION = "/ecommerce/shop/customization/", "/ecommerce/shop/information/"
Visitors = Callable[[], Customer]


def said_of_codes(customer: Customer) -> str:
    """What stands beside the codes in use."""
    return customer.page.one("ul", class_="applied").text


def sums(customer: Customer) -> list[str]:
    """Each row of the first sum on the page."""
    return [row.text for row in customer.page.all("dl", class_="totals")[0].all("div")]


async def test_a_coupon_with_a_minimum_says_from_how_much_it_works(shop: Shop, customer: Customer) -> None:
    await shop.coupon("SPRING15", "15.00", minimum_basket_amount=Decimal("80.00"))
    cart = await at_payment(shop, customer, "20.00")
    await customer.use_code("spring15")
    assert "Takes nothing off this order. From €80.00 of products." in said_of_codes(customer)
    row = "Coupon SPRING15 From €80.00 of products. €0.00"
    assert row in sums(customer)
    assert customer.page.one(class_="pay").one("button").text == "Pay €40.00"
    check_headings(customer.page)
    check_controls(customer.page)
    for step in ("customization", "information"):
        await customer.open(f"/ecommerce/shop/{step}/?cart={cart.id}")
        assert row in sums(customer), step
    await customer.open(f"{CUSTOMIZATION}?cart={cart.id}")
    await customer.send(CUSTOMIZATION, {"line-0-quantity": "4"}, CONTINUE)
    await customer.identify()
    assert "Coupon SPRING15 −€12.00" in sums(customer)
    assert "Takes nothing off" not in said_of_codes(customer)


async def test_of_coupons_that_do_not_combine_the_first_is_used(shop: Shop, customer: Customer) -> None:
    await shop.coupon("TEN", "10.00")
    await shop.coupon("ALONE", "50.00", is_combinable=False)
    await at_payment(shop, customer, "20.00")
    await customer.use_code("TEN")
    await customer.use_code("ALONE")
    assert "Takes nothing off this order. Not together with another coupon." in said_of_codes(customer)
    assert "Coupon TEN −€4.00" in sums(customer)
    assert customer.page.one(class_="pay").one("button").text == "Pay €36.00"
    assert await shop.one("SELECT sum(usage_count) FROM coupon") == 0


async def test_the_reason_is_told_in_every_language(shop: Shop, visitors: Visitors) -> None:
    await shop.coupon("SPRING15", minimum_basket_amount=Decimal("80.00"))
    customer = visitors()
    cart = await at_payment(shop, customer)
    await customer.use_code("SPRING15")
    text = COUPON_PROBLEMS[CodeProblem.MINIMUM_BASKET]
    seen = set()
    for language in LANGUAGES:
        await customer.open(f"/ecommerce/shop/payment/?cart={cart.id}", **{"Accept-Language": language})
        said = translations(language).gettext(text) % {"amount": Formats(language).money(Decimal(80), "EUR")}
        said = " ".join(said.split())
        assert said in said_of_codes(customer)
        assert any(said in row for row in sums(customer))
        seen.add(said)
    assert len(seen) == len(LANGUAGES)


async def test_the_least_to_pay_is_what_the_coupon_before_leaves(shop: Shop, customer: Customer) -> None:
    await shop.coupon("HALF", "50.00")
    await shop.coupon("LEAST30", "10.00", minimum_payment_amount=Decimal("30.00"))
    await at_payment(shop, customer, "20.00")
    await customer.use_code("LEAST30")
    assert "Coupon LEAST30 −€4.00" in sums(customer), "40.00 are left to pay"
    await customer.send("/ecommerce/shop/payment/codes", {}, ("remove", "LEAST30"))
    await customer.use_code("HALF")
    await customer.use_code("LEAST30")
    assert "Coupon LEAST30 From €30.00 left to pay for products. €0.00" in sums(customer), "20.00 are left to pay"
    await customer.press_pay()
    await pay(shop, customer)
    assert sums(customer) == ["Products €40.00", "Coupon HALF −€20.00", "Delivery Free", "Total €20.00"]
    assert await shop.one("SELECT usage_count FROM coupon WHERE code = 'LEAST30'") == 0


async def test_a_coupon_that_only_makes_collecting_free(shop: Shop, customer: Customer) -> None:
    """Its discount is nothing, and the order tells it all the same."""
    collect = shop.modes[DeliveryKind.CLICK_AND_COLLECT]
    await shop.execute(
        "INSERT INTO delivery_rate (partner_id, delivery_mode_id, country, price_amount, currency) "  # noqa: S608
        f"VALUES ({shop.partner.id}, {collect}, '', 3.00, 'EUR')"
    )
    await shop.coupon("COLLECT", "0.00", free_click_and_collect=True)
    cart = await at_payment(shop, customer)
    assert "Delivery €3.00" in sums(customer)
    await customer.use_code("COLLECT")
    assert "Coupon COLLECT Makes collecting your order free. €0.00" in sums(customer)
    assert "Delivery Free" in sums(customer)
    assert "Takes nothing off" not in customer.page.text
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], "FR")
    await customer.identify()
    assert "Coupon COLLECT Not for the delivery that you have chosen. €0.00" in sums(customer)
    await customer.choose(cart.id, collect)
    await customer.identify()
    await customer.press_pay()
    await pay(shop, customer)
    assert sums(customer)[1:3] == ["Coupon COLLECT Makes collecting your order free. €0.00", "Delivery Free"]
    assert await shop.one("SELECT usage_count FROM coupon") == 1


async def test_the_shops_of_vouchers_and_gift_cards_tell_it_too(
    shop: Shop, visitors: Visitors, sold: Experiences
) -> None:
    both = [CouponTarget.VOUCHERS, CouponTarget.GIFT_CARDS]
    await shop.coupon("BIG", minimum_basket_amount=Decimal("1000.00"), targets=both)
    await shop.coupon("MEAL", voucher_prototype_ids=[sold.meal.id], targets=both)
    other = visitors()
    await chosen_massage(other, sold, **{f"option-{sold.rose.id}": "1"})
    await identified(other, STEPS)
    await other.use_code("BIG")
    await other.use_code("MEAL")
    assert "Coupon BIG From €1,000.00 of products. €0.00" in sums(other)
    assert "Coupon MEAL Not for what is in this order. €0.00" in sums(other)
    giver = visitors()
    await giver.open(GIFT_CARDS)
    await filled(giver, FORM, {"value": "50.00", "reception": "print_at_home"})
    await identified(giver, STEPS)
    await giver.use_code("BIG")
    assert "Takes nothing off this order. From €1,000.00 of products." in said_of_codes(giver)


# ---- countries that there are not --------------------------------------------------------------------------------------


async def test_a_country_that_there_is_not_is_refused_where_it_is_chosen(shop: Shop, customer: Customer) -> None:
    cart = await at_payment(shop, customer)
    home = str(shop.modes[DeliveryKind.HOME_DELIVERY])
    for country in ("ZZ", "XX", "FRANCE", "F"):
        await customer.open(f"{CUSTOMIZATION}?cart={cart.id}")
        await customer.send(CUSTOMIZATION, {"delivery": home, "country": country}, CONTINUE)
        assert (customer.step, customer.errors) == ("customization", ["Choose a country."])
        await customer.open(f"{CUSTOMIZATION}?cart={cart.id}")
        assert customer.page.all("input", value=home)[0].attributes.get("checked") is None, "nothing of it is kept"
    await customer.send(CUSTOMIZATION, {"delivery": home, "country": " fr "}, CONTINUE)
    await customer.identify(country="ZZ")
    assert customer.errors == ["Choose a country."]


async def test_nor_is_it_taken_for_a_gift_card_by_post(shop: Shop, customer: Customer) -> None:
    home = shop.modes[DeliveryKind.HOME_DELIVERY]
    await customer.open(GIFT_CARDS)
    by_post = {"value": "50.00", "reception": f"expedition-{home}", "country": "ZZ"}
    await filled(customer, FORM, by_post)
    assert (customer.step, customer.errors) == ("customization", ["Choose a country."])
