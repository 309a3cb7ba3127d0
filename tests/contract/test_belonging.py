"""Whose a row is: told by every type of a table that knows it, and asked by every filter of its list."""

from typing import Any

import pytest
from graphql import GraphQLInputObjectType, GraphQLObjectType, get_named_type
from strawberry.types import get_object_definition

from resolvers.core.lists.listing import Listing
from resolvers.core.scoping import ISSUED_BY_PARTNERS
from schema.core.field_source import Relation
from schema.core.resource import published_type
from schema.graph.fields import ORIGINS
from schema.root import Query, schema
from store.tables import ROW_CLASSES
from tests.contract.declarations import declared

GRAPH = schema._schema
OWNERS = {"partner_id": "partner", "marketplace_id": "marketplace"}
"""A column that names whose a row is, and the field that leads there."""
NOT_PUBLISHED = frozenset(
    {
        "account_link",
        "checkout_attempt",
        "development_clock",
        "former_payout_item",
        "identity_check",
        "kept_answer",
        "invoice_line",
        "invoice_series",
        "invoiced_fee",
        "ledger_account",
        "ledger_book",
        "ledger_entry",
        "ledger_finding",
        "ledger_seal",
        "ledger_shift",
        "ledger_snapshot",
        "partner_kyc",
        "payable_item",
        "payer",
        "payment_activation",
        "payout_document",
        "payout_schedule",
        "picture",
        "provider_movement",
        "read_cursor",
        "recovery_code",
        "return_secret",
        "totp",
        "wallet_opening",
    }
)
"""Tables that no type of the schema has rows of."""


ROWS: dict[str, Any] = {str(row.__tablename__): row for row in ROW_CLASSES}
KINDS = {name: kind for name, row in ROWS.items() if (kind := published_type(row)) is not None}


def test_each_table_is_published_or_said_not_to_be() -> None:
    assert set(ROWS) - set(KINDS) == NOT_PUBLISHED


@pytest.mark.parametrize("table", sorted(KINDS))
def test_every_type_leads_to_whose_its_rows_are(table: str) -> None:
    columns, kind = ROWS[table].__table__.c, KINDS[table]
    definition = get_object_definition(kind, strict=True)
    published = GRAPH.type_map[definition.name]
    assert isinstance(published, GraphQLObjectType)
    for by, name in OWNERS.items():
        if by not in columns:
            assert name not in published.fields, f"{definition.name}.{name} leads nowhere: {table} has no {by}."
            continue
        lacking = f"{definition.name} does not say whose it is: add `{name} = of_{name}()` of schema/core/ownership.py."
        assert name in published.fields, lacking
        field = definition.get_field(name)
        assert field is not None
        link = field.metadata["compiled"]
        assert isinstance(link, Relation)
        assert (link.by, link.many, link.field_permission) == (by, False, None)
        owner = name.capitalize()
        always = ROWS[table] in ISSUED_BY_PARTNERS or not columns[by].nullable
        assert str(published.fields[name].type) == (f"{owner}!" if always else owner), definition.name


@pytest.mark.parametrize(
    "listing", [it.source for it in declared() if isinstance(it.source, Listing)], ids=lambda it: it.name
)
def test_every_filter_asks_whose_the_rows_are(listing: Listing[Any]) -> None:
    columns, fields = listing.table.__table__.c, listing.filter.tests()
    asked = {name: fields[name].test for name in ("partner_uuid", "marketplace_uuid") if name in fields}
    expected = {"partner_uuid": "partner"} if "partner_id" in columns else {}
    if {"partner_id", "marketplace_id"} & set(columns.keys()):
        expected["marketplace_uuid"] = "marketplace"
    base = "OfPartner" if "partner_id" in columns else "OfMarketplace"
    assert asked == expected, f"{listing.filter.__name__} is a filter of somebody's rows: derive it from {base}."


def test_the_schema_has_these_filters() -> None:
    lists = [f for f in get_object_definition(Query, strict=True).fields if isinstance(f.metadata[ORIGINS][0], Listing)]
    assert len(lists) > 20
    query = GRAPH.query_type
    assert query is not None
    for field in lists:
        listing = field.metadata[ORIGINS][0]
        argument = get_named_type(query.fields[schema.config.name_converter.from_field(field)].args["filter"].type)
        assert isinstance(argument, GraphQLInputObjectType)
        for name in {"partner_uuid": "partnerUuid", "marketplace_uuid": "marketplaceUuid"}.items():
            assert (name[0] in listing.filter.tests()) is (name[1] in argument.fields)
