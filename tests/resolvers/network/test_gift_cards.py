"""Network gift cards and their usages as they are read: for whom they are there, and by what they are found."""

from typing import Any

from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.network.gift_cards import (
    network_gift_card_usage,
    network_gift_card_usages,
    network_gift_card_with_id,
    network_gift_card_with_uuid,
    network_gift_cards,
)
from tests.changes import Direct
from tests.fixtures.network import link, network_card
from tests.fixtures.tenants import EVERYBODY, Tenants

CARD = "query ($id: Int, $uuid: UUID, $code: String) { networkGiftCard(id: $id, uuid: $uuid, code: $code) { id isUsable } }"


async def found(tenants: Tenants, who: str, **by: Any) -> bool:
    """Whether somebody finds a card."""
    return (await tenants.graphql(who, CARD, **by))["data"]["networkGiftCard"] is not None


async def test_a_partner_sees_a_card_by_its_code_only(tenants: Tenants) -> None:
    await link(tenants, "a1")
    card = await network_card(tenants)
    by_code = {"a1": True, "a2": False, "b1": False, "market a": True, "market b": False, "master": True}
    listed = "{ networkGiftCards { totalCount nodes { code } } }"
    for who in EVERYBODY:
        assert await found(tenants, who, code=card.code.lower().replace("-", " ")) is by_code[who], who
        may = who in ("market a", "master")
        for by in ({"id": card.id}, {"uuid": str(card.uuid)}):
            assert await found(tenants, who, **by) is may, who
        shown = (await tenants.graphql(who, listed))["data"]["networkGiftCards"]
        assert (shown["totalCount"], len(shown["nodes"])) == ((1, 1) if may else (0, 0)), who


async def test_the_look_ups_and_lists_need_the_permission(tenants: Tenants) -> None:
    for source in (
        network_gift_cards,
        network_gift_card_with_id,
        network_gift_card_with_uuid,
        network_gift_card_usages,
        network_gift_card_usage,
    ):
        assert source.permission == "use_network_giftcard_api"


async def test_cards_of_partners_and_networks_do_not_mix(tenants: Tenants) -> None:
    card = await network_card(tenants)
    own = "query ($id: Int, $code: String) { giftCard(id: $id, code: $code) { id } giftCards { nodes { id } } }"
    for who in ("market a", "master", "a1"):
        for by in ({"id": card.id}, {"code": card.code}):
            data = (await tenants.graphql(who, own, **by))["data"]
            assert data["giftCard"] is None
            assert card.id not in {node["id"] for node in data["giftCards"]["nodes"]}
        mine = tenants.owned["a1"].gift_card
        assert not await found(tenants, who, id=mine)


async def test_by_e_mail_ignoring_case(tenants: Tenants) -> None:
    await link(tenants, "a1")
    given = await network_card(tenants, giftee_email="Grace@Example.com")
    query = "query ($email: String!) { networkGiftCards(email: $email) { totalCount nodes { id } } }"
    for email in ("ADA@example.com", "grace@example.COM "):
        data = (await tenants.graphql("market a", query, email=email))["data"]["networkGiftCards"]
        assert data == {"totalCount": 1, "nodes": [{"id": given.id}]}
    for who in ("a1", "market b"):
        data = (await tenants.graphql(who, query, email="ada@example.com"))["data"]["networkGiftCards"]
        assert data == {"totalCount": 0, "nodes": []}


async def test_misses_by_e_mail_are_counted(tenants: Tenants) -> None:
    await network_card(tenants)
    query = "query ($email: String!) { networkGiftCards(email: $email) { nodes { id } } }"
    answers = [await tenants.graphql("market a", query, email=f"nobody{n}@example.com") for n in range(400)]
    blocked = [answer for answer in answers if answer.get("errors")]
    assert blocked
    assert blocked[0]["errors"][0]["extensions"]["code"] == "TOO_MANY_REQUESTS"
    assert (await tenants.graphql("market a", query, email="ada@example.com")).get("errors")


async def test_usages_are_seen_by_their_partner_and_network(tenants: Tenants) -> None:
    await link(tenants, "a1", "a2")
    card, ask = await network_card(tenants), Direct(tenants)
    for partner in ("a1", "a2"):
        used = {"code": card.code, "value": "10.00", "partner_id": tenants.partners[partner].id}
        assert (await ask.change("market a", use_network_gift_card, **used)).done
    query = "{ networkGiftCardUsages { nodes { partner { id } net { amount } giftCard { id } } } }"
    for who, partners in {
        "a1": ["a1"],
        "a2": ["a2"],
        "b1": [],
        "market a": ["a2", "a1"],
        "master": ["a2", "a1"],
    }.items():
        nodes = (await tenants.graphql(who, query))["data"]["networkGiftCardUsages"]["nodes"]
        assert [node["partner"]["id"] for node in nodes] == [tenants.partners[name].id for name in partners]
    one = "query ($id: Int!) { networkGiftCardUsage(id: $id) { id isActive } }"
    id = await tenants.one("SELECT min(id) FROM network_gift_card_usage")
    for who, may in {"a1": True, "a2": False, "market a": True, "market b": False}.items():
        assert ((await tenants.graphql(who, one, id=id))["data"]["networkGiftCardUsage"] is not None) is may
    all_of_card = (
        "query ($code: String!) { networkGiftCard(code: $code) { usages { id } movements { kind partner { id } } } }"
    )
    data = (await tenants.graphql("a1", all_of_card, code=card.code))["data"]["networkGiftCard"]
    assert len(data["usages"]) == 2
    partners = [tenants.partners[name].id for name in ("a1", "a2")]
    assert [m["partner"] and m["partner"]["id"] for m in data["movements"]] == [None, *partners]
