"""The address of the page for holders: who sees it, and when there is one."""

import pytest

from resolvers.core.context import Context
from resolvers.network.holder import find_holder_page
from schema.core.errors import NotFound
from schema.network.holder import PartnerSearch
from tests.fixtures.network import link, network_card
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import Tenants

CARD = "query ($code: String!) { networkGiftCard(code: $code) { uuid holderUrl documentUrl } }"
VOUCHER = "query ($code: String!) { networkVoucher(code: $code) { uuid holderUrl documentUrl } }"
LISTS = "{ networkGiftCards { nodes { holderUrl } } networkVouchers { nodes { holderUrl } } }"


async def test_only_the_network_sees_the_address(tenants: Tenants) -> None:
    await link(tenants, "a1")
    card, voucher = await network_card(tenants), await network_voucher(tenants, await offered_box(tenants, "a1"))
    base = f"{tenants.services.settings.public_url}/network/"
    urls = set()
    for query, held in ((CARD, card), (VOUCHER, voucher)):
        for who, sees in {"market a": True, "master": True, "a1": False}.items():
            (found,) = (await tenants.graphql(who, query, code=held.code))["data"].values()
            assert found["uuid"] == str(held.uuid), who
            assert f"/{held.document_token}.pdf" in found["documentUrl"]
            assert (found["holderUrl"] is not None) is sees, who
            urls |= {found["holderUrl"]}
        for who in ("a2", "b1", "market b"):
            assert (await tenants.graphql(who, query, code=held.code))["data"] == {
                query.split("{")[1].split("(")[0].strip(): None
            }
    addresses = sorted(url for url in urls if url)
    assert len(addresses) == 2
    for url in addresses:
        assert url.startswith(base)
        page = await find_holder_page(Context(tenants.services), url.removeprefix(base).strip("/"), PartnerSearch())
        assert url.endswith(page.path)
        for secret in (card.normal_code, voucher.normal_code, card.document_token, voucher.document_token):
            assert secret not in url
    listed = (await tenants.graphql("market a", LISTS))["data"]
    assert sorted(node["holderUrl"] for each in listed.values() for node in each["nodes"]) == addresses


@pytest.mark.parametrize("status", ["draft", "cncld"])
async def test_what_is_not_paid_or_was_cancelled_has_none(tenants: Tenants, status: str) -> None:
    card, voucher = await network_card(tenants), await network_voucher(tenants, await offered_box(tenants, "a1"))
    for table, query, held in (("gift_card", CARD, card), ("network_voucher", VOUCHER, voucher)):
        await tenants.execute(f"UPDATE {table} SET status = :status", status=status)  # noqa: S608 - a test's words
        (found,) = (await tenants.graphql("market a", query, code=held.code))["data"].values()
        assert (found["holderUrl"], found["documentUrl"]) == (None, None)


async def test_the_page_changes_nothing(tenants: Tenants) -> None:
    card = await network_card(tenants)
    (found,) = (await tenants.graphql("market a", CARD, code=card.code))["data"].values()
    token, before = found["holderUrl"].split("/")[-2], await tenants.snapshot()
    assert await find_holder_page(Context(tenants.services), token, PartnerSearch(name="x", page=7))
    with pytest.raises(NotFound):
        await find_holder_page(Context(tenants.services), f"{token}x", PartnerSearch())
    assert await tenants.snapshot() == before
