"""Universes, environments and price ranges: a marketplace's own, seen by its partners; and which prototypes a filter finds."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from resolvers.catalogue import taxonomy
from resolvers.core.lists.filters import Where
from resolvers.core.operation import Operation
from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.text import Text
from store.catalogue.catalogue import PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.media.media import MediaRow
from tests.changes import Transport, mistake
from tests.fixtures.tenants import Tenants
from tests.statements import fetched

NAME = {"en": "By the sea", "fr": "À la mer"}
KINDS: Sequence[tuple[str, str, Operation[Any, Any], Operation[Any, Any], dict[str, Any]]] = [
    ("universe", "universes { nodes { id } }", taxonomy.create_universe, taxonomy.update_universe, {}),
    ("environment", "environments { nodes { id } }", taxonomy.create_environment, taxonomy.update_environment, {}),
    (
        "price_range",
        "priceRanges { nodes { id } }",
        taxonomy.create_price_range,
        taxonomy.update_price_range,
        {"minimum": "10.00"},
    ),
]
BY_KIND = pytest.mark.parametrize(
    ("table", "field", "create", "update", "more"), KINDS, ids=[kind[0] for kind in KINDS]
)


async def list_ids(tenants: Tenants, who: str, field: str) -> list[int]:
    """The ids that somebody is listed."""
    body = await tenants.graphql(who, f"{{ {field} }}")
    (listed,) = body["data"].values()
    return [node["id"] for node in listed["nodes"]]


@BY_KIND
async def test_a_marketplace_makes_and_changes_its_own(
    tenants: Tenants, ask: Transport, table: str, field: str, create: Any, update: Any, more: dict[str, Any]
) -> None:
    assert (await ask.change("market a", create, name=NAME, ranking=2, **more)).done
    made = await tenants.newest(table)
    assert (made["marketplace_id"], made["name"]) == (tenants.marketplaces["a"].id, NAME)
    assert (made["is_active"], made["ranking"]) == (True, 2)
    assert (await ask.change("market a", update, id=made["id"], name={"fr": None}, is_active=False)).done
    assert await tenants.row(table, made["id"]) == {**made, "name": {"en": NAME["en"]}, "is_active": False}
    for who in ("a1", "a2", "market a", "master"):
        assert made["id"] in await list_ids(tenants, who, field)
    for who in ("b1", "market b"):
        assert await list_ids(tenants, who, field) == []


@BY_KIND
async def test_who_may_not_and_what_cannot_be_is_refused(
    tenants: Tenants, ask: Transport, table: str, field: str, create: Any, update: Any, more: dict[str, Any]
) -> None:
    uuid = str(tenants.marketplaces["a"].uuid)
    assert (await ask.change("master", create, name=NAME, marketplace_uuid=uuid, **more)).done
    id = (await tenants.newest(table))["id"]
    before = await tenants.snapshot()
    assert (await ask.change("a1", create, name=NAME, **more)).wrong == {("", "FORBIDDEN")}
    assert (await ask.change("a1", update, id=id, ranking=5)).wrong == {("", "FORBIDDEN")}
    assert (await ask.change("market b", update, id=id, ranking=5)).wrong == {("", "NOT_FOUND")}
    assert (await ask.change("market b", create, name=NAME, marketplace_uuid=uuid, **more)).wrong == {
        ("marketplace_uuid", "INVALID")
    }
    assert (await ask.change("master", create, name=NAME, **more)).wrong == {("marketplace_uuid", "INVALID")}
    for sent, where in (
        ({"name": {"en": " "}}, "name"),
        ({"name": {"de": "x" * 121}}, "name.de TOO_LONG"),
        ({"ranking": -1}, "ranking OUT_OF_RANGE"),
    ):
        assert (await ask.change("market a", create, **{"name": NAME, **more, **sent})).wrong == mistake(where)
    assert (await ask.change("market a", update, id=id, name={"en": None, "fr": ""})).wrong == {("name", "INVALID")}
    assert await tenants.snapshot() == before


async def test_a_price_range_ends_above_where_it_begins(tenants: Tenants, ask: Transport) -> None:
    create, update = taxonomy.create_price_range, taxonomy.update_price_range
    assert (await ask.change("market b", create, name=NAME, minimum="10.00", maximum="20.00")).done
    made = await tenants.newest("price_range")
    assert (made["minimum_amount"], made["maximum_amount"], made["currency"]) == (10, 20, "CHF")
    before = await tenants.snapshot()
    refused = {("maximum", "OUT_OF_RANGE")}
    assert (await ask.change("market b", create, name=NAME, minimum="10.00", maximum="10.00")).wrong == refused
    assert (await ask.change("market b", update, id=made["id"], minimum="20.00")).wrong == refused
    assert await tenants.snapshot() == before
    assert (await ask.change("market b", update, id=made["id"], maximum=None)).done
    assert (await tenants.row("price_range", made["id"]))["maximum_amount"] is None


# ---- finding prototypes


async def filter_prototypes(tenants: Tenants, who: str = "a1", **asked: Any) -> list[int]:
    """The ranking of the prototypes that a filter finds, in the order asked for."""
    query = """query ($filter: VoucherPrototypeFilter, $by: VoucherPrototypeSort!) {
        voucherPrototypes(filter: $filter, orderBy: $by) { edges { node { ranking } } } }"""
    body = await tenants.graphql(who, query, filter=asked.get("filter"), by=asked.get("by", "RANKING"))
    assert "errors" not in body, body
    return [edge["node"]["ranking"] for edge in body["data"]["voucherPrototypes"]["edges"]]


async def three_prototypes(tenants: Tenants) -> tuple[list[UniverseRow], list[VoucherPrototypeRow]]:
    """Prototypes of two universes, ranked 0 to 2, of which the first is not active and the second a highlight."""
    universes = [
        await tenants.add(UniverseRow(marketplace_id=tenants.marketplaces["a"].id, name=Text(en=name)))
        for name in ("Stays", "Tables")
    ]
    kinds = (VoucherPrototypeType.STAY, VoucherPrototypeType.STANDARD, VoucherPrototypeType.FIXED_STAY)
    names = (Text(en="50% of a night", de="Meer"), Text(fr="Dîner d’été"), Text(pt="en_fr"))
    silent = ("description", "long_description", "rent_conditions", "how_to_book_html", "pdf_description")
    nothing: dict[str, Any] = {text: Text() for text in silent}
    rows = [
        await tenants.add(
            VoucherPrototypeRow(
                partner_id=tenants.partners["a1"].id,
                universe_id=universes[at % 2].id,
                name=name,
                slug=f"experience-{at}",
                type=kind,
                stay_price_amount=Decimal(30 - at),
                is_active=at > 0,
                is_highlight=at == 1,
                ranking=at,
                **nothing,
            )
        )
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    return universes, rows


async def test_a_filter_finds_what_it_says(tenants: Tenants) -> None:
    universes, rows = await three_prototypes(tenants)
    for asked, expected in (
        ({}, [0, 1, 2]),
        ({"isActive": True}, [1, 2]),
        ({"isHighlight": True}, [1]),
        ({"type": "FIXED_STAY"}, [2]),
        ({"universeId": universes[0].id}, [0, 2]),
        ({"environmentId": 1}, []),
        ({"priceAtLeast": "29.00"}, [0, 1]),
        ({"priceAtMost": "29.00", "isActive": True}, [1, 2]),
        ({"priceAtLeast": "28.00", "priceBelow": "30.00"}, [1, 2]),
        ({"ids": [rows[2].id, rows[0].id]}, [0, 2]),
        ({"nameContains": "meer"}, [0]),
        ({"nameContains": "DÎNER"}, [1]),
        ({"nameContains": "n_f"}, [2]),
        ({"nameContains": "0%"}, [0]),
        ({"nameContains": '"'}, []),
        ({"nameContains": "fr"}, [2]),
    ):
        assert await filter_prototypes(tenants, filter=asked) == expected, asked
    assert await filter_prototypes(tenants, "a2") == []
    assert await filter_prototypes(tenants, by="PRICE") == [2, 1, 0]
    assert await filter_prototypes(tenants, by="PRICE_DESCENDING") == [0, 1, 2]
    assert await filter_prototypes(tenants, by="OLDEST") == [0, 1, 2]
    assert await filter_prototypes(tenants, by="NEWEST") == [2, 1, 0]


async def test_only_translated_texts_say_something() -> None:
    with pytest.raises(TypeError, match="is not a translated text"):
        Where("ranking", "says").check(VoucherPrototypeRow)


@pytest.mark.parametrize("many", [1, 6])
async def test_what_a_list_of_prototypes_costs_does_not_grow_with_it(tenants: Tenants, many: int) -> None:
    of: dict[str, Any] = {"partner_id": tenants.partners["a1"].id}
    universe = await tenants.add(UniverseRow(marketplace_id=tenants.marketplaces["a"].id, name=Text(en="Stays")))
    silent = ("description", "long_description", "rent_conditions", "how_to_book_html", "pdf_description")
    nothing: dict[str, Any] = {text: Text() for text in ("name", *silent)}
    for at in range(many):
        prototype = await tenants.add(
            VoucherPrototypeRow(
                **of,
                **nothing,
                slug=f"experience-{at}",
                universe_id=universe.id,
                type=VoucherPrototypeType.STAY,
                stay_price_amount=Decimal(at),
                ranking=0,
            )
        )
        media = MediaRow(**of, name="It", content_type="image/webp", size=1, width=1, height=1, digest="0" * 64)
        picture = (await tenants.add(media)).id
        await tenants.add(PrototypeImageRow(**of, voucher_prototype_id=prototype.id, media_id=picture, position=1))
    headers = {"Authorization": f"Token {tenants.tokens['a1']}"}

    async def rest() -> Any:
        return (await tenants.client.get("/api/voucher_prototypes/?page_size=50", headers=headers)).json()

    with fetched(tenants.services.db) as seen:  # the page with its partners, pictures
        page = await rest()
    assert (len(seen), len(page["results"]), page["results"][many - 1]["images"]) == (2, many, [picture])
    query = "{ voucherPrototypes { nodes { universe { id } images { media { id } } optionLinks { id } } } }"
    with fetched(tenants.services.db) as seen:
        body = await tenants.graphql("a1", query)
    assert (len(seen), len(body["data"]["voucherPrototypes"]["nodes"])) == (4, many)
