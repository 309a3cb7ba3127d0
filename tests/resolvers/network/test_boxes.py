"""Boxes: who makes and changes them, with which pictures and partners, what is refused, and how they are listed."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.media.media import archive_media, update_media
from resolvers.network.boxes import box, boxes, create_box, update_box
from schema.core.errors import Forbidden, MarketplaceOnly, NotFound
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.network.box_input import CreateBox, UpdateBox
from tests.changes import Direct, Transport
from tests.fixtures.box import new_box, new_offer, new_picture, new_range
from tests.fixtures.tenants import Tenants

NEW: Mapping[str, Any] = {"name": {"en": "Spa day"}, "price": "120.00"}
PAGE = PageArguments(first=50)


async def parts_of(tenants: Tenants, box_id: int) -> tuple[list[tuple[int, bool]], list[int]]:
    """The pictures of a box in order, each with whether it is the cover, and the partners that it is limited to."""
    images = await tenants.rows(
        "SELECT media_id, is_cover FROM box_image WHERE box_id = :id ORDER BY position", id=box_id
    )
    partners = await tenants.rows("SELECT partner_id FROM box_partner WHERE box_id = :id ORDER BY 1", id=box_id)
    return [(id, is_cover) for id, is_cover in images], [row[0] for row in partners]


def uuids(tenants: Tenants, *names: str) -> list[str]:
    return [str(tenants.partners[name].uuid) for name in names]


async def test_a_box_is_made_and_changed(tenants: Tenants, ask: Transport) -> None:
    priced = await new_range(tenants, "a", "100", None)
    first, second = await new_picture(tenants, "a1"), await new_picture(tenants, "a2")
    values = {
        "name": {"en": " Spa day ", "fr": "Journée"},
        "short_description": {"en": "Calm"},
        "long_description": {"de": "Lang"},
        "price": "120.50",
        "is_active": True,
        "is_highlight": True,
        "weight_grams": 350,
        "price_scope": 2,
        "max_usages": 3,
        "max_days_after_first_usage": 30,
        "ranking": 4,
        "price_range_id": priced.id,
        "image_ids": [second.id, first.id],
        "cover_image": 2,
        "partner_uuids": uuids(tenants, "a2"),
    }
    assert (await ask.change("market a", create_box, **values)).done
    row = await tenants.newest("box")
    wanted = {
        "marketplace_id": tenants.marketplaces["a"].id,
        "name": {"en": "Spa day", "fr": "Journée"},
        "short_description": {"en": "Calm"},
        "long_description": {"de": "Lang"},
        "price_amount": 120.5,
        "currency": "EUR",
        "is_active": True,
        "is_highlight": True,
        "weight_grams": 350,
        "price_scope": 2,
        "max_usages": 3,
        "max_days_after_first_usage": 30,
        "orders_count": 0,
        "ranking": 4,
        "price_range_id": priced.id,
    }
    assert row == row | wanted
    assert await parts_of(tenants, row["id"]) == (
        [(second.id, False), (first.id, True)], [tenants.partners["a2"].id],
    )  # fmt: skip
    changes = {
        "name": {"en": None},
        "price": "99.00",
        "price_range_id": None,
        "is_active": False,
        "image_ids": [first.id],
        "partner_uuids": uuids(tenants, "a1", "a2"),
    }
    assert (await ask.change("master", update_box, id=row["id"], **changes)).done
    changed = await tenants.row("box", row["id"])
    assert changed == row | {
        "name": {"fr": "Journée"},
        "price_amount": 99.0,
        "price_range_id": None,
        "is_active": False,
        "updated_on": changed["updated_on"],
    }
    assert changed["updated_on"] > row["updated_on"]
    assert await parts_of(tenants, row["id"]) == (
        [(first.id, True)], sorted(tenants.partners[name].id for name in ("a1", "a2")),
    )  # fmt: skip
    assert (await ask.change("market a", update_box, id=row["id"], image_ids=[], partner_uuids=[])).done
    assert await parts_of(tenants, row["id"]) == ([], [])


async def test_what_is_left_out_has_a_default(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("market b", create_box, **NEW)).done
    row = await tenants.newest("box")
    assert row == row | {
        "marketplace_id": tenants.marketplaces["b"].id,
        "currency": "CHF",
        "short_description": {},
        "long_description": {},
        "is_active": False,
        "is_highlight": False,
        "weight_grams": 0,
        "price_scope": 1,
        "max_usages": 1,
        "max_days_after_first_usage": 0,
        "ranking": 1,
        "price_range_id": None,
    }
    before = await tenants.snapshot()
    assert (await ask.change("market b", update_box, id=row["id"])).done
    assert await tenants.snapshot() == before


async def test_what_is_refused(tenants: Tenants, ask: Transport) -> None:
    own = await new_box(tenants)
    foreign_range, foreign_picture = await new_range(tenants, "b", "1", None), await new_picture(tenants, "b1")
    picture = await new_picture(tenants, "a1")
    archived = await new_picture(tenants, "a1", archived_on=picture.created_on)
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"name": {"en": " "}}, {"name"}),
        *(({"price": price}, {"price"}) for price in ("0", "0.00", "-1.00", "1.005", "10000000000.00")),
        ({"weight_grams": -1}, {"weight_grams"}),
        ({"price_scope": 0}, {"price_scope"}),
        ({"max_usages": 0}, {"max_usages"}),
        ({"max_days_after_first_usage": -1}, {"max_days_after_first_usage"}),
        ({"ranking": -1}, {"ranking"}),
        *(({"price_range_id": id}, {"price_range_id"}) for id in (foreign_range.id, 4711, 0)),
        ({"image_ids": [picture.id, foreign_picture.id, 4711]}, {"image_ids.1", "image_ids.2"}),
        ({"image_ids": [picture.id, archived.id, picture.id]}, {"image_ids.1", "image_ids.2"}),
        ({"image_ids": [picture.id], "cover_image": 2}, {"cover_image"}),
        ({"partner_uuids": uuids(tenants, "a1", "b1", "a1")}, {"partner_uuids.1", "partner_uuids.2"}),
    ]
    before = await tenants.snapshot()
    for changes, fields in cases:
        assert await ask.wrong("market a", create_box, **{**NEW, **changes}) == fields, changes
        changed = {"name": {"en": None}} if "name" in changes else changes
        assert await ask.wrong("market a", update_box, id=own.id, **changed) == fields, changes
    assert await ask.wrong("master", create_box, **NEW) == {"marketplace_uuid"}
    other = str(tenants.marketplaces["b"].uuid)
    assert await ask.wrong("market a", create_box, **NEW, marketplace_uuid=other) == {"marketplace_uuid"}
    for who, id in {"market b": own.id, "market a": 4711}.items():
        assert (await ask.change(who, update_box, id=id, price="1.00")).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before


async def test_an_archived_picture_of_a_box_may_stay(tenants: Tenants, ask: Transport) -> None:
    first, second = await new_picture(tenants, "a1"), await new_picture(tenants, "a1")
    created = await Direct(tenants).change("market a", create_box, **NEW, image_ids=[first.id, second.id])
    await tenants.execute("UPDATE media SET archived_on = now() WHERE id = :id", id=first.id)
    box_id = created.result.id
    assert (await ask.change("market a", update_box, id=box_id, image_ids=[second.id, first.id])).done
    assert await parts_of(tenants, box_id) == ([(second.id, True), (first.id, False)], [])
    assert (await ask.change("market a", update_box, id=box_id, cover_image=2)).done
    assert await parts_of(tenants, box_id) == ([(second.id, False), (first.id, True)], [])


async def test_a_partner_changes_no_box(tenants: Tenants) -> None:
    own = await new_box(tenants)
    manage, view = Permission.MANAGE_CATALOGUE, Permission.VIEW_CATALOGUE
    partner, market = tenants.partners["a1"].id, tenants.marketplaces["a"].id
    await tenants.user("manager", "partner", [manage], partner_id=partner)
    await tenants.user("reader", "partner", [view], partner_id=partner)
    await tenants.user("market reader", "marketplace", [view], marketplace_id=market)
    before = await tenants.snapshot()
    for who, error in {"manager": MarketplaceOnly, "reader": Forbidden, "market reader": Forbidden}.items():
        context = await tenants.context(who)
        with pytest.raises(error):
            await create_box(context, CreateBox.model_validate({"name": {"en": "X"}, "price": 1}))
        for id in (own.id, 4711):
            with pytest.raises(error):
                await update_box(context, UpdateBox(id=id))
    assert await tenants.snapshot() == before


async def test_a_picture_of_a_box_is_in_use(tenants: Tenants, ask: Transport) -> None:
    picture = await new_picture(tenants, "a1")
    created = await Direct(tenants).change("market a", create_box, **NEW, image_ids=[picture.id])
    before = await tenants.snapshot()
    in_use = frozenset({("", "MEDIA_IN_USE")})
    assert (await ask.change("a1", update_media, id=picture.id, name="Other")).wrong == in_use
    assert (await ask.change("a1", archive_media, id=picture.id)).wrong == in_use
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", update_box, id=created.result.id, image_ids=[])).done
    assert (await ask.change("a1", archive_media, id=picture.id)).done


async def test_a_picture_is_archived_or_used_and_never_both(tenants: Tenants) -> None:
    direct = Direct(tenants)
    for _ in range(5):
        picture = await new_picture(tenants, "a1")
        used, archived = await asyncio.gather(
            direct.change("market a", create_box, **NEW, image_ids=[picture.id]),
            direct.change("a1", archive_media, id=picture.id),
        )
        assert used.done is not archived.done


async def test_two_updates_at_once_leave_the_parts_of_one(tenants: Tenants) -> None:
    pictures = [(await new_picture(tenants, "a1")).id for _ in range(3)]
    own = await new_box(tenants)
    sent = [(pictures, ["a1"]), (pictures[::-1], ["a2"])] * 3
    outcomes = await asyncio.gather(
        *(
            Direct(tenants).change(
                "market a", update_box, id=own.id, image_ids=ids, partner_uuids=uuids(tenants, *names)
            )
            for ids, names in sent
        )
    )
    assert all(outcome.done for outcome in outcomes), outcomes
    images, partners = await parts_of(tenants, own.id)
    assert ([id for id, _ in images], partners) in [
        (ids, [tenants.partners[name].id for name in names]) for ids, names in sent
    ]


async def listed(tenants: Tenants, who: str, arguments: str) -> list[int]:
    answer = await tenants.graphql(who, f"{{ boxes(first: 50{arguments}) {{ totalCount nodes {{ id }} }} }}")
    assert "errors" not in answer, answer
    found = [node["id"] for node in answer["data"]["boxes"]["nodes"]]
    assert answer["data"]["boxes"]["totalCount"] == len(found)
    return found


async def test_boxes_are_filtered_and_ordered(tenants: Tenants) -> None:
    priced = await new_range(tenants, "a", "100", None)
    rows = [
        await new_box(tenants, ranking=3, price_amount=Decimal(20)),
        await new_box(tenants, ranking=1, price_amount=Decimal(30), is_active=False, name=Text(fr="Journée")),
        await new_box(tenants, ranking=2, price_amount=Decimal(10), is_highlight=True, price_range_id=priced.id),
    ]
    ids = [row.id for row in rows]
    market = tenants.marketplaces
    for arguments, wanted in {
        "": [2, 1, 0],
        ", orderBy: OLDEST": [0, 1, 2],
        ", orderBy: RANKING": [1, 2, 0],
        ", orderBy: PRICE": [2, 0, 1],
        ", orderBy: PRICE_DESCENDING": [1, 0, 2],
        ", filter: {isActive: false}": [1],
        ", filter: {isHighlight: true}": [2],
        f", filter: {{priceRangeId: {priced.id}}}": [2],
        ', filter: {nameContains: "JOURNEE"}': [1],
        f", filter: {{ids: [{ids[0]}, {ids[2]}]}}": [2, 0],
        f', filter: {{marketplaceUuid: "{market["a"].uuid}"}}': [2, 1, 0],
        f', filter: {{marketplaceUuid: "{market["b"].uuid}"}}': [],
    }.items():
        for who in ("market a", "master"):
            assert await listed(tenants, who, arguments) == [ids[at] for at in wanted], arguments


async def test_who_sees_which_boxes(tenants: Tenants) -> None:
    shown, hidden, of_b = await new_box(tenants), await new_box(tenants, is_active=False), await new_box(tenants, "b")
    for status in OfferStatus:
        await new_offer(tenants, await new_box(tenants, is_active=False), "a1", status)
    offered = set(await listed(tenants, "a1", ", filter: {isActive: false}"))
    assert len(offered) == len(OfferStatus)
    seen = {
        "a1": {shown.id, *offered},
        "a2": {shown.id},
        "b1": {of_b.id},
        "market a": {shown.id, hidden.id, *offered},
        "market b": {of_b.id},
        "master": {shown.id, hidden.id, of_b.id, *offered},
    }
    for who, ids in seen.items():
        assert set(await listed(tenants, who, "")) == ids, who
        context = await tenants.context(who)
        assert {row.id for row in await (await boxes(context, PAGE)).rows.objects()} == ids
        for row in (shown, hidden, of_b):
            lazy = await box(context, row.id)
            if row.id in ids:
                assert (await lazy.object()).id == row.id
            else:
                with pytest.raises(NotFound):
                    await lazy.object()
