"""Designs of gift cards: a network's, read by its partners, and a partner's own; their pictures; the cards that have one."""

from typing import Any

import pytest

from resolvers.gift_card.issuing import issue_gift_card
from resolvers.media.media import archive_media, update_media
from resolvers.network.designs import (
    create_gift_card_design,
    gift_card_design,
    gift_card_designs,
    update_gift_card_design,
)
from schema.core.errors import Forbidden, InvalidInput, MarketplaceOnly, NotFound
from schema.core.permission import Permission
from schema.gift_card.design_input import CreateGiftCardDesign, UpdateGiftCardDesign
from schema.gift_card.gift_card import GiftCardStatus
from schema.gift_occasion import GiftOccasion
from store.gift_card.designs import GiftCardDesignRow, check_design, designs_of_network, designs_of_partner
from tests.changes import Direct, Transport, mistake
from tests.fixtures.network import network_card
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.resolvers.partner.test_looks import picture

NAME = {"en": "Happy birthday", "fr": "Joyeux anniversaire"}
FULL: dict[str, Any] = {
    "name": NAME,
    "short_description": {"fr": "Une année de bonnes tables."},
    "description": {"en": "For a birthday.\nOr two."},
    "occasion": GiftOccasion.BIRTHDAY,
    "accent_colour": " #8A2846 ",
    "ranking": 2,
}
SEES = {"a1": "a", "a2": "a", "b1": "b", "market a": "a", "market b": "b", "master": "ab"}


async def new_design(tenants: Tenants, who: str = "market a", **values: Any) -> GiftCardDesignRow:
    """A design of the network of a user."""
    outcome = await Direct(tenants).change(who, create_gift_card_design, **{"name": NAME, **values})
    assert outcome.done, outcome
    row: GiftCardDesignRow = outcome.result
    return row


async def test_a_design_is_made_and_changed(tenants: Tenants, ask: Transport) -> None:
    shown = await picture(tenants, "a2")
    path = f"/media/{shown.uuid}/cover.webp"
    assert (
        await ask.change("market a", create_gift_card_design, **FULL, picture_url=f"http://127.0.0.1:8000{path}")
    ).done
    made = await tenants.newest("gift_card_design")
    assert made == {
        **FULL,
        "id": made["id"],
        "marketplace_id": tenants.marketplaces["a"].id,
        "partner_id": None,
        "accent_colour": "#8a2846",
        "picture_url": path,
        "is_active": True,
    }
    changes = {"id": made["id"], "name": {"fr": None}, "description": {"en": ""}, "picture_url": "", "is_active": False}
    changes |= {"occasion": None}
    assert (await ask.change("market a", update_gift_card_design, **changes)).done
    changed = {"name": {"en": NAME["en"]}, "description": {}, "picture_url": "", "is_active": False, "occasion": None}
    assert await tenants.row("gift_card_design", made["id"]) == {**made, **changed}
    assert (await ask.change("market b", create_gift_card_design, name=NAME)).done
    plain = await tenants.newest("gift_card_design")
    assert (plain["marketplace_id"], plain["accent_colour"]) == (tenants.marketplaces["b"].id, "#1f4e5f")
    assert (plain["short_description"], plain["description"], plain["picture_url"]) == ({}, {}, "")


async def test_what_is_refused(tenants: Tenants, ask: Transport) -> None:
    own = await new_design(tenants)
    foreign = f"/media/{(await picture(tenants, 'b1')).uuid}/card.webp"
    uuid = str(tenants.marketplaces["a"].uuid)
    before = await tenants.snapshot()
    for sent, where in (
        ({"name": {"en": " "}}, "name"),
        ({"name": {"de": "x" * 121}}, "name.de TOO_LONG"),
        ({"short_description": {"de": "x" * 201}}, "short_description.de TOO_LONG"),
        ({"description": {"de": "x" * 2001}}, "description.de TOO_LONG"),
        ({"picture_url": foreign}, "picture_url"),
        ({"picture_url": "https://elsewhere.example/media/a.png"}, "picture_url"),
        ({"accent_colour": "red"}, "accent_colour"),
        ({"ranking": -1}, "ranking OUT_OF_RANGE"),
    ):
        assert (await ask.change("market a", create_gift_card_design, **{"name": NAME, **sent})).wrong == mistake(where)
        changes = {**sent, **({"name": {"en": None, "fr": None}} if where == "name" else {})}
        assert (await ask.change("market a", update_gift_card_design, id=own.id, **changes)).wrong == mistake(where)
    assert await ask.wrong("master", create_gift_card_design, name=NAME) == {"marketplace_uuid"}
    assert await ask.wrong("market b", create_gift_card_design, name=NAME, marketplace_uuid=uuid) == {
        "marketplace_uuid"
    }
    for who, id in (("market b", own.id), ("market a", 999_999)):
        assert (await ask.change(who, update_gift_card_design, id=id, ranking=7)).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before


async def test_a_partner_reads_the_designs_of_its_network_and_changes_none(tenants: Tenants) -> None:
    rows = {name: await new_design(tenants, f"market {name}") for name in "ab"}
    query = "{ giftCardDesigns { totalCount nodes { id name { fr } marketplace { uuid } pictureUrl accentColour } } }"
    for who in EVERYBODY:
        answer = await tenants.graphql(who, query)
        assert "errors" not in answer, answer
        assert {node["id"] for node in answer["data"]["giftCardDesigns"]["nodes"]} == {rows[of].id for of in SEES[who]}
        for of, row in rows.items():
            found = await gift_card_design(await tenants.context(who), row.id)
            if of in SEES[who]:
                assert (await found.object()).id == row.id
            else:
                with pytest.raises(NotFound):
                    await found.object()
    a1 = {"partner_id": tenants.partners["a1"].id}
    await tenants.user("reader", "partner", [Permission.VIEW_CATALOGUE], **a1)
    await tenants.user("granted", "partner", [Permission.MANAGE_CATALOGUE, Permission.MANAGE_MARKETPLACE], **a1)
    before = await tenants.snapshot()
    for who, error in {"reader": Forbidden, "a1": MarketplaceOnly, "granted": MarketplaceOnly}.items():
        with pytest.raises(error):
            await update_gift_card_design(await tenants.context(who), UpdateGiftCardDesign(id=rows["a"].id))
    for id in (rows["b"].id, 999_999):
        with pytest.raises(NotFound):
            await update_gift_card_design(await tenants.context("granted"), UpdateGiftCardDesign(id=id))
    with pytest.raises(Forbidden):
        await create_gift_card_design(
            await tenants.context("reader"), CreateGiftCardDesign.model_validate({"name": NAME})
        )
    assert await tenants.snapshot() == before


async def test_a_partner_has_designs_of_its_own(tenants: Tenants, ask: Transport) -> None:
    shown, a1 = await picture(tenants, "a1"), tenants.partners["a1"]
    path = f"/media/{shown.uuid}/card.webp"
    assert (await ask.change("a1", create_gift_card_design, **FULL, picture_url=path)).done
    own = await tenants.newest("gift_card_design")
    assert (own["partner_id"], own["marketplace_id"]) == (a1.id, a1.marketplace_id)
    assert (own["picture_url"], own["occasion"]) == (path, "birthday")
    for who in ("market a", "master"):
        assert (await ask.change(who, create_gift_card_design, name=NAME, partner_uuid=str(a1.uuid))).done
        made = await tenants.newest("gift_card_design")
        assert (made["partner_id"], made["marketplace_id"]) == (a1.id, a1.marketplace_id)
        assert (await ask.change(who, update_gift_card_design, id=own["id"], ranking=9)).done
    assert (await ask.change("a1", update_gift_card_design, id=own["id"], is_active=False, occasion=None)).done
    changed = {**own, "ranking": 9, "is_active": False, "occasion": None}
    assert await tenants.row("gift_card_design", own["id"]) == changed
    query = "{ giftCardDesigns(filter: { isOfPartner: true, isActive: false }) { nodes { id partner { uuid } } } }"
    for who in EVERYBODY:
        nodes = (await tenants.graphql(who, query))["data"]["giftCardDesigns"]["nodes"]
        seen = who in {"a1", "market a", "master"}
        assert nodes == ([{"id": own["id"], "partner": {"uuid": str(a1.uuid)}}] if seen else []), who


async def test_a_partner_s_design_stays_with_the_partner(tenants: Tenants, ask: Transport) -> None:
    own = await new_design(tenants, "a1")
    a2, b1 = tenants.partners["a2"], tenants.partners["b1"]
    foreign = f"/media/{(await picture(tenants, 'a2')).uuid}/card.webp"
    network = str(tenants.marketplaces["a"].uuid)
    before = await tenants.snapshot()
    for who, sent, where in (
        ("a1", {"partner_uuid": str(a2.uuid)}, "partner_uuid"),
        ("market a", {"partner_uuid": str(b1.uuid)}, "partner_uuid"),
        ("a1", {"marketplace_uuid": network}, "marketplace_uuid"),
        ("market a", {"partner_uuid": str(a2.uuid), "marketplace_uuid": network}, "marketplace_uuid"),
        ("a1", {"picture_url": foreign}, "picture_url"),
    ):
        assert where in {
            place for place, _ in (await ask.change(who, create_gift_card_design, name=NAME, **sent)).wrong
        }
    assert (await ask.change("a1", update_gift_card_design, id=own.id, picture_url=foreign)).wrong == mistake(
        "picture_url"
    )
    for who in ("a2", "b1", "market b"):
        assert (await ask.change(who, update_gift_card_design, id=own.id, ranking=7)).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before


async def test_lists_are_filtered_and_in_order(tenants: Tenants) -> None:
    rows = [
        await new_design(tenants, ranking=3 - at, is_active=at != 1, occasion=None if at else GiftOccasion.WEDDING)
        for at in range(3)
    ]
    uuids = {name: row.uuid for name, row in tenants.marketplaces.items()}
    for written, chosen in {
        "isActive: true": [2, 0],
        "isActive: false": [1],
        f"ids: [{rows[0].id}, {rows[1].id}]": [1, 0],
        "isOfPartner: false": [2, 1, 0],
        "isOfPartner: true": [],
        f'partnerUuid: "{tenants.partners["a1"].uuid}"': [],
        "occasion: WEDDING": [0],
        f'marketplaceUuid: "{uuids["a"]}"': [2, 1, 0],
        f'marketplaceUuid: "{uuids["b"]}"': [],
    }.items():
        answer = await tenants.graphql("a1", f"{{ giftCardDesigns(filter: {{{written}}}) {{ nodes {{ id }} }} }}")
        assert [node["id"] for node in answer["data"]["giftCardDesigns"]["nodes"]] == [rows[at].id for at in chosen]
    assert str(gift_card_designs.default_order) == "ranking"


async def test_a_picture_of_a_design_is_in_use(tenants: Tenants, ask: Transport) -> None:
    shown, spare = await picture(tenants, "a1"), await picture(tenants, "a1")
    row = await new_design(tenants, picture_url=f"/media/{shown.uuid}/card.webp")
    before = await tenants.snapshot()
    for who in ("a1", "market a"):
        assert (await ask.change(who, archive_media, id=shown.id)).wrong == {("", "MEDIA_IN_USE")}
        assert (await ask.change(who, update_media, id=shown.id, name="Other")).wrong == {("", "MEDIA_IN_USE")}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", archive_media, id=spare.id)).done
    archived = f"/media/{spare.uuid}/card.webp"
    refused = await ask.change("market a", update_gift_card_design, id=row.id, picture_url=archived)
    assert refused.wrong == {("picture_url", "INVALID")}
    assert (await ask.change("market a", update_gift_card_design, id=row.id, picture_url="")).done
    assert (await ask.change("a1", archive_media, id=shown.id)).done


async def test_a_card_has_an_active_design_of_its_issuer(tenants: Tenants) -> None:
    network, partner = tenants.marketplaces["a"].id, tenants.partners["a1"].id
    common, old = await new_design(tenants), await new_design(tenants, is_active=False)
    foreign = await new_design(tenants, "market b")
    own, unused = await new_design(tenants, "a1"), await new_design(tenants, "a1", is_active=False)
    others = await new_design(tenants, "a2")
    async with tenants.services.db.sessions() as db:
        for offered, good, bad in (
            (designs_of_network(network), common, (old, foreign, own, others)),
            (designs_of_partner(partner), own, (common, old, foreign, unused, others)),
        ):
            await check_design(db, offered, good.id)
            await check_design(db, offered, None)
            for id in (*(row.id for row in bad), 999_999):
                with pytest.raises(InvalidInput) as refused:
                    await check_design(db, offered, id)
                assert [problem.path for problem in refused.value.problems] == [("design_id",)]


async def test_a_partner_issues_a_card_with_its_design(tenants: Tenants, ask: Transport) -> None:
    own, common = await new_design(tenants, "a1"), await new_design(tenants)
    assert (await ask.change("a1", issue_gift_card, value="25.00", design_id=own.id)).done
    card = await tenants.newest("gift_card")
    assert (card["design_id"], card["partner_id"]) == (own.id, tenants.partners["a1"].id)
    query = "query ($id: Int!) { giftCard(id: $id) { designId design { name { fr } } } }"
    shown = (await tenants.graphql("a1", query, id=card["id"]))["data"]["giftCard"]
    assert shown == {"designId": own.id, "design": {"name": {"fr": NAME["fr"]}}}
    before = await tenants.snapshot()
    for id in (common.id, 999_999):
        wrong = (await ask.change("a1", issue_gift_card, value="25.00", design_id=id)).wrong
        assert wrong == mistake("design_id")
    assert await tenants.snapshot() == before


@pytest.mark.parametrize("status", GiftCardStatus)
async def test_a_card_tells_its_design_and_its_document(tenants: Tenants, status: GiftCardStatus) -> None:
    design = await new_design(tenants)
    card = await network_card(tenants, design_id=design.id, status=status)
    plain = await network_card(tenants, is_test=True)
    query = "query ($id: Int!) { networkGiftCard(id: $id) { designId design { name { fr } } documentUrl } }"
    for who in ("market a", "master"):
        shown = (await tenants.graphql(who, query, id=card.id))["data"]["networkGiftCard"]
        printed = f"http://127.0.0.1:8000/documents/gift-cards/{card.document_token}.pdf"
        assert shown == {
            "designId": design.id,
            "design": {"name": {"fr": NAME["fr"]}},
            "documentUrl": None if status in (GiftCardStatus.DRAFT, GiftCardStatus.CANCELLED) else printed,
        }
        undesigned = (await tenants.graphql(who, query, id=plain.id))["data"]["networkGiftCard"]
        assert (undesigned["designId"], undesigned["design"]) == (None, None)
        assert undesigned["documentUrl"].endswith(f"/documents/gift-cards/{plain.document_token}.pdf")
