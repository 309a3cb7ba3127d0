"""The shop of a network: its window, the forms of boxes and gift cards, and the carts that API clients hand over."""

import datetime as dt
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from funnel.core.languages import translations
from schema.checkout.basket import BoxChoice, NetworkGiftCardChoice
from schema.validation.languages import LANGUAGES
from store.cart.multi_product_carts import MultiProductContent
from store.core.settings import Settings
from store.core.settings.provider import SANDBOX_PLATFORM_USER
from tests.fixtures.network_sale import NetworkGoods, network_coupon, network_goods, new_box
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import ANOTHER, PERSONAL, UPDATE, filled, identified, line, total, wrong
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_gift_card_offers import links
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.servers.production import production_settings

WINDOW, PARTNERS_WINDOW = "/network/shop/", "/vouchers/shop/"
FORM = f"{WINDOW}customization/?"
PRINT = {"reception": "print_at_home"}
BY_MAIL = {"reception": "giftee_email", "giftee-email": "marie@example.com"}
MARIE = {"giftee-name": "Marie Curie", "giftee-email": "marie@example.com"}


@pytest.fixture
def installation() -> Settings:
    """In production, with the platform's own user at the provider."""
    return production_settings().model_copy(update={"mangopay_platform_user_id": SANDBOX_PLATFORM_USER})


@pytest_asyncio.fixture
async def goods(shop: Shop) -> NetworkGoods:
    """What the network sells in its own shop."""
    return await network_goods(shop)


async def open_box(customer: Customer, goods: NetworkGoods) -> Customer:
    return await customer.open(f"{WINDOW}customization/?box={goods.box.id}")


async def open_card(customer: Customer, goods: NetworkGoods) -> Customer:
    return await customer.open(f"{WINDOW}customization/?design={goods.design.id}")


async def saved_cart(goods: NetworkGoods, *choices: NetworkGiftCardChoice | BoxChoice) -> UUID:
    """A cart that an API client has created; answers its id."""
    content = MultiProductContent(
        tuple(each for each in choices if isinstance(each, NetworkGiftCardChoice)),
        tuple(each for each in choices if isinstance(each, BoxChoice)),
    )
    shop = goods.shop
    return (await shop.services.multi_product_carts.create(shop.partner.id, content)).id


async def test_the_window_shows_what_is_sold(shop: Shop, customer: Customer, goods: NetworkGoods) -> None:
    hidden = await new_box(shop, is_active=False)
    await customer.open(WINDOW)
    assert customer.h1 == "One gift, many places"
    cards = {card.one("h3").text: card.one("p", class_="price").text for card in customer.page.all("li", class_="card")}
    assert cards == {"Spa day for two": "€120.00", "Birthday": "from €10"}
    shown = {link.attributes["href"] for link in customer.page.all("a")}
    assert f"{WINDOW}customization/?box={goods.box.id}" in shown
    assert f"{WINDOW}customization/?design={goods.design.id}" in shown
    assert not any(f"box={hidden.id}" in address for address in shown)
    check_headers(customer)
    check_headings(customer.page)
    check_controls(customer.page)


async def test_the_window_speaks_every_language(visitors: Callable[[], Customer], goods: NetworkGoods) -> None:
    assert goods
    for language in LANGUAGES:
        said = await visitors().open(WINDOW, **{"Accept-Language": language})
        assert said.h1 == translations(language).gettext("One gift, many places")


async def test_the_networks_own_shop_begins_at_its_window(shop: Shop, customer: Customer, goods: NetworkGoods) -> None:
    assert goods
    await customer.open("/")
    assert customer.path == f"{WINDOW}?lang=en"
    await shop.execute("UPDATE partner SET is_network_shop = false, website = '' WHERE id = :id", id=shop.partner.id)
    await customer.open("/")
    assert customer.path.startswith("/shop/customization/?new=1&cart="), "what it sells"
    await shop.execute("UPDATE partner SET is_network_shop = true WHERE id = :id", id=shop.partner.id)
    await customer.open("/nothing/")
    assert (customer.response.status_code, WINDOW in links(customer)) == (404, True)


async def test_boxes_and_gift_cards_in_one_basket(customer: Customer, goods: NetworkGoods) -> None:
    await open_box(customer, goods)
    assert (customer.h1, total(customer)) == ("Spa day for two", "€120.00")
    await customer.send(FORM, None, ("do", "more-quantity"))
    assert (total(customer), line(customer)) == ("€240.00", {"Spa day for two × 2 at 1 place": "€240.00"})
    day = (goods.shop.services.clock.now() + dt.timedelta(days=30)).date()
    await filled(customer, FORM, {**MARIE, **PRINT, "quantity": "2", "send_on": day.isoformat()}, ANOTHER)
    assert customer.path.startswith(WINDOW)
    assert customer.page.one("a", class_="in-basket").text == "Your order: 2 gifts"
    designs = [link for link in customer.page.all("a") if f"design={goods.design.id}" in link.attributes["href"]]
    await customer.open(designs[0].attributes["href"])
    assert customer.h1 == "Give a gift card"
    await filled(customer, FORM, {"value": "other", "other": "75,50", "quantity": "3", "for": "self"})
    assert customer.step == "information", customer.errors
    lines = {each.one("p", class_="name").text for each in customer.page.all("ul", class_="small-lines")[0].all("li")}
    assert lines == {"Spa day for two × 2", "Gift card · Birthday × 3"}
    await identified(customer, WINDOW)
    assert customer.step == "payment"
    assert customer.amounts["Total"] == "€466.50"


@pytest.mark.parametrize(
    ("fields", "place", "said"),
    [
        ({"quantity": "0"}, "quantity", "Choose from 1 to 100."),
        ({"quantity": "101"}, "quantity", "Choose from 1 to 100."),
        ({"quantity": "many"}, "quantity", "Enter a whole number."),
        ({**BY_MAIL, "send_on": "2020-01-01"}, "send_on", "Choose a day from today on, within a year."),
        ({**BY_MAIL, "send_on": "9999-12-31"}, "send_on", "Choose a day from today on, within a year."),
        ({**BY_MAIL, "send_on": "tomorrow"}, "send_on", "Choose a day."),
        ({**BY_MAIL, "giftee-email": "nobody"}, "giftee-email", "Enter an e-mail address like name@example.com."),
        ({"value": "other", "other": "2"}, "value", "Choose a value from €10.00 to €1,000.00."),
        ({"value": "other", "other": "much"}, "other", "Enter an amount like 50 or 49.90."),
        ({"design": "4711"}, "design", "This is no longer offered. Choose again."),
    ],
)
async def test_what_is_wrong_is_said_at_its_field(
    customer: Customer, goods: NetworkGoods, fields: dict[str, str], place: str, said: str
) -> None:
    await open_card(customer, goods)
    await filled(customer, FORM, {**PRINT, **fields})
    assert (customer.step, customer.errors) == ("customization", [said])
    assert wrong(customer, place) == said
    await customer.open(WINDOW)
    is_kept = place in PERSONAL or place.startswith("giftee")
    assert bool(customer.page.all("a", class_="in-basket")) is is_kept, "what is chosen rightly is kept, nothing else"


async def test_a_preview_keeps_nothing(customer: Customer, goods: NetworkGoods) -> None:
    await open_card(customer, goods)
    form = customer.form(FORM)
    typed = {"csrf": form.one("input", name="csrf").attributes["value"], "line": str(uuid4()), "value": "100.00"}
    await customer.post(form.attributes["data-preview"], {**typed, "quantity": "4", "design": str(goods.design.id)})
    assert total(customer) == "€400.00"
    await customer.open(WINDOW)
    assert not customer.page.all("a", class_="in-basket")


async def test_a_cart_of_an_api_client_opens_as_a_basket(
    customer: Customer, visitors: Callable[[], Customer], goods: NetworkGoods
) -> None:
    id = await saved_cart(goods, goods.cards("50.00", 2), goods.boxes(1))
    await customer.open(f"{WINDOW}customization/?cart={id}")
    assert line(customer) == {"Gift card · Birthday × 2": "€100.00", "Spa day for two at 1 place": "€120.00"}
    remove = next(
        button for button in customer.page.all("button") if button.attributes.get("value", "").startswith("remove-")
    )
    await customer.send(FORM, None, ("do", remove.attributes["value"]))
    assert line(customer) == {"Spa day for two at 1 place": "€120.00"}
    other = await visitors().open(f"{WINDOW}customization/?cart={id}")
    assert total(other) == "€220.00", "another browser begins with the cart"
    goods.shop.services.clock.advance(dt.timedelta(hours=2, minutes=1))
    await customer.open(f"{WINDOW}customization/?cart={id}")
    assert line(customer) == {"Spa day for two at 1 place": "€120.00"}, "a basket that was begun is kept"
    late = await visitors().open(f"{WINDOW}customization/?cart={id}")
    assert late.h1 == "Your order is empty"


async def test_a_cart_of_another_kind_or_shop_is_none(shop: Shop, customer: Customer, goods: NetworkGoods) -> None:
    id = (await shop.services.multi_product_carts.create(4711, MultiProductContent((), (goods.boxes(1),)))).id
    await customer.open(f"{WINDOW}customization/?cart={id}")
    assert customer.h1 == "Your order is empty"
    own = await saved_cart(goods, goods.boxes(1))
    await customer.open(f"{PARTNERS_WINDOW}customization/?cart={own}")
    assert customer.h1 == "Your order is empty"
    await customer.open(f"/ecommerce/shop/customization/?cart={own}")
    assert customer.response.status_code == 404


async def test_what_is_taken_off_sale_must_leave_the_basket(
    shop: Shop, customer: Customer, goods: NetworkGoods
) -> None:
    id = await saved_cart(goods, goods.cards(), goods.boxes())
    await shop.execute("UPDATE box SET is_active = false WHERE id = :id", id=goods.box.id)
    await customer.open(f"{WINDOW}customization/?cart={id}")
    await filled(customer, FORM, PRINT)
    assert customer.step == "customization"
    assert "This is no longer on sale. Remove it to continue." in customer.page.one("form", id="choices").text
    await open_box(customer, goods)
    assert customer.response.status_code == 404


async def test_a_partner_that_sells_nothing_of_a_network(shop: Shop, customer: Customer) -> None:
    for path in ("", "customization/", f"customization/?cart={uuid4()}", "customization/?box=1"):
        await customer.open(f"{WINDOW}{path}")
        assert customer.response.status_code == 404, path
    assert shop


async def test_coupons_are_those_of_the_networks_own_shop(shop: Shop, customer: Customer) -> None:
    goods = await network_goods(shop)
    coupon = await network_coupon(shop)
    await open_box(customer, goods)
    await filled(customer, FORM, PRINT)
    await identified(customer, WINDOW)
    await customer.send(f"{WINDOW}payment/codes/", {"code": coupon.code})
    assert customer.amounts["Total"] == "€108.00"
    await shop.execute("UPDATE partner SET is_network_shop = false WHERE id = :id", id=shop.partner.id)
    await customer.open(customer.path)
    assert customer.amounts["Total"] == "€120.00"
    assert not customer.page.all("section", class_="codes")


async def test_a_price_without_scripts(customer: Customer, goods: NetworkGoods) -> None:
    await open_card(customer, goods)
    await customer.send(FORM, {"value": "other", "other": "20", "quantity": "5"}, UPDATE)
    assert total(customer) == "€100.00"
    check_controls(customer.page)
    check_headings(customer.page)
