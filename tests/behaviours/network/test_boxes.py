"""Boxes and their offers over both transports: their keys, who sees which, and what is refused."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from rest_compat.resources.network_box import BOX, OFFER
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.network.boxes import BoxImageRow, BoxRow, OfferRow
from tests.fixtures.box import link_partners, new_box, new_offer, new_picture, new_prototype, new_range
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = f"{{ {' '.join(LANGUAGES)} }}"
BOX_FIELDS = f"""id name {TEXT} shortDescription {TEXT} longDescription {TEXT} createdOn isActive isHighlight
    price {{ amount }} weightGrams priceScope maxUsages maxDaysAfterFirstUsage ordersCount marketplace {{ id }}
    priceRange {{ id name {TEXT} }}
    images {{ id isCover media {{ id uuid name createdOn archivedOn size updatedOn }} }}
    allowedPartners {{ partner {{ id sourceId commercialName }} }}
    products {{ id name {TEXT} priceRangeId }}"""
OFFER_FIELDS = f"""id name {TEXT} description {TEXT} termsOfUse {TEXT} editedOn rejectedOn isActive status ranking boxId
    productId partner {{ id }}"""


@dataclass
class Shown:
    """What is there: boxes and offers by a name."""

    boxes: dict[str, BoxRow]
    offers: dict[str, OfferRow]

    def ids(self, kind: str, *names: str) -> list[int]:
        """The ids of some of them, newest first."""
        rows: Mapping[str, Any] = getattr(self, kind)
        return sorted((rows[name].id for name in names), reverse=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shown(tenants: Tenants) -> Shown:
    """A box with everything, and boxes and offers in every state."""
    await link_partners(tenants, "a1", "a2", "b1")
    await tenants.user("manager", "partner", [Permission.MANAGE_CATALOGUE], partner_id=tenants.partners["a1"].id)
    chosen = await new_range(tenants, "a", "100", "200", ranking=2)
    await new_range(tenants, "a", "50", "100", ranking=1)
    product = await new_prototype(tenants, "a1", "80.00", name=Text(en="A day", fr="Une journée"))
    full = await new_box(
        tenants,
        partners=["a2", "a1"],
        name=Text(en="Spa day", fr="Journée spa"),
        short_description=Text(en="Calm"),
        long_description=Text(de="Lang"),
        weight_grams=350,
        price_scope=2,
        max_usages=3,
        max_days_after_first_usage=30,
        orders_count=18,
        is_highlight=True,
        price_range_id=chosen.id,
    )
    for at, archived in enumerate((None, clock.now()), 1):
        picture = await new_picture(tenants, "a2", archived_on=archived)
        await tenants.add(BoxImageRow(box_id=full.id, media_id=picture.id, position=at, is_cover=at == 2))
    boxes = {"full": full, "hidden": await new_box(tenants, is_active=False)}
    boxes["offered"] = await new_box(tenants, is_active=False)
    boxes["b"] = await new_box(tenants, "b")
    accepted, rejected = OfferStatus.ACCEPTED, OfferStatus.REJECTED
    offers = {
        "draft": await new_offer(tenants, full, "a1"),
        "submitted": await new_offer(tenants, full, "a1", OfferStatus.SUBMITTED),
        "rejected": await new_offer(tenants, full, "a1", rejected, name=Text(it="No"), terms_of_use=Text(nl="Nee")),
        "accepted": await new_offer(tenants, full, "a1", accepted, product_id=product.id, ranking=7),
        "again": await new_offer(tenants, full, "a1", accepted, product_id=product.id),
        "withdrawn": await new_offer(tenants, full, "a1", accepted, is_active=False),
        "of a2": await new_offer(tenants, full, "a2"),
        "elsewhere": await new_offer(tenants, boxes["offered"], "a2"),
    }
    return Shown(boxes, offers)


async def read(transport: Transport, who: str, kind: str, id: object = None) -> Answer:
    """All boxes, one of them, or the offers of one, under the documented keys."""
    if isinstance(transport, OverRest):
        path = {"boxes": "/api/boxes/", "box": f"/api/boxes/{id}/", "offers": f"/api/boxes/{id}/offers/"}[kind]
        answer = transport.to_answer(await transport.tenants.client.get(path, headers=transport.headers(who)))
        if answer.done:
            rows = answer.result if isinstance(answer.result, list) else [answer.result]
            shape = OFFER if kind == "offers" else BOX
            assert all(list(row) == list(shape.keys) for row in rows)
        return answer
    assert isinstance(transport, OverGraphQL)
    if kind == "boxes":
        answer = await transport.ask_graphql(f"{{ boxes {{ nodes {{ {BOX_FIELDS} }} }} }}", who, {})
        return answer if not answer.done else Answer(200, [box_of(node) for node in answer.result["nodes"]])
    fields = BOX_FIELDS if kind == "box" else f"offers {{ {OFFER_FIELDS} }}"
    answer = await transport.ask_graphql(f"query ($id: Int!) {{ box(id: $id) {{ {fields} }} }}", who, {"id": id})
    if not answer.done:
        return answer
    if answer.result is None:
        return Answer(404)
    return Answer(200, box_of(answer.result) if kind == "box" else [offer_of(one) for one in answer.result["offers"]])


def flat(name: str, text: Mapping[str, str | None]) -> dict[str, str]:
    return {f"{name}_{language}": text[language] or "" for language in LANGUAGES}


def moment(value: str | None) -> str | None:
    """A time as REST writes it."""
    if value is None:
        return None
    return dt.datetime.fromisoformat(value).astimezone(dt.UTC).isoformat(timespec="microseconds")[:26] + "Z"


def box_of(box: Any) -> dict[str, Any]:
    """A box of GraphQL under the documented keys."""
    priced = box["priceRange"]
    return {
        "id": box["id"],
        **flat("name", box["name"]),
        **flat("short_description", box["shortDescription"]),
        **flat("long_description", box["longDescription"]),
        "creation_date": moment(box["createdOn"]),
        "is_active": box["isActive"],
        "is_highlight": box["isHighlight"],
        "price": float(box["price"]["amount"]),
        "weight": box["weightGrams"],
        "price_scope": box["priceScope"],
        "max_usages": box["maxUsages"],
        "max_days_after_first_usage": box["maxDaysAfterFirstUsage"],
        "nb_mpo_orders": box["ordersCount"],
        "marketplace": box["marketplace"]["id"],
        "price_range": priced and {"id": priced["id"], **flat("name", priced["name"]), "partner": None},
        "images": [{"id": image["id"], "image": picture_of(image)} for image in box["images"]],
        "allowed_partners": [
            {"id": one["id"], "source_id": one["sourceId"], "agency_name": one["commercialName"]}
            for one in (allowed["partner"] for allowed in box["allowedPartners"])
        ],
        "products": [
            {"id": one["id"], **flat("name", one["name"]), "price_range": one["priceRangeId"]}
            for one in box["products"]
        ],
    }


def picture_of(image: Any) -> dict[str, Any]:
    media = image["media"]
    return {
        **{key: media[key] for key in ("id", "uuid", "name", "size")},
        "created_on": moment(media["createdOn"]),
        "archived_on": moment(media["archivedOn"]),
        "updated_on": moment(media["updatedOn"]),
        "readable": True,
        "writable": False,
        "cover": image["isCover"],
    }


def offer_of(offer: Any) -> dict[str, Any]:
    """An offer of GraphQL under the documented keys."""
    return {
        "id": offer["id"],
        **flat("name", offer["name"]),
        **flat("description", offer["description"]),
        **flat("terms_of_use", offer["termsOfUse"]),
        "edition_date": moment(offer["editedOn"]),
        "rejection_date": moment(offer["rejectedOn"]) or "",
        "is_active": offer["isActive"],
        "status": offer["status"],
        "ranking": offer["ranking"],
        "box": offer["boxId"],
        "product": offer["productId"],
        "partner": offer["partner"]["id"],
    }


async def test_a_box_has_its_documented_keys(transport: Transport, tenants: Tenants, shown: Shown) -> None:
    answer = await read(transport, "a1", "box", shown.boxes["full"].id)
    assert answer.done, answer
    box = answer.result
    wanted = {
        "id": shown.boxes["full"].id,
        "name_en": "Spa day",
        "name_fr": "Journée spa",
        "name_de": "",
        "short_description_en": "Calm",
        "long_description_de": "Lang",
        "is_active": True,
        "is_highlight": True,
        "price": 120.0,
        "weight": 350,
        "price_scope": 2,
        "max_usages": 3,
        "max_days_after_first_usage": 30,
        "nb_mpo_orders": 18,
        "marketplace": tenants.marketplaces["a"].id,
    }
    assert {key: box[key] for key in wanted} == wanted
    assert set(box["price_range"]) == {"id", "partner", *(f"name_{language}" for language in LANGUAGES)}
    assert (box["price_range"]["name_en"], box["price_range"]["partner"]) == ("From 100", None)
    assert [one["source_id"] for one in box["allowed_partners"]] == ["a1", "a2"]
    assert box["allowed_partners"][0]["agency_name"] == "Shop a1"
    assert [(image["image"]["cover"], bool(image["image"]["archived_on"])) for image in box["images"]] == [
        (False, False), (True, True),
    ]  # fmt: skip
    assert {"size", "readable", "writable", "updated_on", "uuid", "name"} <= set(box["images"][0]["image"])
    (product,) = box["products"]
    assert product["name_fr"] == "Une journée"
    assert product["price_range"] == await tenants.one("SELECT id FROM price_range WHERE minimum_amount = 50")


async def test_a_box_without_anything(transport: Transport, shown: Shown) -> None:
    box = (await read(transport, "market b", "box", shown.boxes["b"].id)).result
    assert (box["price_range"], box["images"], box["allowed_partners"], box["products"]) == (None, [], [], [])
    assert (await read(transport, "market b", "offers", shown.boxes["b"].id)).result == []


SEEN = {
    "a1": ["full"],
    "a2": ["full", "offered"],
    "b1": ["b"],
    "market a": ["full", "hidden", "offered"],
    "market b": ["b"],
    "master": ["full", "hidden", "offered", "b"],
}
"""The boxes that each user sees: a partner those on sale, and those that it has an offer for."""


@pytest.mark.parametrize("who", EVERYBODY)
async def test_who_sees_which_boxes(transport: Transport, shown: Shown, who: str) -> None:
    listed = (await read(transport, who, "boxes")).result
    assert [box["id"] for box in listed] == shown.ids("boxes", *SEEN[who])
    for name, row in shown.boxes.items():
        one = await read(transport, who, "box", row.id)
        assert one.status == (200 if name in SEEN[who] else 404), name
        if one.done:
            assert one.result in listed
        assert (await read(transport, who, "offers", row.id)).status == one.status


@pytest.mark.parametrize("who", ["a1", "a2", "market a", "master"])
async def test_who_sees_which_offers(transport: Transport, shown: Shown, who: str) -> None:
    offers = (await read(transport, who, "offers", shown.boxes["full"].id)).result
    own = {"a1": ["draft", "submitted", "rejected", "accepted", "again", "withdrawn"], "a2": ["of a2"]}
    names = {*own.get(who, [*own["a1"], *own["a2"]]), "accepted", "again"}
    assert [offer["id"] for offer in offers] == shown.ids("offers", *names)


async def test_an_offer_has_its_documented_keys(transport: Transport, tenants: Tenants, shown: Shown) -> None:
    offers = (await read(transport, "a1", "offers", shown.boxes["full"].id)).result
    by_id = {offer["id"]: offer for offer in offers}
    rejected, accepted = by_id[shown.offers["rejected"].id], by_id[shown.offers["accepted"].id]
    row = await tenants.row("offer", rejected["id"])
    assert rejected["rejection_date"] == moment(row["rejected_on"])
    assert rejected["edition_date"] == moment(row["edited_on"])
    assert (rejected["name_it"], rejected["terms_of_use_nl"], rejected["description_en"]) == ("No", "Nee", "")
    assert (rejected["status"], rejected["product"]) == ("REJECTED", None)
    assert (accepted["status"], accepted["ranking"], accepted["rejection_date"]) == ("ACCEPTED", 7, "")
    assert accepted["product"] == shown.offers["accepted"].product_id
    assert accepted["partner"] == tenants.partners["a1"].id
    assert (accepted["box"], accepted["is_active"]) == (shown.boxes["full"].id, True)
    assert {"DRAFT", "SUBMITTED"} < {offer["status"] for offer in offers}


@pytest.mark.parametrize("kind", ["boxes", "box", "offers"])
async def test_who_reads_nothing(transport: Transport, shown: Shown, kind: str) -> None:
    id = shown.boxes["full"].id
    for who, status in {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403, "manager": 403}.items():
        assert (await read(transport, who, kind, id)).status == status


@pytest.mark.parametrize("kind", ["box", "offers"])
async def test_what_is_no_box(transport: Transport, shown: Shown, kind: str) -> None:
    ids: list[object] = [0, -1, 999_999, 2**31 - 1]
    if isinstance(transport, OverRest):
        ids += [2**31, 2**70, "x", "1.5", "%00", shown.boxes["b"].id]
    for id in ids:
        assert (await read(transport, "a1", kind, id)).status == 404, id


async def test_lists_are_cut_only_with_a_page_size(tenants: Tenants, shown: Shown) -> None:
    rest = OverRest(tenants)

    async def get(path: str) -> Any:
        return await tenants.client.get(path, headers=rest.headers("market a"))

    for path, names in {
        "/api/boxes/": shown.ids("boxes", "full", "hidden", "offered"),
        f"/api/boxes/{shown.boxes['full'].id}/offers/": shown.ids(
            "offers", *(n for n in shown.offers if n != "elsewhere")
        ),
    }.items():
        whole, cut = await get(path), await get(f"{path}?page_size=2&page=2")
        assert [row["id"] for row in whole.json()] == names
        assert "Link" not in whole.headers
        assert [row["id"] for row in cut.json()] == names[2:4]
        assert 'rel="prev"' in cut.headers["Link"]
        assert (await get(f"{path}?page_size=x")).status_code == 400
        assert (await get(f"{path}?page_size=2&page=99")).status_code == 404


async def test_a_partner_that_no_longer_takes_part_offers_nothing(
    transport: Transport, tenants: Tenants, shown: Shown
) -> None:
    await link_partners(tenants, "a1", linked=False)
    try:
        assert (await read(transport, "a2", "box", shown.boxes["full"].id)).result["products"] == []
    finally:
        await link_partners(tenants, "a1")
    assert (await read(transport, "a2", "box", shown.boxes["full"].id)).result["products"] != []


async def test_prices_are_exact(tenants: Tenants) -> None:
    box = await new_box(tenants, "b", price_amount=Decimal("9999999999.99"))
    answer = await tenants.client.get(f"/api/boxes/{box.id}/", headers=OverRest(tenants).headers("market b"))
    assert '"price":9999999999.99' in answer.text
    await tenants.execute("DELETE FROM box WHERE id = :id", id=box.id)
