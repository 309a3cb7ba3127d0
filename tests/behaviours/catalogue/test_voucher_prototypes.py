"""Prototypes: who makes, sees and changes them, what is kept of them, what is refused, at which key, and that it changes nothing."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from schema.core.text import Text
from schema.validation.languages import LANGUAGES
from store.catalogue.catalogue import VoucherOptionLinkRow, VoucherOptionRow
from tests.fixtures.catalogue.catalogue import PROTOTYPE_PATH, Prototypes, PrototypesOverRest, in_each, prototypes_over
from tests.fixtures.catalogue.catalogue_input import (
    PROTOTYPE_DEFAULTS,
    NamedByPrototypes,
    create_prototype,
    full_prototype,
    least_prototype,
    named_by_prototypes,
)
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, ONLY_REST, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stored = Callable[[], Awaitable[Any]]
MAY_NOT = {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def catalogue(tenants: Tenants) -> NamedByPrototypes:
    """Universes, environments and pictures."""
    return await named_by_prototypes(tenants)


@pytest.fixture
def prototypes(transport: Transport) -> Prototypes:
    """Prototypes, by each way to ask."""
    return prototypes_over(transport)


# ---- what is kept


async def test_the_least_makes_a_prototype_with_the_documented_defaults(
    prototypes: Prototypes, catalogue: NamedByPrototypes, tenants: Tenants
) -> None:
    sent = least_prototype(catalogue)
    result = await create_prototype(prototypes, sent)
    partner = tenants.partners["a1"]
    expected = {
        **sent,
        **PROTOTYPE_DEFAULTS,
        "id": result["id"],
        "partner": partner.id,
        "partner_uuid": str(partner.uuid),
    }
    assert {**result, "name_en": "A night en"} == expected
    assert (await prototypes.get("a1", result["id"])).result == result
    kept = await tenants.row("voucher_prototype", result["id"])
    assert (kept["currency"], kept["nb_nights"], kept["validity_months"]) == ("EUR", 1, 12)


async def test_all_that_is_sent_is_kept_and_changed(prototypes: Prototypes, catalogue: NamedByPrototypes) -> None:
    sent = full_prototype(catalogue)
    result = await create_prototype(prototypes, sent)
    assert {key: result[key] for key in sent} == sent
    changes = {
        **in_each({"name": "Two nights"}),
        "description_fr": "",
        "type": "standard",
        "is_active": False,
        "stay_price": "120.00",
        "adults_price": None,
        "environment": None,
        "last_active_day": None,
        "max_capacity": 0,
        "images": [catalogue.media[2]],
    }
    changed = await prototypes.update("a1", result["id"], changes)
    assert changed.done, changed
    assert changed.result == {**result, **changes, "stay_price": 120.0, "cover_image": 1}
    same = await prototypes.update("a1", result["id"], {})
    assert same.result == changed.result


async def test_a_picture_that_was_put_away_stays_where_it_is(
    prototypes: Prototypes, catalogue: NamedByPrototypes, tenants: Tenants
) -> None:
    images = list(catalogue.media[:2])
    result = await create_prototype(prototypes, {**least_prototype(catalogue), "images": images})
    await tenants.execute("UPDATE media SET archived_on = now() WHERE id = :id", id=images[0])
    kept = await prototypes.update("a1", result["id"], {"images": images[::-1]})
    other = await prototypes.create("a1", {**least_prototype(catalogue), "images": images})
    await tenants.execute("UPDATE media SET archived_on = NULL WHERE id = :id", id=images[0])
    assert kept.result["images"] == images[::-1]
    assert other.fields == {"images.0"}


async def test_a_universe_that_was_closed_stays_where_it_is(
    prototypes: Prototypes, catalogue: NamedByPrototypes, tenants: Tenants
) -> None:
    result = await create_prototype(prototypes, least_prototype(catalogue))
    await tenants.execute("UPDATE universe SET is_active = false WHERE id = :id", id=catalogue.universe)
    changed = await prototypes.update("a1", result["id"], {"universe": catalogue.universe, "ranking": 3})
    refused = await prototypes.create("a1", least_prototype(catalogue))
    await tenants.execute("UPDATE universe SET is_active = true WHERE id = :id", id=catalogue.universe)
    assert changed.done
    assert refused.fields == {"universe"}


async def test_html_is_cleaned_and_text_is_kept_unchanged(prototypes: Prototypes, catalogue: NamedByPrototypes) -> None:
    html = '<p onclick="x()">Call <a href="javascript:x()">us</a><script>x()</script></p>'
    sent = {
        **least_prototype(catalogue),
        "how_to_book_html_en": html,
        "long_description_en": html,
        "pdf_description_fr": "<b>",
    }
    result = await create_prototype(prototypes, sent)
    assert result["how_to_book_html_en"] == '<p>Call <a rel="nofollow noopener noreferrer">us</a></p>'
    assert (result["long_description_en"], result["pdf_description_fr"]) == (html, "<b>")
    again = await prototypes.update("a1", result["id"], {"how_to_book_html_en": result["how_to_book_html_en"]})
    assert again.result == result


async def test_nights_are_told_or_follow_from_the_type(
    prototypes: Prototypes, catalogue: NamedByPrototypes, tenants: Tenants
) -> None:
    async def nights(**values: Any) -> Any:
        result = await create_prototype(prototypes, {**least_prototype(catalogue), **values})
        return (await tenants.row("voucher_prototype", result["id"]))["nb_nights"]

    assert [await nights(type=kind) for kind in ("stay", "standard", "fixed_stay")] == [1, 0, 1]
    assert await nights(type="fixed_stay", nb_nights=3) == 3
    refused = await prototypes.create("a1", {**least_prototype(catalogue), "type": "standard", "nb_nights": 2})
    assert refused.fields == {"nb_nights"}


# ---- what is refused

BAD: list[tuple[dict[str, Any], str]] = [
    ({f"name_{at}": "" for at in LANGUAGES}, "name_en"),
    ({f"description_{at}": " " for at in LANGUAGES}, "description_en"),
    ({f"long_description_{at}": None for at in LANGUAGES}, "long_description_en"),
    ({"name_fr": "x" * 201}, "name_fr"),
    ({"description_de": "x" * 2001}, "description_de"),
    ({"long_description_pt": "x" * 10_001}, "long_description_pt"),
    ({"rent_conditions_nl": "x" * 10_001}, "rent_conditions_nl"),
    ({"how_to_book_html_it": "x" * 10_001}, "how_to_book_html_it"),
    ({"how_to_book_html_it": "<b>" * 1001}, "how_to_book_html_it"),
    ({"how_to_book_html_it": "<b>" * 501}, "how_to_book_html_it"),  # closed, it could not be sent back
    ({"pdf_description_ca": "é" * 301}, "pdf_description_ca"),
    ({"stay_price": -1}, "stay_price"),
    ({"stay_price": 10.001}, "stay_price"),
    ({"adults_price": "-0.01"}, "adults_price"),
    ({"baby_price": 10**11}, "baby_price"),
    ({"price_scope": 0}, "price_scope"),
    ({"price_scope": 1000}, "price_scope"),
    ({"max_capacity": -1}, "max_capacity"),
    ({"min_capacity": -1}, "min_capacity"),
    ({"min_capacity": 3, "max_capacity": 2}, "max_capacity"),
    ({"ranking": -1}, "ranking"),
    ({"cover_image": 0}, "cover_image"),
    ({"cover_image": 2}, "cover_image"),
    ({"universe": 0}, "universe"),
    ({"universe": 2**31 - 1}, "universe"),
    ({"environment": 2**31 - 1}, "environment"),
    ({"images": [0]}, "images.0"),
    ({"images": [2**31 - 1]}, "images.0"),
]
OF_TYPES: list[tuple[str, Any]] = [
    ("type", "weekend"),
    ("type", None),
    ("is_active", "perhaps"),
    ("children_price", "ten"),
    ("is_highlight", None),
    ("price_scope", 1.5),
    ("max_capacity", True),
    ("last_active_day", "31/12/2030"),
    ("last_active_day", 5),
    ("images", 7),
    ("images", ["x"]),
    ("partner_uuid", "x"),
    ("universe", None),
]
"""What GraphQL's types refuse before the operation is asked."""


@pytest.mark.parametrize(("values", "where"), BAD, ids=lambda value: str(value)[:40])
async def test_what_cannot_be_is_refused_at_its_key_and_changes_nothing(
    prototypes: Prototypes, catalogue: NamedByPrototypes, stored: Stored, values: dict[str, Any], where: str
) -> None:
    result = await create_prototype(prototypes, least_prototype(catalogue))
    before = await stored()
    for answer in (
        await prototypes.create("a1", {**least_prototype(catalogue), **values}),
        await prototypes.update("a1", result["id"], values),
    ):
        assert (answer.status, answer.fields) == (400, {where}), answer
    assert await stored() == before


@pytest.mark.parametrize(("key", "value"), OF_TYPES)
async def test_what_is_of_no_good_type_is_refused(
    prototypes: Prototypes, catalogue: NamedByPrototypes, stored: Stored, key: str, value: Any
) -> None:
    result = await create_prototype(prototypes, least_prototype(catalogue))
    before = await stored()
    for answer in (
        await prototypes.create("a1", {**least_prototype(catalogue), key: value}),
        await prototypes.update("a1", result["id"], {key: value}),
    ):
        assert answer.status == 400
        by_its_types = not answer.fields and not isinstance(prototypes, PrototypesOverRest)
        assert by_its_types or {field.partition(".")[0] for field in answer.fields} == {key}
    assert await stored() == before


async def test_what_is_anothers_cannot_be_named(
    prototypes: Prototypes, catalogue: NamedByPrototypes, stored: Stored, tenants: Tenants
) -> None:
    result = await create_prototype(prototypes, least_prototype(catalogue))
    before = await stored()
    good = catalogue.media[0]
    for sent, where in (
        ({"images": [good, catalogue.of_another]}, {"images.1"}),
        ({"images": [catalogue.archived]}, {"images.0"}),
        ({"images": [good, good]}, {"images.1"}),
        ({"images": [good], "cover_image": 2}, {"cover_image"}),
        ({"universe": catalogue.other_universe}, {"universe"}),
        ({"universe": catalogue.closed_universe}, {"universe"}),
        ({"environment": catalogue.other_environment}, {"environment"}),
        ({"partner_uuid": str(tenants.partners["a2"].uuid)}, {"partner_uuid"}),
    ):
        assert (await prototypes.create("a1", {**least_prototype(catalogue), **sent})).fields == where, sent
        assert (await prototypes.update("a1", result["id"], sent)).fields == where, sent
    assert await stored() == before


async def test_everything_wrong_is_told_at_once(prototypes: Prototypes, catalogue: NamedByPrototypes) -> None:
    sent = {**least_prototype(catalogue), "min_capacity": 5, "max_capacity": 2, "universe": catalogue.other_universe}
    assert (await prototypes.create("a1", sent)).fields == {"max_capacity", "universe"}


@ONLY_REST  # GraphQL asks for one language, and has nothing like PUT
async def test_over_rest_every_required_key_is_wanted_of_a_post_and_a_put(
    prototypes: PrototypesOverRest, catalogue: NamedByPrototypes, stored: Stored
) -> None:
    sent = {**least_prototype(catalogue), "name_fr": "", "description_de": None}
    result = await create_prototype(prototypes, sent)
    before = await stored()
    for key in sent:
        without = {name: value for name, value in sent.items() if name != key}
        for method, path in (("POST", PROTOTYPE_PATH), ("PUT", f"{PROTOTYPE_PATH}{result['id']}/")):
            answer = await prototypes.ask(method, path, "a1", without)
            assert answer.wrong == {key: "This field is required."}, (method, key)
    nothing = await prototypes.ask("PUT", f"{PROTOTYPE_PATH}{result['id']}/", "a1", {})
    assert nothing.fields == set(sent)
    assert await stored() == before
    done = await prototypes.ask("PUT", f"{PROTOTYPE_PATH}{result['id']}/", "a1", {**sent, "name_en": "Changed"})
    assert done.result == {**result, "name_en": "Changed"}


# ---- whose they are


async def test_who_may_not_is_refused(prototypes: Prototypes, catalogue: NamedByPrototypes, stored: Stored) -> None:
    result = await create_prototype(prototypes, least_prototype(catalogue))
    before = await stored()
    for who, status in MAY_NOT.items():
        assert (await prototypes.create(who, least_prototype(catalogue))).status == status
        assert (await prototypes.update(who, result["id"], {"ranking": 2})).status == status
        assert (await prototypes.get(who, result["id"])).status == status
        assert (await prototypes.options(who, result["id"])).status == status
        assert (await prototypes.list_ids(who)).status == status
    assert await stored() == before


async def test_a_prototype_is_there_for_its_partner_and_those_above_it(
    prototypes: Prototypes, catalogue: NamedByPrototypes, stored: Stored, tenants: Tenants
) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    result = await create_prototype(
        prototypes, {**least_prototype(catalogue), "partner_uuid": uuid, "ranking": 0}, "market a"
    )
    before = await stored()
    for who in ("a1", "market a", "master"):
        assert (await prototypes.get(who, result["id"])).result == result
        assert (await prototypes.options(who, result["id"])).result == []
        assert result["id"] in (await prototypes.list_ids(who)).result
    for who in ("a2", "b1", "market b"):
        assert (await prototypes.get(who, result["id"])).status == 404
        assert (await prototypes.options(who, result["id"])).status == 404
        assert (await prototypes.update(who, result["id"], {"ranking": "wrong"})).status in {400, 404}
        assert (await prototypes.update(who, result["id"], {"price_scope": 0})).status == 404
        assert result["id"] not in (await prototypes.list_ids(who)).result
    assert (await prototypes.create("market a", least_prototype(catalogue))).fields == {"partner_uuid"}
    assert (await prototypes.create("b1", {**least_prototype(catalogue), "partner_uuid": uuid})).fields == {
        "partner_uuid"
    }
    for nothing in (0, 2**31 - 1):
        assert (await prototypes.get("a1", nothing)).status == 404
        assert (await prototypes.update("a1", nothing, {"ranking": 2})).status == 404
    assert await stored() == before


async def test_the_options_of_a_prototype_are_listed_best_ranked_first(
    prototypes: Prototypes, catalogue: NamedByPrototypes, tenants: Tenants
) -> None:
    result = await create_prototype(prototypes, least_prototype(catalogue))
    of: dict[str, Any] = {"partner_id": tenants.partners["a1"].id}
    links = []
    for ranking, included in ((2, True), (1, False)):
        texts: dict[str, Any] = {"name": Text(en="Wine"), "description": Text(en="Red")}
        option = await tenants.add(VoucherOptionRow(**of, **texts, selling_price_amount=Decimal(9), ranking=ranking))
        linked = {"voucher_prototype_id": result["id"], "option_id": option.id}
        link = await tenants.add(VoucherOptionLinkRow(**of, **linked, count=ranking, included=included))
        links.append((link.id, ranking, included, option.id))
    assert (await prototypes.options("a1", result["id"])).result == links[::-1]


async def test_the_array_of_options_is_whole_unless_its_page_is_asked_for(
    tenants: Tenants, catalogue: NamedByPrototypes
) -> None:
    prototypes = PrototypesOverRest(OverRest(tenants))
    result = await create_prototype(prototypes, least_prototype(catalogue))
    of: dict[str, Any] = {"partner_id": tenants.partners["a1"].id}
    for _ in range(3):
        option = await tenants.add(VoucherOptionRow(**of, name=Text(en="Wine"), description=Text(), selling_price_amount=Decimal(9)))  # fmt: skip
        await tenants.add(VoucherOptionLinkRow(**of, voucher_prototype_id=result["id"], option_id=option.id))
    path = f"{PROTOTYPE_PATH}{result['id']}/options/"
    whole = (await prototypes.ask("GET", path, "a1")).result
    assert len(whole) == 3
    assert (await prototypes.ask("GET", f"{path}?page=2", "a1")).result == whole
    headers = prototypes.transport.headers("a1")
    first, second = [await tenants.client.get(f"{path}?page_size=2&page={at}", headers=headers) for at in (1, 2)]
    assert (first.json(), second.json()) == (whole[:2], whole[2:])
    assert 'page=2>; rel="next"' in first.headers["link"]
    assert 'page=1>; rel="prev"' in second.headers["link"]
    for query, status in (("page_size=2&page=3", 404), ("page_size=101", 400), ("page_size=x", 400), ("page=0", 400)):
        assert (await prototypes.ask("GET", f"{path}?{query}", "a1")).status == status, query
    assert (await prototypes.ask("GET", f"{path}?page_size=0", "a2")).status == 404


async def test_what_older_shops_send_empty_clears(tenants: Tenants, catalogue: NamedByPrototypes) -> None:
    prototypes = PrototypesOverRest(OverRest(tenants))
    result = await create_prototype(prototypes, full_prototype(catalogue))
    clearable = ("adults_price", "children_price", "baby_price", "environment", "last_active_day")
    assert all(result[key] is not None for key in clearable)
    changed = await prototypes.update("a1", result["id"], dict.fromkeys(clearable, ""))
    assert changed.result == {**result, **dict.fromkeys(clearable)}
    bare = await create_prototype(prototypes, {**least_prototype(catalogue), **dict.fromkeys(clearable, "")})
    assert [bare[key] for key in clearable] == [None] * 5
