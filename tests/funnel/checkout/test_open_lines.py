"""Lines that something is still to be chosen for: what is known of their price, what can be pressed, how it is delivered."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import pytest

from schema.cart.cart import CartItem
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from store.core.localization.formats import Formats
from store.delivery import DeliveryRateRow
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import FORM, GIFT_CARDS
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.checkout.test_payment import at_payment
from tests.funnel.checkout.test_steps import CUSTOMIZATION, open_first_step, sized

HOME, COLLECT, DIGITAL = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.DIGITAL
PAID_FOR = "Somebody else is paying for it right now. It may be free again in a few minutes."
CONTINUE, UPDATE = ("do", "continue"), ("do", "update")
Visitors = Callable[[], Customer]


def amounts(customer: Customer) -> tuple[str, str]:
    """What the first line costs, and what it all comes to."""
    return customer.page.one(data_live="amount-0").text, customer.page.one(data_live="total").text


def onward(customer: Customer) -> list[str]:
    """What the buttons say that lead on."""
    form = customer.form(CUSTOMIZATION)
    return [button.text for button in form.all("button") if button.attributes.get("value") == "continue"]


def radio(customer: Customer, id: str) -> dict[str, str]:
    """What a way of delivery is."""
    return customer.page.one("input", id=id).attributes


def is_hidden(customer: Customer, mode: int) -> bool:
    """Whether a way of delivery is not shown."""
    return "hidden" in customer.page.one(id=f"delivery-{mode}-choice").attributes


@pytest.mark.parametrize("kind", ["attribute", "stock", "version"])
async def test_what_is_known_is_priced_and_nothing_leads_on_over_it(shop: Shop, customer: Customer, kind: str) -> None:
    if kind == "attribute":
        product, _ = await sized(shop)
        line, total = "€178.00 €89.00 each", "€178.00"
    elif kind == "stock":
        product = await shop.product("89.00", stock=1)
        line, total = "€178.00 €89.00 each", "€178.00"
    else:
        product = await shop.product("1.00")
        for price in ("89.00", "99.00"):
            await shop.variant(product, price)
        line, total = "from €178.00 €89.00 each", "from €178.00"
    await open_first_step(shop, customer, CartItem(product.id, 2))
    assert amounts(customer) == (line, total)
    assert customer.amounts["Total"] == customer.amounts["Products"] == total
    assert onward(customer) == ["Check your choice"] * 2
    check_headings(customer.page)
    check_controls(customer.page)
    email = radio(customer, f"delivery-{shop.modes[DIGITAL]}")
    assert ("disabled" in email, "checked" in email) == (True, False)
    assert is_hidden(customer, shop.modes[DIGITAL]), "goods are not offered by e-mail"
    assert not is_hidden(customer, shop.modes[COLLECT])
    collect = {"delivery": str(shop.modes[COLLECT])}
    await customer.send(CUSTOMIZATION, collect, CONTINUE)
    assert customer.step == "customization"
    box = customer.page.one(id="errors")
    assert "autofocus" in box.attributes
    (link,) = box.all("a")
    assert link.attributes["href"] == "#line-0"
    problem = customer.page.one(id="line-0-problem").text
    assert problem in link.text
    wrong = [e for name in ("select", "input") for e in customer.page.all(name) if "aria-invalid" in e.attributes]
    assert [e.attributes["aria-describedby"] for e in wrong] == ["line-0-problem"]


async def test_once_it_is_chosen_it_leads_on(shop: Shop, customer: Customer) -> None:
    robe, size = await sized(shop)
    await open_first_step(shop, customer, CartItem(robe.id, 1))
    chosen = {f"line-0-attribute-{size.id}": "m", "delivery": str(shop.modes[COLLECT])}
    await customer.send(CUSTOMIZATION, chosen, UPDATE)
    assert (amounts(customer), onward(customer)) == (("€89.00", "€89.00"), ["Continue"] * 2)
    await customer.send(CUSTOMIZATION, None, CONTINUE)
    assert customer.step == "information"


async def test_versions_of_one_price_have_that_price(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("1.00")
    for _ in range(2):
        await shop.variant(candle, "15.00")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert amounts(customer) == ("€15.00", "€15.00")


async def test_what_can_be_ordered_without_it_comes_to_what_it_is(shop: Shop, customer: Customer) -> None:
    """The sum with all that is wanted stands on the first step; an order has what can be ordered."""
    candle, (robe, _) = await shop.product("20.00"), await sized(shop)
    await open_first_step(shop, customer, CartItem(candle.id, 1), CartItem(robe.id, 1))
    assert customer.page.one(data_live="total").text == "€109.00"
    collect = {"delivery": str(shop.modes[COLLECT])}
    await customer.send(CUSTOMIZATION, collect, CONTINUE)
    await customer.send(CUSTOMIZATION, None, ("do", "anyway"))
    assert (customer.step, customer.amounts["Total"]) == ("information", "€20.00")


async def test_nothing_that_is_sold_leads_nowhere(shop: Shop, customer: Customer) -> None:
    sold_out = await shop.product("20.00", stock=0)
    await open_first_step(shop, customer, CartItem(sold_out.id, 1))
    assert onward(customer) == ["Check your choice"] * 2
    assert "disabled" in radio(customer, f"delivery-{shop.modes[DIGITAL]}"), (
        "goods do not go by e-mail, sold out or not"
    )


# ---- deliveries --------------------------------------------------------------------------------------------------------


async def test_a_delivery_that_cannot_be_had_is_disabled_and_says_why(shop: Shop, customer: Customer) -> None:
    heavy = await shop.product("20.00", weight_grams=10)
    await shop.execute("DELETE FROM delivery_rate WHERE max_weight_grams IS NULL AND country = 'FR'")
    await shop.execute("UPDATE product SET weight_grams = 600")
    await open_first_step(shop, customer, CartItem(heavy.id, 1))
    home = f"delivery-{shop.modes[HOME]}"
    assert "disabled" not in radio(customer, home), "it is not known where it goes"
    await customer.send(CUSTOMIZATION, {"delivery": str(shop.modes[HOME]), "country": "FR"}, UPDATE)
    assert "checked" in radio(customer, home)
    await customer.send(CUSTOMIZATION, {"line-0-quantity": "2"}, UPDATE)
    there = radio(customer, home)
    assert ("disabled" in there, "checked" in there) == (True, False)
    assert (
        "Your order is too heavy for this delivery." in customer.page.one(id=there["aria-describedby"].split()[-1]).text
    )
    check_controls(customer.page)


async def test_a_delivery_that_suits_no_goods_is_shown_where_there_is_no_other(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    await shop.execute("UPDATE delivery_mode SET is_active = kind = 'digital'")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert not is_hidden(customer, shop.modes[DIGITAL])
    told = radio(customer, f"delivery-{shop.modes[DIGITAL]}")
    assert "disabled" in told
    reason = customer.page.one(id=told["aria-describedby"].split()[-1]).text
    assert reason == "Some of these products cannot be sent by e-mail."


async def test_what_is_free_for_the_country_of_the_shop_says_so_at_once(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    await shop.execute("UPDATE delivery_mode SET free_above_amount = 20 WHERE kind = 'home_delivery'")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert customer.page.one(id=f"delivery-{shop.modes[HOME]}-price").text == "Free for France"


async def test_a_country_that_nothing_goes_to_is_not_presumed(shop: Shop, customer: Customer) -> None:
    """It would disable a delivery that the customer can have."""
    candle = await shop.product("20.00")
    price = f"delivery-{shop.modes[HOME]}-price"
    await shop.execute("DELETE FROM delivery_rate WHERE country = 'FR'")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert customer.page.one(id=price).text == "€12.00 for Belgium", "the only country that it goes to"
    await shop.add(
        DeliveryRateRow(
            partner_id=shop.partner.id, delivery_mode_id=shop.modes[HOME], country="DE", price_amount=Decimal("9.00")
        )
    )
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    assert customer.page.one(id=price).text == "Depends on the country"
    assert "disabled" not in radio(customer, f"delivery-{shop.modes[HOME]}")


async def test_another_country_can_be_chosen_for_a_delivery_that_does_not_go_there(
    shop: Shop, customer: Customer
) -> None:
    """The country stands beside the delivery, so that one that is chosen stays; without scripts too."""
    candle = await shop.product("20.00")
    await open_first_step(shop, customer, CartItem(candle.id, 1))
    home = str(shop.modes[HOME])
    await customer.send(CUSTOMIZATION, {"delivery": home, "country": "JP"}, CONTINUE)
    assert customer.errors == ["This delivery is not available for your order. Choose another one."]
    assert "checked" in radio(customer, f"delivery-{home}")
    assert "Your order cannot be delivered to this country." in customer.page.one(id=f"delivery-{home}-more").text
    await customer.send(CUSTOMIZATION, {"delivery": str(shop.modes[COLLECT]), "country": "JP"}, UPDATE)
    assert "disabled" in radio(customer, f"delivery-{home}")
    await customer.send(CUSTOMIZATION, {"country": "FR"}, UPDATE)
    assert "disabled" not in radio(customer, f"delivery-{home}")
    await customer.send(CUSTOMIZATION, {"delivery": home}, CONTINUE)
    assert customer.step == "information"


async def test_a_way_to_receive_a_gift_card_is_disabled_too(shop: Shop, customer: Customer) -> None:
    home = shop.modes[HOME]
    await customer.open(GIFT_CARDS)
    await customer.send(FORM, {"value": "50.00"}, CONTINUE)
    await customer.send(FORM, {"reception": "print_at_home", "country": "JP"}, UPDATE)
    by_post = radio(customer, f"reception-expedition-{home}")
    assert "disabled" in by_post
    assert "cannot be delivered to this country" in customer.page.one(id=by_post["aria-describedby"].split()[-1]).text


# ---- the second step ---------------------------------------------------------------------------------------------------


async def test_the_second_step_shows_pictures_and_options(shop: Shop, customer: Customer) -> None:
    robe, size = await sized(shop)
    await shop.execute("UPDATE product SET picture_url = '/media/robe.webp'")
    large = await shop.variant(robe, "95.00")
    await open_first_step(shop, customer, CartItem(robe.id, 2, large.id, {size.id: "m"}))
    await customer.send(CUSTOMIZATION, {"delivery": str(shop.modes[COLLECT])}, CONTINUE)
    assert customer.step == "information"
    for lines in customer.page.all("ul", class_="small-lines"):
        assert lines.text == "Robe Quantity: 2 · Large · Size: M €190.00"
        assert lines.one("img").attributes["src"] == "/media/robe.webp"
    check_headings(customer.page)


# ---- held by the same cart ---------------------------------------------------------------------------------------------


async def test_what_another_device_of_the_same_cart_holds_is_not_sold_out(
    shop: Shop, customer: Customer, visitors: Visitors
) -> None:
    cart = await at_payment(shop, customer)
    await shop.execute("UPDATE product SET stock = 2")
    await customer.press_pay()
    ends: dt.datetime = await shop.one("SELECT link_expires_on + interval '20 minutes' FROM checkout_attempt")
    for language in LANGUAGES:
        phone = await visitors().open(f"{CUSTOMIZATION}?cart={cart.id}", **{"Accept-Language": language})
        told = phone.page.one(id="line-0-problem").text
        assert " ".join(Formats(language).time(ends, "Europe/Paris").split()) in told
    phone = await visitors().open(f"{CUSTOMIZATION}?cart={cart.id}")
    told = phone.page.one(id="line-0-problem").text
    assert told.startswith("It is held for a payment of this basket that was begun on another device, until ")
    assert "sold out" not in told
    other = visitors()
    await open_first_step(shop, other, CartItem(await shop.one("SELECT id FROM product"), 1))
    problem = other.page.one(id="line-0-problem")
    assert problem.text == f"{PAID_FOR} It is left out of your order until then. Try again"
    await shop.execute("UPDATE checkout_attempt SET state = 'failed', held = false")
    await shop.execute("UPDATE product SET stock = 2")
    await other.open(problem.one("a").attributes["href"])
    assert other.page.all(id="line-0-problem")[0].text == ""
    assert other.page.one(data_live="total").text == "€20.00"


async def test_what_is_held_by_others_but_not_enough_is_sold_out(
    shop: Shop, customer: Customer, visitors: Visitors
) -> None:
    await at_payment(shop, customer)
    await shop.execute("UPDATE product SET stock = 3")
    await customer.press_pay()
    product = await shop.one("SELECT id FROM product")
    for quantity, expected in ((4, "Only 1 left"), (3, f"{PAID_FOR} Try again Only 1 left"), (2, f"{PAID_FOR} Try")):
        other = visitors()
        await open_first_step(shop, other, CartItem(product, quantity))
        assert other.page.one(id="line-0-problem").text.startswith(expected)
    await shop.execute("UPDATE checkout_attempt SET state = 'failed', held = false")
    await shop.execute("UPDATE product SET stock = 0")
    other = visitors()
    await open_first_step(shop, other, CartItem(product, 1))
    assert other.page.one(id="line-0-problem").text == "This product is sold out. It is left out of your order."


async def test_what_is_left_beside_what_is_held_can_be_chosen(
    shop: Shop, customer: Customer, visitors: Visitors
) -> None:
    cart = await at_payment(shop, customer)
    await shop.execute("UPDATE product SET stock = 3")
    await customer.press_pay()
    phone = await visitors().open(f"{CUSTOMIZATION}?cart={cart.id}")
    told = phone.page.one(id="line-0-problem").text
    assert "It is held for a payment of this basket" in told
    assert told.endswith("Only 1 left: choose a smaller quantity.")
    await phone.send(CUSTOMIZATION, {"line-0-quantity": "1"}, UPDATE)
    assert phone.page.one(data_live="total").text == "€20.00"


async def test_a_book_to_download_goes_by_mail_whatever_was_sold_out(shop: Shop, customer: Customer) -> None:
    book = await shop.product("9.00", name=Text(en="Book"), is_physical=False)
    gone = await shop.product("20.00", stock=0)
    await open_first_step(shop, customer, CartItem(book.id, 1), CartItem(gone.id, 1))
    assert "disabled" not in radio(customer, f"delivery-{shop.modes[DIGITAL]}")
    assert Decimal(customer.page.one(data_live="total").text.removeprefix("€")) == Decimal("9.00")
