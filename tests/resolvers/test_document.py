"""A voucher's document gets another address."""

import pytest

from resolvers import document
from resolvers.core.context import Context
from schema.core.errors import NotFound
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from store.document.addresses import DocumentKind
from tests.changes import Transport
from tests.fixtures.document import prototype, voucher
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants


async def token(tenants: Tenants, voucher_id: int) -> str:
    """What the address of a voucher's document is made of."""
    return str(await tenants.one("SELECT document_token FROM voucher WHERE id = :id", id=voucher_id))


async def sold(tenants: Tenants, partner: str) -> int:
    """A voucher of a partner; answers its id."""
    shop = Shop(tenants.services, None, tenants.partners[partner])  # type: ignore[arg-type]
    return (await voucher(shop, await prototype(shop))).id


@pytest.mark.parametrize("who", ["a1", "market a", "master"])
async def test_the_old_address_stops_working(tenants: Tenants, ask: Transport, who: str) -> None:
    voucher_id = await sold(tenants, "a1")
    other = await sold(tenants, "a1")
    before, others = await token(tenants, voucher_id), await token(tenants, other)
    kind, context = DocumentKind.VOUCHER, Context(tenants.services, address="192.0.2.1")
    shown = await document.find_document(context, kind, before)
    outcome = await ask.change(who, document.renew_voucher_document, id=voucher_id)
    assert outcome.done
    after = await token(tenants, voucher_id)
    assert after != before
    assert await token(tenants, other) == others
    with pytest.raises(NotFound):
        await document.find_document(context, kind, before)
    assert (await document.find_document(context, kind, after)).content == shown.content


@pytest.mark.parametrize("who", ["a2", "b1", "market b", "clerk", None])
async def test_nobody_else_renews_it(tenants: Tenants, ask: Transport, who: str | None) -> None:
    others = sorted(GRANTABLE_PERMISSIONS - {Permission.UPDATE_VOUCHER_PDF, Permission.MANAGE_MASTERADMIN})
    await tenants.user("clerk", "partner", others, partner_id=tenants.partners["a1"].id)
    voucher_id = await sold(tenants, "a1")
    before, was = await tenants.snapshot(), await token(tenants, voucher_id)
    assert not (await ask.change(who, document.renew_voucher_document, id=voucher_id)).done
    assert await tenants.snapshot() == before
    assert await token(tenants, voucher_id) == was


async def test_what_is_not_there_is_not_renewed(tenants: Tenants, ask: Transport) -> None:
    outcome = await ask.change("a1", document.renew_voucher_document, id=2**31 - 1)
    assert not outcome.done
