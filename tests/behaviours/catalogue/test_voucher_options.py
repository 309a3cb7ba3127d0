"""Options, categories and links: who makes, sees and changes them, what is kept, what is refused, and that it changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from schema.validation.languages import LANGUAGES
from tests.fixtures.catalogue.catalogue import OPTION_PATHS, Options, OptionsOverRest, options_over
from tests.fixtures.catalogue.catalogue_input import (
    CATEGORY,
    CATEGORY_DEFAULTS,
    LEAST_OPTION,
    LINK,
    OPTION,
    OPTION_DEFAULTS,
    OPTION_SAID,
    NamedByOptions,
    create_one,
    link_of,
    linked,
    named_by_options,
)
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stored = Callable[[], Awaitable[Any]]
CATEGORIES = OPTION_PATHS[CATEGORY]
MAY_NOT = {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def catalogue(tenants: Tenants) -> NamedByOptions:
    """Prototypes and categories."""
    return await named_by_options(tenants)


@pytest.fixture
def options(transport: Transport) -> Options:
    """Options, by each way to ask."""
    return options_over(transport)


# ---- what is kept


async def test_what_is_required_makes_an_option_with_the_documented_defaults(options: Options) -> None:
    partner = options.tenants.partners["a1"]
    option = await create_one(options, OPTION, LEAST_OPTION)
    assert option == {
        **LEAST_OPTION, **OPTION_DEFAULTS, "id": option["id"], "partner": partner.id, "partner_uuid": str(partner.uuid)
    }  # fmt: skip
    assert (await options.get(OPTION, "a1", option["id"])).result == option
    assert option in (await options.list_all(OPTION, "a1")).result


async def test_an_option_keeps_all_that_is_sent(options: Options, catalogue: NamedByOptions) -> None:
    first, second, _ = catalogue.prototypes
    sent = {
        **LEAST_OPTION,
        "selling_price": 12.5,
        "is_active": False,
        "countable": True,
        "is_global": True,
        "ranking": 7,
        "voucher_prototypes_ids": [second, first, second],
        "category_id": catalogue.category,
        "partner_uuid": str(options.tenants.partners["a1"].uuid),
    }
    for who in ("a1", "market a", "master"):
        option = await create_one(options, OPTION, sent, who)
        assert {key: option[key] for key in sent} == {**sent, "voucher_prototypes_ids": [first, second]}
        assert (await options.get(OPTION, who, option["id"])).result == option
        rows = await options.tenants.rows(
            "SELECT count, included FROM voucher_option_link WHERE option_id = :id", id=option["id"]
        )
        assert [tuple(row) for row in rows] == [(1, False), (1, False)]


async def test_what_is_required_makes_a_category_with_the_documented_defaults(options: Options) -> None:
    partner = options.tenants.partners["a1"]
    sent = {**OPTION_SAID, "partner_uuid": str(partner.uuid)}
    category = await create_one(options, CATEGORY, sent)
    assert category == {**sent, **CATEGORY_DEFAULTS, "id": category["id"], "partner": partner.id}
    more = {"is_active": False, "ranking": 3, "min_number_options": 0, "max_number_options": 4}
    full = await create_one(options, CATEGORY, {**sent, **more}, "market a")
    assert {key: full[key] for key in more} == more
    assert (await options.get(CATEGORY, "a1", full["id"])).result == full


async def test_a_category_changes_in_what_is_sent(options: Options) -> None:
    category = await create_one(options, CATEGORY, {**OPTION_SAID, "min_number_options": 1, "max_number_options": 2})
    sent = {"name_fr": "Bien-être", "description_de": "", "ranking": 9, "min_number_options": None, "is_active": False}
    answer = await options.update(CATEGORY, "a1", category["id"], sent)
    assert answer.result == {**category, **sent}
    assert (await options.get(CATEGORY, "a1", category["id"])).result == answer.result


async def test_a_link_and_its_option_change_together(options: Options, catalogue: NamedByOptions) -> None:
    first, second, third = catalogue.prototypes
    option, link = await linked(options, first, ranking=5)
    await options.tenants.execute("UPDATE voucher_option_link SET count = 4, included = true WHERE id = :id", id=link)
    change = {"name_fr": "Soin", "selling_price": 7.05, "countable": True, "category_id": catalogue.category}
    sent = {"count": 2, "included": False, "option": {**change, "voucher_prototypes_ids": [third, first]}}
    answer = await options.update(LINK, "a1", link, sent)
    changed = {**option, **change, "voucher_prototypes_ids": [first, third]}
    assert answer.result == {"id": link, "count": 2, "included": False, "option": changed}
    assert (await options.get(OPTION, "a1", option["id"])).result == changed
    for key, value in (("count", 3), ("included", True)):
        answer = await options.update(LINK, "a1", link, {key: value})
        assert (answer.result[key], answer.result["option"]) == (value, changed)
    kept = await options.update(LINK, "a1", link, {"option": {"voucher_prototypes_ids": [first, second]}})
    assert kept.result["option"]["voucher_prototypes_ids"] == [first, second]
    assert (kept.result["id"], kept.result["count"], kept.result["included"]) == (link, 3, True)
    cleared = await options.update(LINK, "a1", link, {"option": {"category_id": None, "name_fr": ""}})
    assert (cleared.result["option"]["category_id"], cleared.result["option"]["name_fr"]) == (None, "")


async def test_lists_are_by_ranking_then_by_id(options: Options, catalogue: NamedByOptions) -> None:
    prototype = catalogue.prototypes[2]
    for kind in (OPTION, CATEGORY):
        for ranking in (3, 2, 3):
            await create_one(
                options, kind, {**OPTION_SAID, **({"selling_price": 1} if kind == OPTION else {}), "ranking": ranking}
            )
        rows = (await options.list_all(kind, "a1")).result
        places = [(row["ranking"], row["id"]) for row in rows]
        assert places == sorted(places)
        assert len(places) > 3
    await linked(options, prototype, ranking=900)
    soon = await linked(options, prototype, ranking=800)
    token = {"Authorization": f"Token {options.tenants.tokens['a1']}"}
    body = (await options.tenants.client.get(f"/api/voucher_prototypes/{prototype}/options/", headers=token)).json()
    query = "query($id: Int!) { voucherPrototype(id: $id) { optionLinks { id option { ranking } } } }"
    graph = (await options.tenants.graphql("a1", query, id=prototype))["data"]["voucherPrototype"]["optionLinks"]
    assert [row["id"] for row in body] == [row["id"] for row in graph]
    places = [(row["option"]["ranking"], row["id"]) for row in body]
    assert places == sorted(places)
    assert next(row for row in body if row["id"] == soon[1]) == {
        "id": soon[1],
        "count": 1,
        "included": False,
        "option": soon[0],
    }


# ---- what is refused


BAD_OPTION: list[tuple[str, Any]] = [
    ("selling_price", -1),
    ("selling_price", 1.005),
    ("selling_price", 10**10),
    ("ranking", -1),
    ("category_id", 999_999),
    ("name_fr", "x" * 201),
    ("description_pt", "x" * 2001),
]
BAD_OVER_REST: list[tuple[str, Any]] = [
    ("selling_price", "dear"),
    ("selling_price", None),
    ("selling_price", True),
    ("name_en", 5),
    ("is_active", "perhaps"),
    ("countable", None),
    ("is_global", 2),
    ("ranking", 1.5),
    ("ranking", True),
    ("category_id", "x"),
    ("voucher_prototypes_ids", "x"),
    ("voucher_prototypes_ids", None),
    ("partner_uuid", "x"),
]
BAD_CATEGORY: list[tuple[str, Any]] = [
    ("min_number_options", -1),
    ("max_number_options", -1),
    ("max_number_options", 10**7),
    ("ranking", -5),
    ("name_it", "x" * 201),
]


@pytest.mark.parametrize(("key", "value"), [*BAD_OPTION, *BAD_OVER_REST])
async def test_a_bad_option_is_refused_at_its_key(
    options: Options, catalogue: NamedByOptions, stored: Stored, key: str, value: Any
) -> None:
    _, link = await linked(options, catalogue.prototypes[0])
    before = await stored()
    for answer, place in (
        (await options.create(OPTION, "a1", {**LEAST_OPTION, key: value}), key),
        (await options.update(LINK, "a1", link, {"option": {key: value}}), f"option.{key}"),
    ):
        assert answer.status == 400
        typed = isinstance(options.transport, OverGraphQL) and (key, value) in BAD_OVER_REST
        assert answer.fields == {place} or (typed and not answer.fields), answer
    assert await stored() == before


@pytest.mark.parametrize(("key", "value"), BAD_CATEGORY)
async def test_a_bad_category_is_refused_at_its_key(options: Options, stored: Stored, key: str, value: Any) -> None:
    category = await create_one(options, CATEGORY, OPTION_SAID)
    before = await stored()
    uuid = str(options.tenants.partners["a1"].uuid)
    assert (await options.create(CATEGORY, "a1", {**OPTION_SAID, "partner_uuid": uuid, key: value})).fields == {key}
    assert (await options.update(CATEGORY, "a1", category["id"], {key: value})).fields == {key}
    assert await stored() == before


BLANK = dict.fromkeys([f"name_{at}" for at in LANGUAGES], "")


async def test_what_cannot_be_is_refused_and_nothing_changes(
    options: Options, catalogue: NamedByOptions, stored: Stored
) -> None:
    first = catalogue.prototypes[0]
    option, link = await linked(options, first)
    other, nobody = (str(uuid) for uuid in (options.tenants.partners["a2"].uuid, uuid4()))
    mixed = [first, catalogue.foreign_prototype, first, 999_999]
    before = await stored()
    refused = [
        (await options.create(OPTION, "a1", {**LEAST_OPTION, "voucher_prototypes_ids": mixed}),
         {"voucher_prototypes_ids.1", "voucher_prototypes_ids.3"}),
        (await options.update(LINK, "a1", link, {"option": {"voucher_prototypes_ids": mixed}}),
         {"option.voucher_prototypes_ids.1", "option.voucher_prototypes_ids.3"}),
        (await options.update(LINK, "a1", link, {"option": {"voucher_prototypes_ids": catalogue.prototypes[1:]}}),
         {"option.voucher_prototypes_ids"}),
        (await options.create(OPTION, "a1", {**LEAST_OPTION, "category_id": catalogue.foreign_category}), {"category_id"}),
        (await options.create(OPTION, "market a", {**LEAST_OPTION, "partner_uuid": other, "category_id": catalogue.category}),
         {"category_id"}),
        (await options.update(LINK, "a1", link, {"option": {"category_id": catalogue.foreign_category}}),
         {"option.category_id"}),
        (await options.update(LINK, "a1", link, {"count": 0}), {"count"}),
        (await options.update(LINK, "market a", link, {"option": {"partner_uuid": other}}), {"option.partner_uuid"}),
        (await options.create(OPTION, "a1", {**LEAST_OPTION, "partner_uuid": other}), {"partner_uuid"}),
        (await options.create(OPTION, "a1", {**LEAST_OPTION, "partner_uuid": nobody}), {"partner_uuid"}),
        (await options.create(OPTION, "market a", LEAST_OPTION), {"partner_uuid"}),
        (await options.create(OPTION, "a1", {**LEAST_OPTION, **BLANK}), {"name_en"}),
        (await options.update(LINK, "a1", link, {"count": 3, "option": BLANK}), {"option.name_en"}),
    ]  # fmt: skip
    for answer, fields in refused:
        assert (answer.status, answer.fields) == (400, fields), answer
    assert await stored() == before
    assert (await options.get(OPTION, "a1", option["id"])).result == option


async def test_what_a_category_cannot_be_is_refused_and_nothing_changes(options: Options, stored: Stored) -> None:
    own, other = (str(options.tenants.partners[name].uuid) for name in ("a1", "a2"))
    range_of = {"min_number_options": 2, "max_number_options": 5}
    category = await create_one(options, CATEGORY, {**OPTION_SAID, **range_of})
    before = await stored()
    refused = [
        (await options.create(CATEGORY, "a1", {**OPTION_SAID, "partner_uuid": own, **range_of, "max_number_options": 1}),
         {"max_number_options"}),
        (await options.update(CATEGORY, "a1", category["id"], {"max_number_options": 1}), {"max_number_options"}),
        (await options.update(CATEGORY, "a1", category["id"], {"min_number_options": 6}), {"min_number_options"}),
        (await options.update(CATEGORY, "market a", category["id"], {"partner_uuid": other}), {"partner_uuid"}),
        (await options.update(CATEGORY, "a1", category["id"], BLANK), {"name_en"}),
    ]  # fmt: skip
    for answer, fields in refused:
        assert (answer.status, answer.fields) == (400, fields), answer
    assert await stored() == before
    assert (await options.get(CATEGORY, "a1", category["id"])).result == category


async def test_who_may_not_changes_and_sees_nothing(
    options: Options, catalogue: NamedByOptions, stored: Stored
) -> None:
    option, link = await linked(options, catalogue.prototypes[0])
    category = await create_one(options, CATEGORY, OPTION_SAID)
    uuid = {"partner_uuid": str(options.tenants.partners["a1"].uuid)}
    before = await stored()
    for who, status in MAY_NOT.items():
        for answer in (
            await options.create(OPTION, who, LEAST_OPTION),
            await options.create(CATEGORY, who, {**OPTION_SAID, **uuid}),
            await options.update(LINK, who, link, {"count": 2}),
            await options.update(CATEGORY, who, category["id"], {"ranking": 2}),
            await options.get(OPTION, who, option["id"]),
            await options.get(CATEGORY, who, category["id"]),
            await options.list_all(OPTION, who),
            await options.list_all(CATEGORY, who),
        ):
            assert answer.status == status
    for who in ("a2", "b1", "market b"):
        for answer in (
            await options.update(LINK, who, link, {"count": 0}),
            await options.update(CATEGORY, who, category["id"], {"ranking": -2}),
            await options.get(OPTION, who, option["id"]),
            await options.get(CATEGORY, who, category["id"]),
        ):
            assert answer.status == 404
        for kind, id in ((OPTION, option["id"]), (CATEGORY, category["id"])):
            assert id not in [row["id"] for row in (await options.list_all(kind, who)).result]
    assert await stored() == before


# ---- REST, in every detail


async def test_rest_asks_for_each_documented_key(tenants: Tenants, catalogue: NamedByOptions, stored: Stored) -> None:
    options = OptionsOverRest(OverRest(tenants))
    _, link = await linked(options, catalogue.prototypes[0])
    category = await create_one(options, CATEGORY, OPTION_SAID)
    uuid = {"partner_uuid": str(tenants.partners["a1"].uuid)}
    whole: list[tuple[str, str, Mapping[str, Any]]] = [
        ("POST", "/api/voucher_options/", LEAST_OPTION),
        ("POST", "/api/voucher_option_categories/", {**OPTION_SAID, **uuid}),
        ("PUT", f"/api/voucher_option_categories/{category['id']}/", {**OPTION_SAID, **uuid}),
        ("PUT", f"/api/voucher_option_links/{link}/", {"count": 1, "included": True, "option": LEAST_OPTION}),
    ]
    before = await stored()
    for method, path, sent in whole:
        assert (await options.ask(method, path, "a1", {})).fields == set(sent)
        for key in sent:
            answer = await options.ask(method, path, "a1", {k: v for k, v in sent.items() if k != key})
            assert (answer.status, answer.fields) == (400, {key}), (path, key)
    nobody = {**OPTION_SAID, "partner_uuid": None}
    for method, path in (("POST", CATEGORIES), ("PUT", f"{CATEGORIES}{category['id']}/")):
        assert (await options.ask(method, path, "a1", nobody)).fields == {"partner_uuid"}
    assert await stored() == before
    for method, path, sent in whole:
        ignored = {"services_info": "x", "id": 5, "nonsense": [], "price": "x"}
        assert (await options.ask(method, path, "a1", {**sent, **ignored})).done


async def test_what_older_shops_send_is_taken(tenants: Tenants, catalogue: NamedByOptions) -> None:
    options = OptionsOverRest(OverRest(tenants))
    sent = {**LEAST_OPTION, "selling_price": "90.10", "ranking": "4", "category_id": "", "is_active": "false"}
    option = await create_one(options, OPTION, {**sent, "voucher_prototypes_ids": [str(catalogue.prototypes[0])]})
    link = await link_of(tenants, option["id"], catalogue.prototypes[0])
    assert (option["selling_price"], option["ranking"], option["category_id"]) == (90.1, 4, None)
    assert (option["is_active"], option["voucher_prototypes_ids"]) == (False, [catalogue.prototypes[0]])
    path = f"/api/voucher_option_links/{link}/"
    again = await options.ask("PUT", path, "a1", {"count": "2", "included": False, "option": option})
    assert again.result == {"id": link, "count": 2, "included": False, "option": option}, (
        "what was answered is taken back"
    )
    numbers = {"min_number_options": "", "max_number_options": "3"}
    category = await create_one(options, CATEGORY, {**OPTION_SAID, **numbers})
    assert (category["min_number_options"], category["max_number_options"]) == (None, 3)


async def test_the_array_of_categories_is_whole_unless_its_page_is_asked_for(tenants: Tenants) -> None:
    options = OptionsOverRest(OverRest(tenants))
    for _ in range(3):
        await create_one(options, CATEGORY, OPTION_SAID)
    whole = (await options.ask("GET", "/api/voucher_option_categories/", "a1")).result
    assert len(whole) > 2
    assert (await options.ask("GET", "/api/voucher_option_categories/?page_size=2", "a1")).result == whole[:2]


# ---- at once


async def test_two_ends_of_one_range_never_pass_each_other(options: Options) -> None:
    category = await create_one(options, CATEGORY, {**OPTION_SAID, "min_number_options": 1, "max_number_options": 9})
    answers = await asyncio.gather(
        *(options.update(CATEGORY, "a1", category["id"], {"min_number_options": 6}) for _ in range(4)),
        *(options.update(CATEGORY, "a1", category["id"], {"max_number_options": 5}) for _ in range(4)),
    )
    done = [answer.done for answer in answers]
    assert done in ([True] * 4 + [False] * 4, [False] * 4 + [True] * 4)
    assert {answer.status for answer in answers} == {200, 400}


async def test_links_that_are_made_at_once_are_there_once(options: Options, catalogue: NamedByOptions) -> None:
    first, second, third = catalogue.prototypes
    option, link = await linked(options, first)
    wanted = ([first, second, third], [first, third], [first, second])
    answers = await asyncio.gather(
        *(options.update(LINK, "a1", link, {"option": {"voucher_prototypes_ids": ids}}) for ids in wanted * 3)
    )
    assert all(answer.done for answer in answers)
    assert (await options.get(OPTION, "a1", option["id"])).result["voucher_prototypes_ids"] in wanted
