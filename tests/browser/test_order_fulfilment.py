"""How far an order is, on its page: on a phone and a desktop, and the way to the carrier."""

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import GOOD_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]

URL = "https://carrier.example/parcels/6A12345678901"
MOVED = """
    UPDATE shop_order SET fulfilment_state = :state, fulfilment_ready_on = '2026-12-02T10:00Z',
        fulfilment_collected_on = '2026-12-03T10:00Z', fulfilment_sent_on = '2026-12-03T10:00Z',
        fulfilment_delivered_on = '2026-12-05T10:00Z', fulfilment_cancelled_on = '2026-12-03T10:00Z',
        fulfilment_carrier = 'Colissimo', fulfilment_tracking_number = '6A12345678901', fulfilment_tracking_url = :url
    WHERE cart_id = :cart RETURNING id
"""
TITLES = {
    DeliveryKind.CLICK_AND_COLLECT: {
        "to_prepare": "We are preparing your order",
        "ready_to_collect": "Your order is ready to collect",
        "collected": "Collected on 3 December 2026",
    },
    DeliveryKind.HOME_DELIVERY: {
        "sent": "Sent on 3 December 2026",
        "delivered": "Delivered on 5 December 2026",
        "cancelled": "Cancelled on 3 December 2026",
    },
}


@pytest.mark.parametrize("kind", TITLES)
async def test_the_page_tells_how_far_it_is(shop: RunningShop, new_customer: NewCustomer, kind: DeliveryKind) -> None:
    customer = await new_customer(390)
    soap = await shop.demo_product("Trio of garden soaps")
    cart = await shop.hand_over({"product_id": soap, "quantity": 2})
    await customer.come_to_pay(cart, kind)
    await customer.leave_to_pay()
    await customer.pay_by(GOOD_CARD)
    await customer.arrive("order")
    page, titles = customer.page, TITLES[kind]
    assert await customer.read_text("#fulfilment") == "We are preparing your order"
    for state, title in titles.items():
        assert len(await shop.rows(MOVED, state=state, url=URL, cart=cart["id"])) == 1
        await page.reload()
        assert await customer.read_text("#fulfilment") == title
        assert await page.locator(".steps-made [aria-current=step]").count() == 1
        await sound(page, f"order {state}")
        link = page.get_by_role("link", name="Track your parcel")
        assert await link.count() == (1 if state in {"sent", "delivered"} else 0)
        for each in await link.all():
            assert await each.get_attribute("href") == URL
            assert "noopener" in (await each.get_attribute("rel") or "")
