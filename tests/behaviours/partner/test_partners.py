"""Partners: what is made, kept and changed of them, what is unique, how a network finds its own."""

import asyncio
import re
from typing import Any
from uuid import uuid4

import pytest

from tests.fixtures.partner import (
    ANSWERED,
    BAD,
    LEAST,
    MORE,
    NETWORK,
    NOTHING,
    Partners,
    Stored,
    create_partner,
    list_partner,
    partner_row,
)
from tests.fixtures.tenants import Tenants
from tests.transports import ONLY_REST, is_uuid

pytestmark = pytest.mark.asyncio(loop_scope="module")


# ---- what is kept


async def test_the_least_makes_a_partner(partners: Partners, tenants: Tenants) -> None:
    partner = await create_partner(partners)
    assert is_uuid(partner["uuid"])
    assert {key: partner[key] for key in LEAST} == LEAST
    assert {key: partner[key] for key in NOTHING} == NOTHING
    row = await partner_row(tenants, partner["id"])
    assert not row.payments_active
    assert row.source_id == str(row.id)
    assert row.site_domain.partition(":")[0] == f"tisane-{row.id}.localhost"
    assert row.marketplace_id == tenants.marketplaces["a"].id


async def test_all_that_is_sent_is_kept(partners: Partners) -> None:
    partner = await create_partner(partners, **MORE)
    expected = {**LEAST, **MORE, **ANSWERED}
    assert {key: partner[key] for key in expected} == expected
    read = (await partners.get("market a", partner["uuid"])).result
    assert {key: read[key] for key in expected} == expected


@ONLY_REST  # GraphQL tells it as a requirement of `paymentCapability`
async def test_over_rest_the_answer_says_how_to_go_on(partners: Partners) -> None:
    partner = await create_partner(partners)
    uri = f"/api/payment_hub/partner/{partner['uuid']}/activate-payments/"
    assert partner["pending_payment_activation_uri"] == uri
    assert partner["pending_payment_activation_method"] == "POST"
    assert not {key for key in (await partners.get("market a", partner["uuid"])).result if key.startswith("pending")}


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        ({"iban": " fr14 2004 1010 0505 0001 3m02 606 "}, {"iban": "FR1420041010050500013M02606"}),
        ({"bic": "psstfrpp"}, {"bic": "PSSTFRPP"}),
        ({"siret_number": "732 829 320 00074"}, {"siret_number": "73282932000074"}),
        ({"vat_id": "FR 44 732 829 320"}, {"vat_id": "FR44732829320"}),
        ({"vat_id": "44732829320", "hq_country": "FR"}, {"vat_id": "FR44732829320"}),
        ({"vat_id": "CHE-116.281.710", "hq_country": "CH"}, {"vat_id": "CHE116281710"}),
        ({"agency_phone": "04 72 00 00 00", "hq_country": "Frankreich"}, {"agency_phone": "+33 4 72 00 00 00"}),
        ({"agency_phone": "+32 2 555 12 12"}, {"agency_phone": "+32 2 555 12 12"}),
        ({"hq_country": "alemanya"}, {"hq_country": "alemanya"}),
        ({"hq_country": "fra", "siret_number": "73282932000074"}, {"hq_country": "fra"}),
        ({"hq_country": "Belgique", "siret_number": "0403.019.261"}, {"siret_number": "0403019261"}),
        ({"status": "t", "siret_number": "73282932000075"}, {"siret_number": "73282932000075"}),
        ({"iban": "GB33BUKB20201555555555", "bic": "BARCJESH"}, {"bic": "BARCJESH"}),
        ({"commercial_name": "  La Tisane  "}, {"commercial_name": "La Tisane"}),
        ({"legal_representative_email": "Ada@TISANE.example"}, {"legal_representative_email": "Ada@tisane.example"}),
    ],
)
async def test_what_is_sent_is_tidied(partners: Partners, values: dict[str, Any], stored: dict[str, Any]) -> None:
    partner = await create_partner(partners, **values)
    assert {key: partner[key] for key in stored} == stored


async def test_a_network_partner_begins_as_new(partners: Partners) -> None:
    sent = {"link_to_nv_settings": True, "partner_tags": [{"tag": "south"}, {"tag": "spa"}], "company_type": "sol"}
    partner = await list_partner(partners, **sent)
    assert {key: partner[key] for key in NETWORK} == NETWORK
    assert partner["status"] == "n"
    assert partner["source_id"] == str(partner["id"])
    assert partner["partner_tags"] == ["south", "spa"]
    assert (partner["link_to_nv_settings"], partner["link_to_ngc_settings"]) == (True, False)
    assert partner["company_type"] == "sol"


# ---- changing


async def test_what_is_left_out_stays(partners: Partners) -> None:
    partner = await create_partner(partners, **MORE)
    sent = {
        "block_payout_validation": False,
        "hide_from_stats": False,
        "third_party_sales_only": False,
        "referrer": 3,
        "legal_representative_birthday": "1981-01-02",
        "legal_representative_email": "new@tisane.example",
    }
    answer = await partners.update("market a", partner["uuid"], sent)
    assert answer.done, answer
    told = {**sent, "legal_representative_birthday": "1981-01-02T00:00:00.000000Z"}
    assert {key: answer.result[key] for key in told} == told
    read = (await partners.get("market a", partner["uuid"])).result
    expected = {**LEAST, **MORE, **told}
    assert {key: read[key] for key in expected} == expected


async def test_what_activation_and_payout_need_can_be_changed(partners: Partners, tenants: Tenants) -> None:
    partner = await create_partner(partners)
    sent = {
        **{key: value for key, value in MORE.items() if key not in {"referrer", "legal_representative_birthday"}},
        "legal_representative_nationality": "be",
        "hq_region": " Illinois ",
        "legal_representative_country_of_residence": "FR",
        "status": "i",
    }
    assert (await partners.update("market a", partner["uuid"], sent)).done
    read = (await partners.get("market a", partner["uuid"])).result
    assert {key: read[key] for key in MORE if key in sent} == {key: MORE[key] for key in MORE if key in sent}
    assert read["status"] == "i"
    row = await partner_row(tenants, partner["id"])
    assert (row.legal_representative_nationality, row.legal_representative_country_of_residence) == ("BE", "FR")
    assert row.hq_region == "Illinois"
    assert row.hq_country_code == "FR"


async def test_what_may_be_empty_can_be_cleared(partners: Partners) -> None:
    partner = await create_partner(partners, **MORE)
    cleared = {key: "" for key, value in MORE.items() if isinstance(value, str)}
    nothing = {"company_type", "payout_frequency", "legal_representative_birthday"}
    sent = {key: None if key in nothing else value for key, value in cleared.items()}
    assert (await partners.update("market a", partner["uuid"], {**sent, "referrer": None})).done
    read = (await partners.get("market a", partner["uuid"])).result
    assert {key: read[key] for key in cleared} == cleared
    assert read["referrer"] is None


@ONLY_REST  # GraphQL answers what it does not take, such as names of types
async def test_what_rest_answers_can_be_sent_back(partners: Partners, stored: Stored) -> None:
    for sent in ({}, MORE):
        uuid = (await create_partner(partners, **sent))["uuid"]
        before = await stored()
        assert (await partners.update("market a", uuid, (await partners.get("market a", uuid)).result)).done
        assert await stored() == before


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, value in BAD if key != "source_id"], ids=str)
async def test_a_bad_change_changes_nothing(partners: Partners, stored: Stored, key: str, value: Any) -> None:
    partner = await create_partner(partners)
    before = await stored()
    answer = await partners.update("market a", partner["uuid"], {"referrer": 9, key: value})
    assert (answer.status, answer.fields) == (400, {key})
    assert await stored() == before


async def test_a_number_is_judged_by_the_country_and_the_status_there_are(partners: Partners) -> None:
    partner = await create_partner(partners, status="t", siret_number="73282932000075")
    answer = await partners.update("market a", partner["uuid"], {"status": "a"})
    assert (answer.status, answer.fields) == (400, {"siret_number"})
    answer = await partners.update("market a", partner["uuid"], {"status": "a", "hq_country": "Belgium"})
    assert answer.done
    assert (await partners.update("market a", partner["uuid"], {"hq_country": "FR"})).fields == {"siret_number"}


async def test_a_new_partner_of_a_network_may_be_sent_back_as_it_is(partners: Partners) -> None:
    partner = await list_partner(partners)
    assert (await partners.update("market a", partner["uuid"], {"status": "n", "referrer": 4})).done
    assert (await partners.update("market a", partner["uuid"], {"status": "a"})).done
    assert (await partners.update("market a", partner["uuid"], {"status": "n"})).fields == {"status"}


# ---- source ids, and what is unique


async def test_a_source_id_is_unique_in_its_marketplace(partners: Partners, tenants: Tenants, stored: Stored) -> None:
    number = str(10**9 + uuid4().int % 10**8)
    partner = await create_partner(partners, source_id=number)
    assert (await partner_row(tenants, partner["id"])).source_id == number
    before = await stored()
    answer = await partners.create("market a", {**LEAST, "source_id": number})
    assert (answer.status, answer.fields) == (400, {"source_id"})
    assert await stored() == before
    assert (await partners.create("market b", {**LEAST, "source_id": number})).done


async def test_of_partners_made_at_once_with_one_source_id_one_is_made(partners: Partners) -> None:
    number = str(10**9 + uuid4().int % 10**8)
    answers = await asyncio.gather(*(partners.create("market a", {**LEAST, "source_id": number}) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7
    assert all(answer.fields == {"source_id"} for answer in answers if not answer.done)


async def test_partners_made_at_once_all_have_names_of_their_own(partners: Partners, tenants: Tenants) -> None:
    answers = await asyncio.gather(*(partners.create("market a", LEAST) for _ in range(12)))
    rows = [await partner_row(tenants, answer.result["id"]) for answer in answers]
    assert len({row.site_domain for row in rows}) == len({row.source_id for row in rows}) == 12


async def test_a_number_that_a_network_gave_away_is_not_given_again(partners: Partners, tenants: Tenants) -> None:
    first = await create_partner(partners)
    coming = [str(first["id"] + n) for n in range(2, 6)]
    for number in coming:
        await create_partner(partners, source_id=number)
    source_ids = [(await partner_row(tenants, (await create_partner(partners))["id"])).source_id for _ in range(3)]
    assert len({*source_ids, *coming}) == 7
    assert all(source_id.isdecimal() for source_id in source_ids)


async def test_what_is_repeated_with_a_key_is_done_once(partners: Partners, tenants: Tenants) -> None:
    key = str(uuid4())
    first = await partners.create("market a", LEAST, key=key)
    count = await tenants.one("SELECT count(*) FROM partner")
    again = await partners.create("market a", LEAST, key=key)
    assert (again.result, again.replayed) == (first.result, True)
    assert await tenants.one("SELECT count(*) FROM partner") == count
    assert (await partners.create("market a", {**LEAST, "status": "i"}, key=key)).status == 409


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Crêperie d'Été & Co.", "creperie-d-ete-co"), ("日本", "partner"), ("x" * 60, "x" * 60), ("--", "partner")],
)
async def test_the_checkout_is_served_under_the_short_name(
    partners: Partners, tenants: Tenants, name: str, slug: str
) -> None:
    row = await partner_row(tenants, (await create_partner(partners, short_name=name))["id"])
    label, _, domain = row.site_domain.partition(".")
    assert domain.partition(":")[0] == "localhost"
    assert len(label) <= 63
    assert re.fullmatch(f"{slug[: 62 - len(str(row.id))]}-{row.id}", label)


# ---- finding and changing as a network


async def test_a_network_changes_what_it_may(partners: Partners, tenants: Tenants) -> None:
    partner = await list_partner(partners, siret_number="0403019261", hq_country="BE", vat_id="BE0403019261")
    sent = {"status": "i", "hide_from_stats": True, "third_party_sales_only": True, "referrer": 6}
    links = {"link_to_nv_settings": True, "link_to_ngc_settings": True}
    answer = await partners.update_in_network("market a", {"source_id": partner["source_id"], **sent, **links})
    assert answer.done, answer
    assert {key: answer.result[key] for key in sent} == sent
    row = await partner_row(tenants, partner["id"])
    assert row.linked_to_nv_settings
    assert row.linked_to_ngc_settings
    assert row.vat_id == "BE0403019261"
    again = await partners.update_in_network(
        "market a", {"source_id": partner["source_id"], "link_to_nv_settings": False}
    )
    assert again.done
    row = await partner_row(tenants, partner["id"])
    assert (row.linked_to_nv_settings, row.linked_to_ngc_settings, row.referrer) == (False, True, 6)


async def test_a_partner_is_named_by_one_key_or_by_two_that_agree(partners: Partners, stored: Stored) -> None:
    number = f"HRB{uuid4().int % 10**9}"
    one = await list_partner(partners, siret_number=number, hq_country="DE", vat_id="DE136695976")
    two = await list_partner(partners, siret_number=f"{number}9", hq_country="DE", vat_id="DE136695976")
    status = {"status": "i"}
    spaced = f"{number[:3].lower()} {number[3:6]}.{number[6:]}"
    for named in ({"source_id": one["source_id"]}, {"siret_number": spaced}):
        assert (await partners.update_in_network("market a", {**named, **status})).result["id"] == one["id"]
    both = {"source_id": one["source_id"], "siret_number": number}
    assert (await partners.update_in_network("market a", {**both, **status})).result["id"] == one["id"]
    before = await stored()
    for other in (two["siret_number"], "unknown"):
        answer = await partners.update_in_network("market a", {**both, "siret_number": other, **status})
        assert (answer.status, answer.fields) == (400, {"source_id", "siret_number"})
    assert (await partners.update_in_network("market a", {"siret_number": "unknown", **status})).status == 404
    assert (await partners.update_in_network("market a", {"source_id": "unknown", "referrer": 0})).status == 404
    answer = await partners.update_in_network("market a", status)
    assert (answer.status, answer.fields) == (400, {""})
    assert (await partners.update_in_network("market a", {**both, "status": "a"})).fields == {"status"}
    assert await stored() == before


async def test_a_partner_is_checked_by_number_and_name(partners: Partners) -> None:
    number, name = f"HRB{uuid4().int % 10**9}", f"Café {uuid4()}"
    one = await list_partner(partners, siret_number=number, hq_country="DE", vat_id="DE136695976", commercial_name=name)
    assert (await partners.check("market a", siret_number=number)).result == {"id": one["id"]}
    assert (await partners.check("market a", commercial_name=f" {name.upper()} ")).result == {"id": one["id"]}
    assert (await partners.check("market a", siret_number=number, commercial_name=name)).result == {"id": one["id"]}
    assert (await partners.check("market a", siret_number=number, commercial_name="La Tisane")).status == 400
    assert (await partners.check("market a", siret_number="unknown")).status == 404
    assert (await partners.check("market b", siret_number=number)).status == 404
    assert (await partners.check("a1", siret_number=number)).status == 404
    assert (await partners.check("market a")).status == 400
    await list_partner(partners, siret_number=number, hq_country="DE", vat_id="DE136695976")
    assert (await partners.check("market a", siret_number=number)).status == 400
    assert (await partners.check("market a", siret_number=number, commercial_name=name)).result == {"id": one["id"]}
