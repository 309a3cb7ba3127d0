"""Carts of a partner that does not sell: nothing new is handed over, and what was handed over can be read."""

import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from resolvers.core.services import Services
from schema.partner.partner import PartnerStatus
from store.core.settings.provider import ProviderName
from tests.fixtures.tenants import Tenants
from tests.transports import Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stored = Callable[[], Awaitable[Any]]
ITEM, PLAIN = {"product_id": 7, "quantity": 2}, {"product_id": 8, "quantity": 0}


@contextlib.asynccontextmanager
async def partner_that_is(tenants: Tenants, status: PartnerStatus) -> AsyncIterator[None]:
    """The first partner in another status."""

    async def put(new_status: PartnerStatus) -> None:
        partner = tenants.partners["a1"].id
        await tenants.execute("UPDATE partner SET status = :status WHERE id = :id", status=new_status.value, id=partner)
        tenants.services.authenticator.invalidate(partner_id=partner)

    await put(status)
    try:
        yield
    finally:
        await put(PartnerStatus.ACTIVE)


@contextlib.contextmanager
def taking_real_money(services: Services) -> Iterator[None]:
    """An installation whose provider is not the sandbox."""
    settings = services.settings
    before, settings.provider = settings.provider, ProviderName.MANGOPAY
    try:
        yield
    finally:
        settings.provider = before


@pytest.mark.parametrize("status", [PartnerStatus.INACTIVE, PartnerStatus.NEW])
async def test_a_partner_that_does_not_sell_hands_no_cart_over(
    transport: Transport, tenants: Tenants, stored: Stored, status: PartnerStatus
) -> None:
    cart = (await transport.save_cart("a1", {"items": [ITEM]})).result
    key = str(uuid.uuid4())
    first = await transport.save_cart("a1", {"items": [PLAIN]}, key)
    assert first.done
    async with partner_that_is(tenants, status):
        before = await stored()
        for sent in ({"items": [ITEM]}, {"id": cart["id"], "items": []}):
            for new in (None, str(uuid.uuid4())):
                answer = await transport.save_cart("a1", sent, new)
                assert (answer.status, answer.code) == (409, "PARTNER_INACTIVE")
                assert "does not allow sales" in answer.message
        bad = await transport.save_cart("a1", {"id": str(uuid.uuid4()), "items": []})
        assert (bad.status, bad.fields) == (400, {"id"}), "fields are refused before the state of things"
        assert await stored() == before
        assert (await transport.read_cart("a1", cart["id"])).result == cart, "what was handed over can still be read"
        again = await transport.save_cart("a1", {"items": [PLAIN]}, key)
        assert (again.result, again.replayed) == (first.result, True), "a key answers what it answered first"
        assert (await transport.save_cart("a2", {"items": [ITEM]})).done, "another partner sells"
    assert (await transport.save_cart("a1", {"id": cart["id"], "items": []})).done


async def test_a_test_partner_hands_carts_over_to_the_sandbox_only(transport: Transport, tenants: Tenants) -> None:
    async with partner_that_is(tenants, PartnerStatus.TEST):
        assert (await transport.save_cart("a1", {"items": [ITEM]})).done
        with taking_real_money(tenants.services):
            refused = await transport.save_cart("a1", {"items": [ITEM]})
    assert (refused.status, refused.code) == (409, "PARTNER_INACTIVE")
