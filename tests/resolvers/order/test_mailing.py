"""Mail about an order that its buyer asks for: to the buyer only, and once in a while."""

import asyncio

import pytest

from resolvers.order.mailing import request_order_link, resend_order_link
from schema.checkout.checkout import ProductChoice
from schema.core.errors import NotFound
from store.order.links import order_path
from tests.fixtures.shop import BUYER, Shop
from tests.resolvers.order.test_orders import order_of


async def links(shop: Shop) -> int:
    return int(await shop.one("SELECT count(*) FROM mail WHERE kind = 'order_link'"))


async def test_a_link_goes_to_the_buyer_once(shop: Shop) -> None:
    await order_of(shop, ProductChoice((await shop.product()).id, 1))
    await asyncio.gather(*(request_order_link(shop.context, BUYER.email.upper(), 1) for _ in range(10)))
    assert await links(shop) == 1


@pytest.mark.parametrize(("email", "number"), [("eve@example.com", 1), (BUYER.email, 2), ("", 1), ("%", 1)])
async def test_a_guess_finds_nothing(shop: Shop, email: str, number: int) -> None:
    await order_of(shop, ProductChoice((await shop.product()).id, 1))
    await request_order_link(shop.context, email, number)
    assert await links(shop) == 0


async def test_the_page_sends_its_own_link(shop: Shop) -> None:
    await order_of(shop, ProductChoice((await shop.product()).id, 1))
    token = order_path(shop.services.settings, await shop.one("SELECT uuid FROM shop_order")).split("/")[2]
    await asyncio.gather(*(resend_order_link(shop.context, token) for _ in range(10)))
    assert await links(shop) == 1
    with pytest.raises(NotFound):
        await resend_order_link(shop.context, token[:-1])
