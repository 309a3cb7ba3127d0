"""The page of an order, as staff reach it: its address, and its link sent to the buyer."""

import asyncio
import datetime as dt

import pytest

from resolvers.order.mailing import SendOrderLink, send_order_link
from resolvers.order.page import find_order_page
from schema.checkout.checkout import ProductChoice, ShopKind
from schema.core.errors import NotFound
from schema.core.permission import Permission
from store.core.clock import clock
from store.order.links import order_path
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.order.test_orders import order_of

PAGE = "query ($id: Int!) { order(id: $id) { uuid pageUrl } }"
SEND = "mutation ($id: Int!) { sendOrderLink(input: {id: $id}) { order { id } userErrors { code } } }"
NEEDED = {
    ShopKind.PRODUCTS: [Permission.VIEW_ORDER],
    ShopKind.VOUCHERS: [Permission.VIEW_ORDER, Permission.VIEW_VOUCHER, Permission.UPDATE_VOUCHER],
    ShopKind.GIFT_CARDS: [Permission.VIEW_ORDER, Permission.VIEW_GIFT_CARD, Permission.MANAGE_GIFT_CARD],
}
NEEDED[ShopKind.MIXED] = [*NEEDED[ShopKind.VOUCHERS], *NEEDED[ShopKind.GIFT_CARDS][1:]]
NEEDED_OF_NETWORK = [
    Permission.VIEW_ORDER,
    Permission.USE_NETWORK_GIFT_CARD,
    Permission.VIEW_NETWORK_VOUCHER,
    Permission.MANAGE_NETWORK_VOUCHER,
]


async def sold_as(tenants: Tenants, kind: ShopKind) -> None:
    await tenants.execute("UPDATE shop_order SET kind = :kind", kind=kind.value)


@pytest.mark.parametrize("kind", NEEDED)
async def test_who_may_see_what_was_sold_gets_the_address(tenants: Tenants, kind: ShopKind) -> None:
    await sold_as(tenants, kind)
    order_id, of = tenants.owned["a1"].order, tenants.partners["a1"]
    await tenants.user("clerk", "partner", NEEDED[kind], partner_id=of.id)
    await tenants.user("cleaner", "partner", NEEDED[kind][:2], partner_id=of.id)
    seen = {
        who: (await tenants.graphql(who, PAGE, id=order_id))["data"]["order"]
        for who in ("a1", "clerk", "cleaner", "market a")
    }
    path = order_path(tenants.services.settings, seen["a1"]["uuid"])
    own = f"{tenants.services.settings.funnel_scheme}://{of.site_domain}{path}"
    assert (seen["a1"]["pageUrl"], seen["clerk"]["pageUrl"]) == (own, own)
    assert seen["market a"]["pageUrl"] == f"{tenants.services.settings.public_url}{path}"
    assert (seen["cleaner"]["pageUrl"] is None) is (kind is not ShopKind.PRODUCTS)
    assert (await tenants.graphql("b1", PAGE, id=order_id))["data"] == {"order": None}


async def test_a_partner_gets_no_address_of_what_is_the_networks(tenants: Tenants) -> None:
    await sold_as(tenants, ShopKind.NETWORK)
    for who, sees in {"a1": False, "market a": True, "master": True}.items():
        found = (await tenants.graphql(who, PAGE, id=tenants.owned["a1"].order))["data"]["order"]
        assert (found["pageUrl"] is not None) is sees, who
    needed = NEEDED_OF_NETWORK
    for missing in (None, *needed[1:]):
        name, granted = f"without {missing}", [permission for permission in needed if permission is not missing]
        at = tenants.partners["a1"].marketplace_id
        await tenants.user(name, "marketplace", granted, marketplace_id=at)
        found = (await tenants.graphql(name, PAGE, id=tenants.owned["a1"].order))["data"]["order"]
        assert (found["pageUrl"] is not None) is (missing is None), name


async def test_a_link_is_sent(tenants: Tenants) -> None:
    order_id = tenants.owned["a1"].order
    assert (await tenants.graphql("a1", SEND, id=order_id))["data"] == {
        "sendOrderLink": {"order": {"id": order_id}, "userErrors": []}
    }
    told = "SELECT json_agg(recipient) FROM mail WHERE kind = 'order_link'"
    assert await tenants.one(told) == ["buyer@a1.example"]
    audited = await tenants.one("SELECT count(*) FROM audit_entry WHERE operation = 'send_order_link'")
    assert audited == 1


@pytest.mark.parametrize("who", ["b1", "market b"])
async def test_nobody_elses_is_sent(tenants: Tenants, who: str) -> None:
    before = await tenants.one("SELECT count(*) FROM mail")
    body = await tenants.graphql(who, SEND, id=tenants.owned["a1"].order)
    assert [error["code"] for error in body["data"]["sendOrderLink"]["userErrors"]] == ["NOT_FOUND"]
    assert await tenants.one("SELECT count(*) FROM mail") == before


async def test_twenty_at_once_send_one(shop: Shop) -> None:
    made = await order_of(shop, ProductChoice((await shop.product()).id, 1))
    counted = "SELECT count(*) FROM mail WHERE kind = 'order_link'"
    before = await shop.one(counted)
    await asyncio.gather(*(send_order_link(shop.manager, SendOrderLink(id=made)) for _ in range(20)))
    assert await shop.one(counted) == before + 1
    clock.advance(dt.timedelta(minutes=16))
    await send_order_link(shop.manager, SendOrderLink(id=made))
    assert await shop.one(counted) == before + 2


async def test_a_page_tells_what_went_back(shop: Shop) -> None:
    made = await order_of(shop, ProductChoice((await shop.product()).id, 3))
    await shop.execute("UPDATE order_product SET refunded_quantity = 2, refunded_amount = 40")
    path = order_path(shop.services.settings, await shop.one("SELECT uuid FROM shop_order WHERE id = :id", id=made))
    page = await find_order_page(shop.context, path.split("/")[2])
    assert [(line.quantity, line.refunded_quantity) for line in page.lines] == [(3, 2)]
    assert (page.number, len(page.receipts), page.refunds) == (1, 1, ())
    with pytest.raises(NotFound):
        await find_order_page(shop.context, path.split("/")[2][:-2])
