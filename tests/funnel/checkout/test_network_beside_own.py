"""What a partner sells of its network, in one order with what is its own, as a customer buys it."""

import pytest
import pytest_asyncio

from schema.cart.cart import CartItem
from store.core.settings import Settings
from store.core.settings.provider import SANDBOX_PLATFORM_USER
from tests.fixtures.basket import Experiences
from tests.fixtures.network_sale import NetworkGoods
from tests.fixtures.payment.mixed_order import mixed_shop
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import FORM, STEPS, chosen_massage, filled, identified, paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_carts_with_presents import GIFT, names
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.checkout.test_steps import CUSTOMIZATION, open_first_step
from tests.servers.production import production_settings

WINDOW = "/network/shop/"
PRINT = {"reception": "print_at_home"}


@pytest.fixture
def installation() -> Settings:
    """In production, with the platform's own user at the provider."""
    return production_settings().model_copy(update={"mangopay_platform_user_id": SANDBOX_PLATFORM_USER})


@pytest_asyncio.fixture
async def goods(shop: Shop) -> tuple[NetworkGoods, Experiences]:
    return await mixed_shop(shop)


async def begin(customer: Customer, what: str) -> Customer:
    """Follow the link of the window to this box or design."""
    await customer.open(WINDOW)
    (address,) = {link.attributes["href"] for link in customer.page.all("a") if what in link.attributes["href"]}
    return await customer.open(address)


async def test_experiences_gift_cards_and_boxes_are_one_order(
    shop: Shop, customer: Customer, goods: tuple[NetworkGoods, Experiences]
) -> None:
    network, own = goods
    await chosen_massage(customer, own)
    await begin(customer, f"box={network.box.id}")
    assert (customer.path.startswith(FORM), customer.h1) == (True, "Spa day for two")
    await filled(customer, FORM, PRINT)
    await begin(customer, f"design={network.design.id}")
    await filled(customer, FORM, {"value": "50.00", **PRINT})
    await customer.open(f"{STEPS}customization/")
    rows = customer.page.one("ul", class_="lines").all("li")
    assert [row.one("h3").text for row in rows] == ["Massage by the fire", "Spa day for two", "Gift card · Birthday"]
    check_headings(customer.page)
    check_controls(customer.page)
    await customer.open(rows[2].one("a").attributes["href"])
    await filled(customer, FORM, {"value": "60.00"})
    await identified(customer, STEPS)
    assert customer.step == "payment"
    assert customer.amounts["Total"] == "€270.00"
    await paid(shop, customer)
    assert customer.path.startswith("/orders/")
    counted = [await shop.count(table) for table in ("shop_order", "voucher", "gift_card", "network_voucher")]
    assert counted == [1, 1, 1, 1]
    assert await shop.one("SELECT partner_share_amount || ' of ' || card_amount FROM payment") == "90.00 of 270.00"


async def test_the_network_beside_goods(
    shop: Shop, customer: Customer, goods: tuple[NetworkGoods, Experiences]
) -> None:
    network, _ = goods
    cart_id = await open_first_step(shop, customer, CartItem((await shop.product("20.00")).id, 1))
    await begin(customer, f"box={network.box.id}")
    assert customer.path.startswith(GIFT)
    await filled(customer, GIFT, PRINT)
    assert (customer.path, names(customer)) == (f"{CUSTOMIZATION}?cart={cart_id}", ["Spa day for two"])
    assert customer.amounts["Items"] == "€140.00"


async def test_boxes_alone_are_an_order_of_the_network(
    shop: Shop, customer: Customer, goods: tuple[NetworkGoods, Experiences]
) -> None:
    network, _ = goods
    await begin(customer, f"box={network.box.id}")
    await filled(customer, FORM, PRINT)
    await identified(customer, STEPS)
    assert customer.page.all("input", id="code") == [], "coupons of a partner are not for what its network sells"
    await paid(shop, customer)
    assert await shop.one("SELECT kind FROM shop_order") == "network"
    assert await shop.one("SELECT partner_share_amount FROM payment") == 0
