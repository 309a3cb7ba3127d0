"""The first two steps, without scripts: what is shown, what is kept, what is refused and why."""

import datetime as dt
from decimal import Decimal

import pytest

from schema.cart.cart import CartItem
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from store.core.clock import clock
from store.delivery import DeliveryModeRow
from store.product.products import ProductAttributeRow, ProductRow
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of

CUSTOMIZATION = "/ecommerce/shop/customization/"
HOME, COLLECT = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT


async def open_first_step(shop: Shop, customer: Customer, *items: CartItem) -> str:
    """A customer at the first step of a cart; answers its id."""
    cart = await shop.cart(*items)
    await customer.open(f"{CUSTOMIZATION}?cart={cart.id}")
    assert customer.response.status_code == 200
    return str(cart.id)


def form_fields(customer: Customer) -> dict[str, str]:
    """What the form of the first step would send."""
    return fields_of(customer.form(CUSTOMIZATION), customer.page)


async def sized(shop: Shop) -> tuple[ProductRow, ProductAttributeRow]:
    """A product whose size must be chosen."""
    robe = await shop.product("89.00", name=Text(en="Robe"))
    return robe, await shop.choice(robe, "Size", "s", "m")


# ---- what is shown -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slash", ["", "/"])
async def test_the_cart_is_there_and_can_be_changed(shop: Shop, customer: Customer, slash: str) -> None:
    candle = await shop.product("20.00")
    large = await shop.variant(candle, "30.00")
    cart = await shop.cart(CartItem(candle.id, 2, large.id))
    await customer.open(f"/ecommerce/shop/customization{slash}?cart={cart.id}")
    assert customer.h1 == "Your order"
    assert form_fields(customer)["line-0-quantity"] == "2"
    assert form_fields(customer)["line-0-variant"] == str(large.id)
    assert customer.page.one(data_live="total").text == "€60.00"
    await customer.send(CUSTOMIZATION, {"line-0-quantity": "3"}, ("do", "update"))
    assert customer.page.one(data_live="total").text == "€90.00"
    await customer.open(f"{CUSTOMIZATION}?cart={cart.id}")
    assert form_fields(customer)["line-0-quantity"] == "3"


async def test_buttons_change_one_line(shop: Shop, customer: Customer) -> None:
    candle, soap = await shop.product("20.00"), await shop.product("5.00", name=Text(en="Soap"))
    await open_first_step(shop, customer, CartItem(candle.id, 1), CartItem(soap.id, 1))
    await customer.send(CUSTOMIZATION, None, ("do", "more-1"))
    assert [form_fields(customer)[f"line-{i}-quantity"] for i in (0, 1)] == ["1", "2"]
    await customer.send(CUSTOMIZATION, None, ("do", "less-0"))
    await customer.send(CUSTOMIZATION, None, ("do", "less-0"))
    assert [form_fields(customer)[f"line-{i}-quantity"] for i in (0, 1)] == ["0", "2"]
    await customer.send(CUSTOMIZATION, None, ("do", "remove-0"))
    assert form_fields(customer)["line-0-product"] == str(soap.id)
    assert "line-1-product" not in form_fields(customer)


async def test_something_else_can_be_added(shop: Shop, customer: Customer) -> None:
    candle, soap = await shop.product("20.00"), await shop.product("5.00", name=Text(en="Soap"))
    gone = await shop.variant(soap, "5.00", stock=0)
    there = await shop.variant(soap, "7.00", stock=4)
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1))
    await customer.send(CUSTOMIZATION, None, ("do", f"add-{soap.id}"))
    assert customer.path == f"{CUSTOMIZATION}?cart={cart_id}"
    assert form_fields(customer)["line-1-variant"] == str(there.id) != str(gone.id)
    assert customer.page.one(data_live="total").text == "€27.00"
    fields = form_fields(customer) | {"do": f"add-{soap.id}"}
    await customer.post(customer.path, fields)
    assert form_fields(customer)["line-1-quantity"] == "2"


async def test_an_empty_cart_offers_the_shop(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    await open_first_step(shop, customer)
    assert customer.h1 == "Your basket is empty"
    assert not customer.page.all("button", value="continue")
    await customer.send(CUSTOMIZATION, None, ("do", f"add-{candle.id}"))
    assert customer.h1 == "Your order"
    assert form_fields(customer)["line-0-quantity"] == "1"


async def test_each_line_that_cannot_be_ordered_says_why(shop: Shop, customer: Customer) -> None:
    sold_out, few = await shop.product("1.00", stock=0), await shop.product("1.00", stock=2)
    inactive, with_variant = await shop.product("1.00", is_active=False), await shop.product("1.00")
    await shop.variant(with_variant, "2.00")
    robe, size = await sized(shop)
    await open_first_step(
        shop,
        customer,
        CartItem(999999, 1),
        CartItem(inactive.id, 1),
        CartItem(sold_out.id, 1),
        CartItem(few.id, 3),
        CartItem(with_variant.id, 1),
        CartItem(with_variant.id, 1, 999999),
        CartItem(robe.id, 1),
        CartItem(robe.id, 1, None, {size.id: "xxl"}),
    )
    told = [customer.page.one(id=f"line-{at}-problem").text for at in range(8)]
    assert told == [
        "This shop does not sell this product. It is left out of your order.",
        "This product is not on sale at the moment. It is left out of your order.",
        "This product is sold out. It is left out of your order.",
        "Only 2 left: choose a smaller quantity.",
        "Choose a version of this product.",
        "This version is no longer on sale: choose another one.",
        "Choose among the options of this product.",
        "This option is no longer on offer: choose another one.",
    ]
    assert customer.page.one(data_live="total").text == "€185.00", "as far as prices are known"


async def test_a_replaced_cart_leads_back_with_a_notice(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.choose(cart.id, shop.modes[COLLECT])
    await customer.identify()
    assert customer.step == "payment"
    clock.advance(dt.timedelta(seconds=1))
    await shop.services.carts.replace(shop.partner.id, cart.id, [CartItem(candle.id, 4)], "")
    await customer.open(f"/ecommerce/shop/payment/?cart={cart.id}")
    assert customer.step == "customization"
    assert "Your basket has changed" in [h2.text for h2 in customer.page.all("h2")]
    assert form_fields(customer)["line-0-quantity"] == "4"
    await customer.choose(cart.id, shop.modes[COLLECT])
    assert customer.step == "information"
    assert "Your basket has changed" not in customer.page.text


# ---- going on ----------------------------------------------------------------------------------------------------------


async def test_a_step_is_not_opened_before_its_time(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    for step in ("information", "payment", "summary"):
        await customer.open(f"/ecommerce/shop/{step}/?cart={cart.id}")
        assert customer.step == "customization"
    await customer.choose(cart.id, shop.modes[COLLECT])
    for step in ("payment", "summary"):
        await customer.open(f"/ecommerce/shop/{step}/?cart={cart.id}")
        assert customer.step == "information"


async def test_nothing_to_order_goes_nowhere(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 0))
    await customer.send(CUSTOMIZATION, {"delivery": str(shop.modes[COLLECT])}, ("do", "continue"))
    assert customer.errors == ["Choose at least one product to continue."]
    assert customer.page.one("title").text.startswith("Error:")
    await customer.open(f"/ecommerce/shop/information/?cart={cart_id}")
    assert customer.step == "customization"
    assert customer.errors == []


async def test_a_delivery_must_be_chosen_and_available(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00", is_physical=True)
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    await customer.send(CUSTOMIZATION, None, ("do", "continue"))
    assert customer.errors == ["Choose how you would like to receive your order."]
    digital = shop.modes[DeliveryKind.DIGITAL]
    assert customer.page.one(id=f"delivery-{digital}-price").text == "Not available"
    await customer.send(CUSTOMIZATION, {"delivery": str(digital)}, ("do", "continue"))
    assert customer.errors == ["This delivery is not available for your order. Choose another one."]


async def test_the_only_delivery_is_chosen_already(shop: Shop, customer: Customer) -> None:
    async with shop.services.db.sessions() as db, db.begin():
        for kind in (HOME, DeliveryKind.DIGITAL):
            mode = await db.get(DeliveryModeRow, shop.modes[kind])
            assert mode is not None
            mode.is_active = False
    candle = await shop.product("20.00")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert form_fields(customer)["delivery"] == str(shop.modes[COLLECT])


async def test_home_delivery_is_priced_by_country(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    home = str(shop.modes[HOME])
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert customer.page.one(id=f"delivery-{home}-price").text == "€5.00 for France"
    assert form_fields(customer)["country"] == "FR"
    assert [o.attributes["value"] for o in customer.page.one(id="country").all("option")] == ["", "BE", "FR"]
    await customer.send(CUSTOMIZATION, {"delivery": home, "country": "BE"}, ("do", "update"))
    assert customer.page.one(id=f"delivery-{home}-price").text == "€12.00 for Belgium"
    assert form_fields(customer)["country"] == "BE"
    assert customer.page.one(data_live="total").text == "€32.00"


async def test_what_can_be_put_right_is_asked_for_before_it_is_left_out(shop: Shop, customer: Customer) -> None:
    candle, (robe, size) = await shop.product("20.00"), await sized(shop)
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1), CartItem(robe.id, 1))
    collect = {"delivery": str(shop.modes[COLLECT])}
    await customer.send(CUSTOMIZATION, collect, ("do", "continue"))
    assert customer.errors == ["Robe: Choose among the options of this product."]
    await customer.send(CUSTOMIZATION, None, ("do", "anyway"))
    assert customer.step == "information"
    assert "Robe" not in customer.page.text
    await customer.open(f"{CUSTOMIZATION}?cart={cart_id}")
    await customer.send(CUSTOMIZATION, {f"line-1-attribute-{size.id}": "m"}, ("do", "continue"))
    assert customer.step == "information"
    assert "Robe" in customer.page.text


@pytest.mark.parametrize("typed", ["", "-1", "2.5", "many", "99999", "1e3", "٣"])
async def test_a_quantity_that_is_none_is_shown_again(shop: Shop, customer: Customer, typed: str) -> None:
    candle, soap = await shop.product("20.00"), await shop.product("5.00", name=Text(en="Soap"))
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1), CartItem(soap.id, 1))
    await customer.send(CUSTOMIZATION, {"line-0-quantity": typed, "line-1-quantity": "5"}, ("do", "continue"))
    assert customer.errors == ["Enter a quantity from 0 to 9999."]
    assert form_fields(customer)["line-0-quantity"] == typed
    assert form_fields(customer)["line-1-quantity"] == "5"
    assert customer.page.one("input", id="line-0-quantity").attributes["aria-invalid"] == "true"
    await customer.open(f"{CUSTOMIZATION}?cart={cart_id}")
    assert [form_fields(customer)[f"line-{i}-quantity"] for i in (0, 1)] == ["1", "1"], "nothing of it was kept"


async def test_a_preview_tells_the_price_and_keeps_nothing(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00", stock=5)
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1))
    form = customer.form(CUSTOMIZATION)
    fields = form_fields(customer) | {"line-0-quantity": "4", "delivery": str(shop.modes[COLLECT])}
    await customer.post(form.attributes["data-preview"], fields)
    assert customer.response.status_code == 200
    assert customer.page.one(data_live="total").text == "€80.00"
    assert customer.page.one(data_live="said").text == "Total: €80.00"
    assert not customer.page.all("header"), "only the piece that changes"
    await customer.post(form.attributes["data-preview"], fields | {"line-0-quantity": "9"})
    assert customer.page.one(id="line-0-problem").text == "Only 5 left: choose a smaller quantity."
    await customer.open(f"{CUSTOMIZATION}?cart={cart_id}")
    assert customer.page.one(data_live="total").text == "€20.00"


async def test_a_form_of_nonsense_is_no_error(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    token = form_fields(customer)["csrf"]
    nonsense = {
        "csrf": token,
        "line-0-product": "1; DROP TABLE",
        "line-7-product": str(2**40),
        "line-3-product": str(candle.id),
        "line-3-quantity": "2",
        "line-3-variant": "x",
        "line-3-attribute-99999999999999": "y",
        "line-3-attribute-5": "z" * 5000,
        "delivery": "none",
        "country": "Nowhere",
        "do": "remove-12345",
    }
    await customer.post(customer.path, nonsense)
    assert customer.response.status_code == 200
    assert form_fields(customer)["line-0-product"] == str(candle.id)
    assert "line-1-product" not in form_fields(customer)


async def test_more_than_a_cart_holds_is_refused(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart_id = await open_first_step(shop, customer, CartItem(candle.id, 1))
    many = {f"line-{n}-product": str(candle.id) for n in range(201)} | {f"line-{n}-quantity": "1" for n in range(201)}
    await customer.send(CUSTOMIZATION, many, ("do", "continue"))
    assert customer.errors == ["There is no room for more. Remove something first."]
    await customer.open(f"{CUSTOMIZATION}?cart={cart_id}")
    assert "line-1-product" not in form_fields(customer)


async def test_too_much_typed_is_told_but_not_kept(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    await customer.send(CUSTOMIZATION, {"line-0-quantity": "x", "padding": "y" * 100_000}, ("do", "continue"))
    assert customer.errors == ["Enter a quantity from 0 to 9999."]
    assert form_fields(customer)["line-0-quantity"] == "1"


# ---- who buys ----------------------------------------------------------------------------------------------------------


async def at_information(shop: Shop, customer: Customer, delivery: DeliveryKind, country: str = "") -> str:
    """A customer at the second step; answers the cart."""
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.choose(cart.id, shop.modes[delivery], country)
    assert customer.step == "information"
    return str(cart.id)


async def test_an_address_is_asked_for_home_delivery_only(shop: Shop, customer: Customer) -> None:
    await at_information(shop, customer, COLLECT)
    assert not customer.page.all(id="city")
    await at_information(shop, customer, HOME, "BE")
    assert customer.page.all(id="city")
    form = customer.form("/ecommerce/shop/information/")
    assert fields_of(form, customer.page)["country"] == "BE"


async def test_every_mistake_is_told_at_its_field(shop: Shop, customer: Customer) -> None:
    await at_information(shop, customer, HOME, "FR")
    typed = {
        "email": "ada@",
        "phone": "call me",
        "city": "",
        "message": "Line one\r\n<b>two</b>",
        "first_name": "x" * 90,
    }
    await customer.identify(**typed)
    assert customer.step == "information"
    assert customer.errors == [
        "Use at most 80 characters.",
        "Enter an e-mail address like name@example.com.",
        "Enter a phone number like +33 6 12 34 56 78.",
        "Enter a town or city.",
    ]
    fields = fields_of(customer.form("/ecommerce/shop/information/"), customer.page)
    assert fields["email"] == "ada@"
    assert fields["message"] == typed["message"], "what was typed is not lost"
    for link in customer.page.one(id="errors").all("a"):
        field = customer.page.one(id=link.attributes["href"].removeprefix("#"))
        assert field.attributes["aria-invalid"] == "true"
        wrong = field.attributes["aria-describedby"].split()[-1]
        assert customer.page.one(id=wrong).text == link.text
    assert await shop.count("checkout_attempt") == 0


async def test_a_country_that_is_not_served_is_refused(shop: Shop, customer: Customer) -> None:
    await at_information(shop, customer, HOME, "FR")
    await customer.identify(country="JP")
    assert customer.errors == ["This delivery does not go to this country. Choose another country or another delivery."]


async def test_the_address_survives_a_change_of_delivery(shop: Shop, customer: Customer) -> None:
    cart_id = await at_information(shop, customer, HOME, "FR")
    await customer.identify(city="Lyon")
    assert customer.step == "payment"
    assert "Lyon" in customer.page.text
    await customer.choose(cart_id, shop.modes[COLLECT])
    await customer.identify(first_name="Grace")
    assert customer.step == "payment"
    assert "Lyon" not in customer.page.text
    await customer.choose(cart_id, shop.modes[HOME], "FR")
    fields = fields_of(customer.form("/ecommerce/shop/information/"), customer.page)
    assert (fields["city"], fields["first_name"]) == ("Lyon", "Grace")


async def test_the_price_of_delivery_follows_the_address(shop: Shop, customer: Customer) -> None:
    await at_information(shop, customer, HOME, "FR")
    await customer.identify(country="BE", postal_code="1000")
    assert customer.step == "payment"
    assert customer.amounts["Delivery"] == "€12.00"
    assert Decimal(customer.page.one("input", name="total").attributes["value"]) == Decimal("32.00")


@pytest.mark.parametrize(("typed", "country", "example"), [("7501", "FR", "75001"), ("75011", "BE", "1000")])
async def test_a_postal_code_of_no_place_is_told_with_an_example(
    shop: Shop, customer: Customer, typed: str, country: str, example: str
) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.choose(cart.id, shop.modes[HOME], country)
    await customer.identify(postal_code=typed, country=country)
    assert customer.errors == [f"Enter a postal code of this country, like {example}."]
    assert customer.page.one(id="postal_code-wrong").text == customer.errors[0]
    await customer.identify(postal_code=example, country=country)
    assert customer.step == "payment"
