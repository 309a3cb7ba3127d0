"""Network vouchers and their usages as they are read: for whom they are there, by what they are found, what they offer."""

import datetime as dt
from typing import Any

import pytest

from resolvers.network.voucher_usages import use_network_voucher
from resolvers.network.vouchers import (
    network_voucher_usage,
    network_voucher_usages,
    network_voucher_with_id,
    network_voucher_with_uuid,
    network_vouchers,
)
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus as S
from store.core.clock import clock
from tests.changes import Direct
from tests.fixtures.box import new_box, new_offer, new_prototype
from tests.fixtures.network import link
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.statements import fetched

VOUCHER = (
    "query ($id: Int, $uuid: UUID, $code: String) { networkVoucher(id: $id, uuid: $uuid, code: $code) { id isUsable } }"
)
CONTENT = (
    "query ($id: Int) { networkVoucher(id: $id) { content { boxName description shortDescription universes tags } } }"
)


async def finds(tenants: Tenants, who: str, **by: Any) -> bool:
    """Whether somebody finds a voucher."""
    return (await tenants.graphql(who, VOUCHER, **by))["data"]["networkVoucher"] is not None


async def test_a_partner_sees_a_voucher_by_its_code_only(tenants: Tenants) -> None:
    await link(tenants, "a1")
    voucher = await network_voucher(tenants, await new_box(tenants))
    by_code = {"a1": True, "a2": False, "b1": False, "market a": True, "market b": False, "master": True}
    listed = "{ networkVouchers { totalCount nodes { code } } }"
    for who in EVERYBODY:
        assert await finds(tenants, who, code=voucher.code.lower().replace("-", " ")) is by_code[who], who
        may = who in ("market a", "master")
        for by in ({"id": voucher.id}, {"uuid": str(voucher.uuid)}):
            assert await finds(tenants, who, **by) is may, who
        shown = (await tenants.graphql(who, listed))["data"]["networkVouchers"]
        assert (shown["totalCount"], len(shown["nodes"])) == ((1, 1) if may else (0, 0)), who


def test_the_look_ups_and_lists_need_the_permission() -> None:
    for source in (
        network_vouchers,
        network_voucher_with_id,
        network_voucher_with_uuid,
        network_voucher_usages,
        network_voucher_usage,
    ):
        assert source.permission == "view_network_voucher"


async def test_misses_are_counted(tenants: Tenants) -> None:
    await link(tenants, "a1")
    voucher = await network_voucher(tenants, await new_box(tenants))
    query = "query ($email: String!) { networkVouchers(email: $email) { nodes { id } } }"
    for who in ("a1", "market a"):
        answers = [await tenants.graphql(who, query, email=f"nobody{n}@example.com") for n in range(400)]
        blocked = [answer for answer in answers if answer.get("errors")]
        assert blocked[0]["errors"][0]["extensions"]["code"] == "TOO_MANY_REQUESTS"
        answer = await tenants.graphql(who, VOUCHER, code=voucher.code)
        assert answer["errors"][0]["extensions"]["code"] == "TOO_MANY_REQUESTS"


async def test_usages_are_seen_by_their_partner_and_network(tenants: Tenants) -> None:
    await link(tenants, "a1", "a2")
    voucher, ask = await network_voucher(tenants, await offered_box(tenants, "a1", "a2", max_usages=4)), Direct(tenants)
    for partner in ("a1", "a2"):
        sent = {"code": voucher.code, "partner_id": tenants.partners[partner].id}
        assert (await ask.change("market a", use_network_voucher, **sent)).done
    query = "{ networkVoucherUsages { nodes { partner { id } net { amount } offer { id } networkVoucher { id } } } }"
    for who, partners in {
        "a1": ["a1"],
        "a2": ["a2"],
        "b1": [],
        "market a": ["a2", "a1"],
        "master": ["a2", "a1"],
    }.items():
        nodes = (await tenants.graphql(who, query))["data"]["networkVoucherUsages"]["nodes"]
        assert [node["partner"]["id"] for node in nodes] == [tenants.partners[name].id for name in partners]
        assert all(node["offer"]["id"] for node in nodes)
    one = "query ($id: Int!) { networkVoucherUsage(id: $id) { id isActive } }"
    id = await tenants.one("SELECT min(id) FROM network_voucher_usage")
    for who, may in {"a1": True, "a2": False, "market a": True, "market b": False}.items():
        assert ((await tenants.graphql(who, one, id=id))["data"]["networkVoucherUsage"] is not None) is may


async def test_what_a_voucher_offers_is_in_its_language(tenants: Tenants) -> None:
    await link(tenants, "a1", "a2")
    await tenants.execute("UPDATE partner SET tags = '{south,spa}' WHERE id = :id", id=tenants.partners["a1"].id)
    texts: dict[str, Any] = {
        "name": Text(en="Calm", fr="Calme"),
        "short_description": Text(fr="Court"),
        "long_description": Text(de="Lang"),
    }
    box = await new_box(tenants, **texts)
    product = await new_prototype(tenants, "a1")
    await tenants.execute(
        "UPDATE universe SET name = jsonb_build_object('en', 'Spas', 'fr', 'Thermes') WHERE id = :id",
        id=product.universe_id,
    )
    await new_offer(tenants, box, "a2", OfferStatus.ACCEPTED, ranking=2)
    await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED, product_id=product.id)
    for more in ({"status": OfferStatus.SUBMITTED}, {"status": OfferStatus.ACCEPTED, "is_active": False}):
        await new_offer(tenants, box, "a1", product_id=product.id, **more)
    for language, name, short, universe in (
        ("fr", "Calme", "Court", "Thermes"),
        ("de", "Calm", "Court", "Spas"),
        ("en", "Calm", "Court", "Spas"),
    ):
        voucher = await network_voucher(tenants, box, language=language)
        content = (await tenants.graphql("market a", CONTENT, id=voucher.id))["data"]["networkVoucher"]["content"]
        assert content == {
            "boxName": name,
            "description": "Lang",
            "shortDescription": short,
            "universes": [[universe], []],
            "tags": [["south", "spa"], []],
        }
    await link(tenants, "a1")
    await tenants.execute(
        "UPDATE partner SET linked_to_nv_settings = false WHERE id = :id", id=tenants.partners["a2"].id
    )
    content = (await tenants.graphql("market a", CONTENT, id=voucher.id))["data"]["networkVoucher"]["content"]
    assert (content["universes"], content["tags"]) == ([["Spas"]], [["south", "spa"]])


async def test_statements_do_not_grow_with_the_vouchers(tenants: Tenants) -> None:
    await link(tenants, "a1")
    query = "{ networkVouchers { nodes { id box { id } content { boxName tags } usages { id partner { id } offer { id } } } } }"
    counts = []
    for _ in range(2):
        for _ in range(3):
            await network_voucher(tenants, await offered_box(tenants, "a1"))
        with fetched(tenants.services.db) as statements:
            nodes = (await tenants.graphql("market a", query))["data"]["networkVouchers"]["nodes"]
        counts.append(len(statements))
    assert len(nodes) == 6
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("more", "usable"),
    [
        ({}, True),
        ({"status": S.TEST}, True),
        ({"status": S.DRAFT}, False),
        ({"is_active": False}, False),
        ({"frozen_on": clock.now()}, False),
        ({"expires_on": clock.now() - dt.timedelta(hours=1)}, False),
        ({"starts_on": clock.now() + dt.timedelta(hours=1)}, False),
        ({"usable_until": clock.now() - dt.timedelta(hours=1)}, False),
        ({"usable_until": clock.now() + dt.timedelta(hours=1)}, True),
    ],
)
async def test_whether_it_can_be_used(tenants: Tenants, more: dict[str, Any], usable: bool) -> None:
    voucher = await network_voucher(tenants, await new_box(tenants), **more)
    answer = await tenants.graphql("market a", VOUCHER, id=voucher.id)
    assert answer["data"]["networkVoucher"]["isUsable"] is usable
