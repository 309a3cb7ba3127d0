"""Whose a row is: what leads to its owner, and what finds it by its owner."""

from typing import Any

import pytest
from strawberry.types import get_object_definition
from strawberry.utils.str_converters import to_camel_case

from resolvers.core.lists.filters import OfPartner
from resolvers.core.lists.listing import Listing, PageArguments
from schema.core.permission import Permission
from schema.graph.executor import FALLBACKS
from schema.graph.fields import ORIGINS
from schema.root import Query
from tests.fixtures.tenants import EVERYBODY, PARTNERS, Tenants
from tests.resolvers.core.test_scoping import OWNED_BY, SEES, declared
from tests.statements import fetched

LISTS = {
    to_camel_case(field.python_name): field.metadata[ORIGINS][0]
    for field in get_object_definition(Query, strict=True).fields
    if isinstance(field.metadata[ORIGINS][0], Listing)
}
OWNED_LISTS = {name: listing for name, listing in LISTS.items() if "partner_id" in listing.table.__table__.c}


def lists_of_partners() -> list[Listing[Any]]:
    """The lists of what each partner has one of."""
    return [
        one for _, one in declared(Listing) if one.table.__tablename__ in OWNED_BY and issubclass(one.filter, OfPartner)
    ]


async def test_a_partners_uuid_finds_its_rows_where_the_caller_sees_them_and_nothing_elsewhere(
    tenants: Tenants,
) -> None:
    assert len(lists_of_partners()) == len(OWNED_BY) - 1, "all but the list of partners themselves"
    for listing in lists_of_partners():
        owned = OWNED_BY[listing.table.__tablename__]
        for who in EVERYBODY:
            context = await tenants.context(who)
            for name, partner in tenants.partners.items():
                found = await listing(
                    context, PageArguments(), listing.filter.model_validate({"partner_uuid": partner.uuid})
                )
                expected = {getattr(tenants.owned[name], owned)} if name in SEES[who] else set()
                assert {row.id for row in await found.rows.objects()} == expected, (owned, who, name)
                assert await found.rows.count() == len(expected)


async def test_a_marketplaces_uuid_finds_what_it_and_its_partners_have(tenants: Tenants) -> None:
    for listing in lists_of_partners():
        owned = OWNED_BY[listing.table.__tablename__]
        for who in EVERYBODY:
            context = await tenants.context(who)
            for name, marketplace in tenants.marketplaces.items():
                found = await listing(
                    context, PageArguments(), listing.filter.model_validate({"marketplace_uuid": marketplace.uuid})
                )
                seen = {partner for partner in SEES[who] if PARTNERS[partner] == name}
                assert {row.id for row in await found.rows.objects()} == {
                    getattr(tenants.owned[partner], owned) for partner in seen
                }, (owned, who, name)


async def test_users_of_a_marketplace_are_its_own_and_those_of_its_partners(tenants: Tenants) -> None:
    query = """query ($of: UUID, $at: UUID) { users(filter: { marketplaceUuid: $of, partnerUuid: $at }) {
        nodes { username } } }"""

    async def names(who: str, **criteria: Any) -> set[str]:
        answer = await tenants.graphql(who, query, **criteria)
        return {node["username"].removesuffix("@users.example") for node in answer["data"]["users"]["nodes"]}

    ours = {"a1", "a2", "market-a"}
    assert await names("master", of=tenants.marketplaces["a"].uuid) == ours
    assert await names("market a", of=tenants.marketplaces["a"].uuid) == ours
    assert await names("market a", of=tenants.marketplaces["b"].uuid) == set()
    assert await names("market a", at=tenants.partners["a2"].uuid) == {"a2"}
    assert await names("market a", at=tenants.partners["b1"].uuid) == set()
    assert await names("master", of=tenants.marketplaces["a"].uuid, at=tenants.partners["b1"].uuid) == set()


async def test_an_unknown_uuid_finds_nothing_and_a_malformed_one_is_refused(tenants: Tenants) -> None:
    query = "query ($of: UUID) { products(filter: { partnerUuid: $of }) { nodes { id } } }"
    nobody = await tenants.graphql("master", query, of="7cb5b3a0-8a8c-4a7b-9d4c-1b6c1f0d2e3a")
    assert nobody["data"]["products"]["nodes"] == []
    assert "errors" in await tenants.graphql("master", query, of="x")


@pytest.mark.parametrize("name", sorted(OWNED_LISTS))
async def test_whose_rows_are_costs_a_statement_however_many_they_are_and_is_compiled(
    tenants: Tenants, name: str
) -> None:
    """The partner comes with the page, the marketplace is one load, and nothing is left to graphql-core."""
    before = {sample.labels["type"]: sample.value for metric in FALLBACKS.collect() for sample in metric.samples}
    query = f"{{ {name} {{ nodes {{ __typename id partner {{ uuid marketplace {{ name }} }} }} }} }}"
    with fetched(tenants.services.db) as seen:
        answer = await tenants.graphql("master", query)
    nodes = answer["data"][name]["nodes"]
    of_rows = [sql for sql, _ in seen if not sql.startswith("SELECT app_user")]
    owned = [node for node in nodes if node["partner"] is not None]
    assert len(of_rows) <= (2 if owned else 1)
    if OWNED_LISTS[name].table.__tablename__ in OWNED_BY:
        assert {node["partner"]["uuid"] for node in nodes} == {str(row.uuid) for row in tenants.partners.values()}
        assert len(of_rows) == 2
    after = {sample.labels["type"]: sample.value for metric in FALLBACKS.collect() for sample in metric.samples}
    assert after == before


async def test_a_relation_shows_of_a_partner_what_asking_for_it_shows(tenants: Tenants) -> None:
    """What is guarded there is guarded here: for whoever lacks the permission, whichever row leads there."""
    await tenants.user("clerk", "partner", [Permission.VIEW_CATALOGUE], partner_id=tenants.partners["a1"].id)
    for name in ("products", "coupons", "deliveryModes", "voucherOptions"):
        query = f"{{ {name} {{ nodes {{ partner {{ commercialName bankAccount {{ iban }} }} }} }} }}"
        answer = await tenants.graphql("clerk", query)
        assert answer["data"][name]["nodes"] == [{"partner": {"commercialName": "Shop a1", "bankAccount": None}}]
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
        assert (await tenants.graphql("a1", query)).get("errors") is None
