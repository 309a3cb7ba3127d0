"""Options, categories and links as GraphQL has them beyond REST: services, links of their own, filters, what a list costs."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import uuid4

import orjson
import pytest

from resolvers.catalogue import option_categories, option_links, options
from rest_compat.resources.voucher_option import ORDERED_OPTION
from schema.catalogue.option import OptionService
from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.text import Text
from store.catalogue.catalogue import (
    UniverseRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from tests.changes import Transport
from tests.fixtures.tenants import Tenants
from tests.statements import fetched

SERVICE = {"cost": "40.00", "buying_vat": "20.00", "selling_vat": "5.50", "price": "90.00"}
OTHER_SERVICE = {**SERVICE, "price": "0.50"}


def stored_service(service: dict[str, str]) -> dict[str, Any]:
    """A service as it is stored."""
    return {key: {"amount": of, "currency": "EUR"} if key in {"cost", "price"} else of for key, of in service.items()}


async def prototype_of(tenants: Tenants, partner: str) -> int:
    """A prototype of a partner."""
    owner = tenants.partners[partner]
    universe = await tenants.add(UniverseRow(marketplace_id=owner.marketplace_id, name=Text(en="Stays")))
    names = ("description", "long_description", "rent_conditions", "how_to_book_html", "pdf_description")
    texts: Any = dict.fromkeys(names, Text())
    of: dict[str, Any] = {"partner_id": owner.id, "universe_id": universe.id, "type": VoucherPrototypeType.STAY}
    row = VoucherPrototypeRow(**of, name=Text(en="A night"), slug=uuid4().hex, stay_price_amount=Decimal(100), **texts)
    id: int = (await tenants.add(row)).id
    return id


async def link_of(tenants: Tenants, partner: str, prototype: int, **more: Any) -> int:
    """A link from the option of a partner to a prototype."""
    of: dict[str, Any] = {
        "partner_id": tenants.partners[partner].id,
        "option_id": tenants.owned[partner].voucher_option,
    }
    id: int = (await tenants.add(VoucherOptionLinkRow(**of, voucher_prototype_id=prototype, **more))).id
    return id


async def test_what_an_option_consists_of_is_kept_exactly(tenants: Tenants, ask: Transport) -> None:
    new = {"name": {"en": "Massage"}, "selling_price": "90.00", "source_id": "SPA-1"}
    assert (await ask.change("a1", options.create_voucher_option, **new, services=[SERVICE])).done
    row = await tenants.newest("voucher_option")
    assert (row["services"], row["source_id"], row["description"]) == ([stored_service(SERVICE)], "SPA-1", {})
    update = options.update_voucher_option
    both = [OTHER_SERVICE, SERVICE]
    assert (await ask.change("a1", update, id=row["id"], services=both, ranking=3)).done
    changed = await tenants.row("voucher_option", row["id"])
    assert (changed["services"], changed["ranking"], changed["source_id"]) == (
        list(map(stored_service, both)),
        3,
        "SPA-1",
    )
    query = "query($id: Int!) { voucherOption(id: $id) { services { sellingVat price { amount currency } } } }"
    body = await tenants.graphql("a1", query, id=row["id"])
    assert body["data"]["voucherOption"]["services"] == [
        {"sellingVat": "5.50", "price": {"amount": "0.50", "currency": "EUR"}},
        {"sellingVat": "5.50", "price": {"amount": "90.00", "currency": "EUR"}},
    ]
    before = await tenants.snapshot()
    for field, bad in (("cost", "-1"), ("buying_vat", "100.01"), ("selling_vat", "1.005")):
        outcome = await ask.change("a1", update, id=row["id"], services=[SERVICE, {**SERVICE, field: bad}])
        assert {place for place, _ in outcome.wrong} == {f"services.1.{field}"}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", update, id=row["id"], services=[])).done
    assert (await tenants.row("voucher_option", row["id"]))["services"] == []


async def test_an_option_changes_by_its_own_id(tenants: Tenants, ask: Transport) -> None:
    own, first, second = tenants.owned["a1"], *[await prototype_of(tenants, "a1") for _ in range(2)]
    await link_of(tenants, "a1", first, count=3, included=True)
    update = options.update_voucher_option
    sent = {
        "name": {"fr": "Soin"},
        "category_id": own.voucher_option_category,
        "voucher_prototype_ids": [second, first],
    }
    assert (await ask.change("a1", update, id=own.voucher_option, **sent)).done
    row = await tenants.row("voucher_option", own.voucher_option)
    assert (row["name"], row["category_id"]) == ({"en": "Of a1", "fr": "Soin"}, own.voucher_option_category)
    links = "SELECT voucher_prototype_id, count, included FROM voucher_option_link ORDER BY voucher_prototype_id"
    assert [tuple(link) for link in await tenants.rows(links)] == [(first, 3, True), (second, 1, False)]
    assert (await ask.change("a1", update, id=own.voucher_option, voucher_prototype_ids=[], category_id=None)).done
    assert not await tenants.rows(links)
    assert (await tenants.row("voucher_option", own.voucher_option))["category_id"] is None


async def test_a_link_is_made_changed_and_taken_out(tenants: Tenants, ask: Transport) -> None:
    prototype, option = await prototype_of(tenants, "a1"), tenants.owned["a1"].voucher_option
    foreign, neighbour = await prototype_of(tenants, "b1"), await prototype_of(tenants, "a2")
    create, both = (
        option_links.create_voucher_option_link,
        {"voucher_prototype_id": prototype, "option_id": option},
    )
    before = await tenants.snapshot()
    assert (await ask.change("a1", create, **{**both, "voucher_prototype_id": foreign})).wrong == {("", "NOT_FOUND")}
    assert (await ask.change("a1", create, **{**both, "option_id": 999_999})).wrong == {("", "NOT_FOUND")}
    mixed = await ask.change("market a", create, **{**both, "voucher_prototype_id": neighbour})
    assert mixed.wrong == {("option_id", "INVALID")}
    assert (await ask.change("a1", create, **both, count=0)).wrong == {("count", "OUT_OF_RANGE")}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", create, **both)).done
    link = await tenants.newest("voucher_option_link")
    assert (link["count"], link["included"], link["partner_id"]) == (1, True, tenants.partners["a1"].id)
    again = await ask.change("market a", create, **both)
    assert again.wrong == {("option_id", "ALREADY_TAKEN")}
    update, delete = option_links.update_voucher_option_link, option_links.delete_voucher_option_link
    assert (await ask.change("a1", update, id=link["id"], count=2, included=False)).done
    row = await tenants.row("voucher_option_link", link["id"])
    assert (row["count"], row["included"]) == (2, False)
    for who in ("a2", "b1", "market b"):
        for operation in (update, delete):
            assert (await ask.change(who, operation, id=link["id"])).wrong == {("", "NOT_FOUND")}
    assert (await ask.change("a1", delete, id=link["id"])).done
    assert not await tenants.rows("SELECT 1 FROM voucher_option_link")
    assert (await ask.change("a1", delete, id=link["id"])).wrong == {("", "NOT_FOUND")}


async def test_two_links_of_the_same_are_one(tenants: Tenants, ask: Transport) -> None:
    prototype, option = await prototype_of(tenants, "a1"), tenants.owned["a1"].voucher_option
    create = option_links.create_voucher_option_link
    outcomes = await asyncio.gather(
        *(ask.change("a1", create, voucher_prototype_id=prototype, option_id=option) for _ in range(6))
    )
    assert sorted(outcome.done for outcome in outcomes) == [False] * 5 + [True]
    assert {outcome.wrong for outcome in outcomes if not outcome.done} == {frozenset({("option_id", "ALREADY_TAKEN")})}
    assert await tenants.one("SELECT count(*) FROM voucher_option_link") == 1


async def test_a_link_that_goes_while_it_is_changed_is_not_there(tenants: Tenants, ask: Transport) -> None:
    """Whoever comes second finds either the link or nothing; nobody waits for the other for ever."""
    update, delete = option_links.update_voucher_option_link, option_links.delete_voucher_option_link
    for _ in range(3):
        link = await link_of(tenants, "a1", await prototype_of(tenants, "a1"))
        changed = [ask.change("a1", update, id=link, count=2, option={"ranking": n}) for n in range(3)]
        gone = [ask.change("a1", delete, id=link) for _ in range(2)]
        outcomes = await asyncio.gather(*changed, *gone)
        assert {outcome.wrong for outcome in outcomes} <= {frozenset(), frozenset({("", "NOT_FOUND")})}
        assert sorted(outcome.done for outcome in outcomes[3:]) == [False, True]
        assert not await tenants.rows("SELECT 1 FROM voucher_option_link")


async def ids(tenants: Tenants, field: str, filter: str, order: str = "RANKING") -> list[int]:
    """What a list holds."""
    body = await tenants.graphql("a1", f"{{ {field}(filter: {{ {filter} }}, orderBy: {order}) {{ nodes {{ id }} }} }}")
    assert "errors" not in body, body
    return [node["id"] for node in body["data"][field]["nodes"]]


async def test_lists_are_filtered_and_ordered(tenants: Tenants) -> None:
    own, partner = tenants.owned["a1"], tenants.partners["a1"]
    of: dict[str, Any] = {"partner_id": partner.id, "description": Text(), "selling_price_amount": Decimal(1)}
    category = own.voucher_option_category
    spa = (
        await tenants.add(VoucherOptionRow(**of, name=Text(fr="Bien-être 100 %"), ranking=5, category_id=category))
    ).id
    wine = (await tenants.add(VoucherOptionRow(**of, name=Text(en="Wine_list"), ranking=3, is_global=True))).id
    old = (await tenants.add(VoucherOptionRow(**of, name=Text(de="Wein"), ranking=3, is_active=False))).id
    everything = [own.voucher_option, wine, old, spa]
    for filter, expected in {
        "": everything,
        "isActive: false": [old],
        "isGlobal: true": [wine],
        f"categoryId: {category}": [spa],
        f"ids: [{spa}, {own.voucher_option}, {tenants.owned['a2'].voucher_option}]": [own.voucher_option, spa],
        'nameContains: "BIEN-Ê"': [spa],
        'nameContains: "we"': [old],
        'nameContains: "0 %"': [spa],
        'nameContains: "e_l"': [wine],
        'nameContains: "fr"': [],
        f"partnerId: {partner.id}": everything,
        f"partnerId: {tenants.partners['a2'].id}": [],
        'isActive: true, nameContains: "w"': [wine],
    }.items():
        assert await ids(tenants, "voucherOptions", filter) == expected, filter
    assert await ids(tenants, "voucherOptions", "", "RANKING_DESCENDING") == everything[::-1]
    row = VoucherOptionCategoryRow(
        partner_id=partner.id, name=Text(en="Drinks"), description=Text(), ranking=9, is_active=False
    )
    drinks = (await tenants.add(row)).id
    assert await ids(tenants, "voucherOptionCategories", "") == [category, drinks]
    assert await ids(tenants, "voucherOptionCategories", "", "RANKING_DESCENDING") == [drinks, category]
    assert await ids(tenants, "voucherOptionCategories", "isActive: true") == [category]
    assert await ids(tenants, "voucherOptionCategories", f"ids: [{drinks}]") == [drinks]
    assert option_categories.voucher_option_categories.default_order == "ranking"


@pytest.mark.parametrize("many", [2, 7])
async def test_what_a_list_costs_does_not_grow_with_it(tenants: Tenants, many: int) -> None:
    prototypes = [await prototype_of(tenants, "a1") for _ in range(many)]
    for prototype in prototypes:
        await link_of(tenants, "a1", prototype)
    headers = {"Authorization": f"Token {tenants.tokens['a1']}"}

    async def rest(path: str) -> Any:
        return (await tenants.client.get(path, headers=headers)).json()

    # the page with its partners, and links
    with fetched(tenants.services.db) as seen:
        page = await rest("/api/voucher_options/")
    assert (len(seen), page["results"][0]["voucher_prototypes_ids"]) == (2, prototypes)
    # the prototype, its links, options, and what an option is answered with, in one
    with fetched(tenants.services.db) as seen:
        links = await rest(f"/api/voucher_prototypes/{prototypes[0]}/options/")
    assert (len(seen), [link["option"]["voucher_prototypes_ids"] for link in links]) == (1, [prototypes])
    query = "{ voucherOptions { nodes { id prototypeLinks { count prototype { name { en } } } partner { id } } } }"
    with fetched(tenants.services.db) as seen:
        body = await tenants.graphql("a1", query)
    assert (len(seen), len(body["data"]["voucherOptions"]["nodes"][0]["prototypeLinks"])) == (3, many)
    assert not any("services" in statement for statement in map(str, seen)), "what nobody asks for is not read"


async def test_within_a_voucher_an_option_tells_more(tenants: Tenants) -> None:
    """The shape is the same from rows, as lists read them, and from objects."""
    option, prototype = tenants.owned["a1"].voucher_option, await prototype_of(tenants, "a1")
    await link_of(tenants, "a1", prototype)
    context = await tenants.context("a1")
    async with tenants.services.db.sessions() as db, db.begin():
        row = await db.get_one(VoucherOptionRow, option)
        row.services = [OptionService.model_validate(stored_service(SERVICE))]
    assert ORDERED_OPTION.rows is not None
    found = await options.voucher_option(context, option)
    load = context.loaders.load
    row, load_row = await found.fetch(ORDERED_OPTION.rows, load)
    rows = await ORDERED_OPTION.render([row], load_row, columns=True)
    objects = await ORDERED_OPTION.render([await found.object()], load)
    services = ",".join(f'"service_{name}":{value}' for name, value in SERVICE.items())
    for (told,) in (rows, objects):
        assert list(told) == list(ORDERED_OPTION.keys)
        assert orjson.dumps(told["services_info"]).decode() == f"[{{{services}}}]"
        assert (told["has_been_ordered"], told["category"]) == (False, None)
        names = {"name_en": "A night", **{f"name_{at}": "" for at in ("fr", "es", "it", "de", "nl", "ca", "pt")}}
        assert told["voucher_prototypes"] == [{"id": prototype, **names}]


async def test_a_look_up_reads_what_is_related_in_one_statement(tenants: Tenants) -> None:
    context = await tenants.context("a1")
    found = await options.voucher_option(context, tenants.owned["a1"].voucher_option)
    assert ORDERED_OPTION.rows is not None
    with fetched(tenants.services.db) as statements:
        row, load = await found.fetch(ORDERED_OPTION.rows, context.loaders.load)
        read = await ORDERED_OPTION.render([row], load, columns=True)
    assert len(statements) == 1
    loaded = await ORDERED_OPTION.render([row], context.loaders.load, columns=True)
    assert orjson.dumps(read) == orjson.dumps(loaded)
