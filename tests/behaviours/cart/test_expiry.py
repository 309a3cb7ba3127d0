"""A cart that was handed over either way is told of when it expires, in the words of its last writing."""

import datetime as dt
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.cart.expiry import emit_expired_carts
from store.core.clock import clock
from tests.fixtures.tenants import Tenants
from tests.transports import Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

DUE = dt.timedelta(hours=2, minutes=1, seconds=1)
ITEM = {"product_id": 7, "quantity": 2, "variant_id": 3, "attribute_values": {"5": "red"}}


async def cart_events(tenants: Tenants, cart_id: str) -> list[tuple[int, dict[str, Any]]]:
    """The partner and the data of the events that tell of a cart."""
    query = text("SELECT partner_id, data FROM event WHERE type = 'cart.expired' AND subject = :id ORDER BY id")
    return [(row[0], row[1]) for row in await tenants.services.db.rows(query, {"id": cart_id})]


@pytest.mark.parametrize("key", [None, "with a key"])
async def test_a_cart_that_expires_is_told(transport: Transport, tenants: Tenants, key: str | None) -> None:
    named = key and f"{transport.name} {key}"
    cart = {"items": [ITEM], "return_url": "https://shop.example/"}
    created = (await transport.save_cart("a1", cart, named)).result
    assert (await transport.save_cart("a1", cart, named)).replayed is (key is not None)
    clock.advance(dt.timedelta(hours=1))
    replaced = (await transport.save_cart("a1", {"id": created["id"], "items": [{**ITEM, "quantity": 5}]})).result
    clock.advance(dt.timedelta(hours=1, minutes=30))
    await emit_expired_carts(tenants.services)
    assert await cart_events(tenants, created["id"]) == []
    clock.advance(DUE - dt.timedelta(hours=1, minutes=30))
    for _ in range(2):
        await emit_expired_carts(tenants.services)
    ((partner_id, data),) = await cart_events(tenants, created["id"])
    assert partner_id == tenants.partners["a1"].id
    assert data["last_modified"] == replaced["last_modified"]
    assert data["items"] == [{"product_id": 7, "variant_id": 3, "quantity": 5}]
    assert data["return_url"] is None
    assert (await transport.read_cart("a1", created["id"])).status == 404


async def test_a_refused_cart_is_never_told(transport: Transport, tenants: Tenants) -> None:
    before = await tenants.services.db.rows(text("SELECT count(*) FROM event"))
    cart = (await transport.save_cart("a1", {"items": [ITEM]})).result
    assert not (await transport.save_cart("a2", {"id": cart["id"], "items": [ITEM]})).done
    assert not (await transport.save_cart("a1", {"items": [{**ITEM, "quantity": -1}]})).done
    clock.advance(DUE)
    await emit_expired_carts(tenants.services)
    ((partner_id, _),) = await cart_events(tenants, cart["id"])
    assert partner_id == tenants.partners["a1"].id
    assert (await tenants.services.db.rows(text("SELECT count(*) FROM event")))[0][0] == before[0][0] + 1
