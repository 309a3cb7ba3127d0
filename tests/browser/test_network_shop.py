"""The shop of a network in a browser: by keyboard as far as the payment, and a handed-over cart on a phone without scripts."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.keyboard import Keyboard
from tests.browser.running_shop import RunningShop
from tests.fixtures.network_sale import NetworkGoods, network_goods
from tests.fixtures.shop import GOOD_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

BOX, DESIGN = "Stones and steam", "Harbour lights"
"""Names that nothing of the demo data has."""
SOLD = """
    SELECT p.name->>'en', count(*)::int, count(p.network_gift_card_id)::int, count(p.network_voucher_id)::int
    FROM order_product p JOIN shop_order o ON o.id = p.order_id WHERE o.kind = 'network' AND o.buyer_email = :email GROUP BY 1
"""


@pytest_asyncio.fixture(loop_scope="session")
async def goods(shop: RunningShop) -> AsyncIterator[NetworkGoods]:
    """What the network sells, for once in the first demo shop, while these tests run."""
    set_own = "UPDATE partner SET is_network_shop = :own WHERE id = :id RETURNING id"
    ((own,),) = await shop.rows("SELECT id FROM partner WHERE is_network_shop")
    await shop.rows(set_own, id=own, own=False)
    sold = await network_goods(shop)
    for table, row, name in (("box", sold.box, BOX), ("gift_card_design", sold.design, DESIGN)):
        named = f"UPDATE {table} SET name = CAST(:name AS jsonb) WHERE id = :id RETURNING id"  # noqa: S608
        await shop.rows(named, name=json.dumps({"en": name}), id=row.id)
    yield sold
    await shop.rows(set_own, id=shop.partner.id, own=False)
    await shop.rows(set_own, id=own, own=True)
    await shop.rows("UPDATE box SET is_active = false WHERE id = :id RETURNING id", id=sold.box.id)
    await shop.rows("UPDATE gift_card_design SET is_active = false WHERE id = :id RETURNING id", id=sold.design.id)


async def test_boxes_and_a_gift_card_by_keyboard(shop: RunningShop, customer: Customer, goods: NetworkGoods) -> None:
    page, keys = customer.page, Keyboard(customer)
    await page.goto(shop.home + "network/shop/")
    await sound(page, "network window")
    async with page.expect_navigation():
        await keys.press(page.get_by_role("link", name=BOX))
    await customer.arrive("customization")
    await sound(page, "box")
    await keys.press(page.get_by_role("button", name="One more"))
    await page.get_by_text("€240.00").first.wait_for()
    await customer.press(customer.button("continue"))
    await sound(page, "box, for whom")
    await page.fill("#giftee-name", "Marie")
    await page.check("#reception-print_at_home")
    await customer.press(customer.button("another"))
    async with page.expect_navigation():
        await keys.press(page.get_by_role("link", name=DESIGN))
    await sound(page, "network gift card")
    await page.check("#value-other")
    await page.fill("#other", "75")
    await customer.press(customer.button("continue"))
    await customer.go_on()
    await customer.give_details(email="network@example.com")
    await sound(page, "payment of network products")
    assert f"{BOX} × 2" in await customer.read_text(".small-lines")
    await customer.leave_to_pay()
    await customer.pay_by(GOOD_CARD)
    await customer.arrive("order")
    await sound(page, "summary of network products")
    sold = {name.partition(" ·")[0]: counts for name, *counts in await shop.rows(SOLD, email="network@example.com")}
    assert sold == {BOX: [2, 0, 2], "Gift card": [1, 1, 0]}
    assert goods


async def test_a_cart_that_was_handed_over_without_scripts(
    shop: RunningShop, new_customer: NewCustomer, goods: NetworkGoods
) -> None:
    body = {
        "partner_uuid": str(shop.partner.uuid),
        "data": {
            "network_giftcards": [{"amount": 50, "quantity": 2, "themed_pdf_id": goods.design.id}],
            "network_vouchers": [{"id": goods.box.id, "quantity": 1}],
        },
    }
    answer = await shop.http.post("/api/multi_product_cart/", json=body)
    assert answer.status_code == 201, answer.text
    customer = await new_customer(390, scripts=False)
    page = customer.page
    await page.goto(answer.links["checkout"]["url"])
    assert "€220.00" in await customer.read_text(".bar")
    await page.check("#reception-print_at_home")
    await customer.go_on()
    await customer.give_details(email="handed-over@example.com")
    await customer.leave_to_pay()
    await customer.pay_by(GOOD_CARD)
    await customer.arrive("order")
    sold = {name.partition(" ·")[0]: counts for name, *counts in await shop.rows(SOLD, email="handed-over@example.com")}
    assert sold == {BOX: [1, 0, 1], "Gift card": [2, 2, 0]}
    again = await new_customer()
    await again.page.goto(answer.links["checkout"]["url"])
    assert await again.h1() == "Your order is empty"
