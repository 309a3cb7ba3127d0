"""Lists and look-ups of partners, what is shown of one that is reached otherwise, and what is written down of a change."""

from typing import Any

import pytest

from resolvers.core.lists.listing import PageArguments
from resolvers.partner import network_partners, partners
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.partner.partner import PartnerStatus
from tests.changes import Transport
from tests.fixtures.tenants import Tenants

LEAST: dict[str, Any] = {
    "status": PartnerStatus.ACTIVE,
    "commercial_name": "La Tisane",
    "short_name": "Tisane",
    "legal_representative": {"email": "ada@shop.example", "birthday": "1980-04-12"},
    "agency_email": "bonjour@shop.example",
    "bank_account": {"iban": "FR1420041010050500013M02606"},
}
LISTED: dict[str, Any] = {
    "name": "Le Miel",
    "commercial_name": "Le Miel",
    "short_name": "Miel",
    "registration": {"siret_number": "73282932000074", "rcs": "Lyon B", "ape": "4729Z", "vat_id": "FR44732829320"},
    "legal_representative": {"first_name": "Ada", "last_name": "Martin"},
    "head_office": {"address_line_1": "4 rue", "postal_code": "69002", "city": "Lyon", "country": "FR"},
    "agency_email": "bonjour@shop.example",
    "website": "https://shop.example",
    "tags": ["south", "spa"],
    "network_links": {"vouchers": True},
}


async def names(tenants: Tenants, who: str, filter: str, order: str = "") -> list[str]:
    """The short names of the partners in a list."""
    asked = f"{{ partners(filter: {{ {filter} }} {order}) {{ totalCount nodes {{ shortName }} }} }}"
    found = (await tenants.graphql(who, asked))["data"]["partners"]
    assert found["totalCount"] == len(found["nodes"])
    return [node["shortName"] for node in found["nodes"]]


@pytest.fixture
async def more_partners(tenants: Tenants, ask: Transport) -> Tenants:
    """Besides the partners there are, one that was made and one that was listed, both in the first marketplace."""
    assert (await ask.change("market a", partners.create_partner, **LEAST)).done
    assert (await ask.change("market a", network_partners.create_network_partner, **LISTED)).done
    return tenants


async def test_partners_are_listed_to_who_may_see_them(more_partners: Tenants) -> None:
    assert await names(more_partners, "market a", "", "orderBy: NAME") == ["Tisane", "Miel", "a1", "a2"]
    assert await names(more_partners, "market a", "") == ["Miel", "Tisane", "a2", "a1"]
    assert await names(more_partners, "market a", "", "orderBy: OLDEST") == ["a1", "a2", "Tisane", "Miel"]
    assert set(await names(more_partners, "master", "")) == {"a1", "a2", "b1", "Tisane", "Miel"}
    assert await names(more_partners, "a1", "") == ["a1"]
    assert await names(more_partners, "market b", "") == ["b1"]
    await more_partners.user("powerless", "partner", [], partner_id=more_partners.partners["a1"].id)
    told = await more_partners.graphql("powerless", "{ partners { nodes { id } } }")
    assert told["errors"][0]["extensions"]["code"] == "FORBIDDEN"


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ("statuses: [NEW]", ["Miel"]),
        ("statuses: [NEW, ACTIVE]", ["Miel", "Tisane", "a2", "a1"]),
        ('siretNumber: "732 829 320 00074"', ["Miel"]),
        ('nameContains: "TISA"', ["Tisane"]),
        ('nameContains: "%"', []),
        ("paymentsActive: true", []),
        ('tags: ["spa", "south"]', ["Miel"]),
        ('tags: ["spa", "north"]', []),
        ("tags: []", ["Miel", "Tisane", "a2", "a1"]),
        ("linkedToVouchers: true", ["Miel"]),
        ("linkedToGiftCards: true", []),
        ('sourceId: "a1"', ["a1"]),
        ('createdFrom: "2020-01-01T00:00:00Z", createdUntil: "2020-01-02T00:00:00Z"', []),
        ("marketplaceId: 999", []),
    ],
)
async def test_partners_are_filtered(more_partners: Tenants, filter: str, expected: list[str]) -> None:
    assert await names(more_partners, "market a", filter) == expected


async def test_a_partner_is_looked_up_by_uuid_and_by_id(tenants: Tenants) -> None:
    row, foreign = tenants.partners["a1"], tenants.partners["b1"]
    for by in (f"id: {row.id}", f'uuid: "{row.uuid}"'):
        assert (await tenants.graphql("market a", f"{{ partner({by}) {{ shortName }} }}"))["data"] == {
            "partner": {"shortName": "a1"}
        }
    for by in (f"id: {foreign.id}", f'uuid: "{foreign.uuid}"'):
        assert (await tenants.graphql("market a", f"{{ partner({by}) {{ shortName }} }}"))["data"] == {"partner": None}
    context = await tenants.context("market a")
    assert (await (await partners.partner_with_id(context, row.id)).object()).uuid == row.uuid
    with pytest.raises(NotFound):
        await (await partners.partner(context, foreign.uuid)).object()
    with pytest.raises(NotFound):
        await partners.partner_by_company_number(context, siret_number="nobody's")
    page = await partners.partners(context, PageArguments())
    assert len(await page.rows.objects()) == 2


async def test_what_is_personal_is_not_reached_without_the_permission(tenants: Tenants) -> None:
    await tenants.user("clerk", "partner", [Permission.VIEW_AUDIT], partner_id=tenants.partners["a1"].id)
    query = "{ me { partner { shortName registration { siretNumber } bankAccount { iban } } } }"
    answer = await tenants.graphql("clerk", query)
    assert answer["data"]["me"]["partner"] == {
        "shortName": "a1",
        "registration": {"siretNumber": ""},
        "bankAccount": None,
    }
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
    assert answer["errors"][0]["path"] == ["me", "partner", "bankAccount"]
    own = await tenants.graphql("a1", query)
    assert own["data"]["me"]["partner"]["bankAccount"] == {"iban": ""}


async def test_the_audit_log_tells_who_changed_what_but_not_the_secrets(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("market a", partners.create_partner, **LEAST)).done
    partner = await tenants.newest("partner")
    changes = {
        "legal_representative": {"birthday": "1981-01-02", "email": "new@shop.example"},
        "bank_account": {"iban": "DE89370400440532013000"},
    }
    assert (await ask.change("market a", partners.update_partner, uuid=partner["uuid"], **changes)).done
    entry = await tenants.newest("audit_entry")
    assert (entry["operation"], entry["subject_type"], entry["partner_id"]) == (
        "update_partner",
        "Partner",
        partner["id"],
    )
    (change,) = entry["changes"]
    assert change["fields"] == {
        "legal_representative_email": {"before": "ada@shop.example", "after": "new@shop.example"},
        "legal_representative_birthday": {"before": "***", "after": "***"},
        "iban": {"before": "***2606", "after": "***3000"},
    }
    assert "1981" not in str(entry)
    assert "DE89370400440532013000" not in str(entry)
