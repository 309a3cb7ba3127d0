"""What of partners is refused, at which field, to whom, and that it changes nothing."""

from typing import Any
from uuid import uuid4

import pytest

from schema.core.permission import Permission
from tests.fixtures.partner import (
    BAD,
    LEAST,
    MAY_NOT,
    MORE,
    NETWORK,
    OF_TYPES,
    Partners,
    Stored,
    create_partner,
    partner_row,
)
from tests.fixtures.tenants import Tenants

pytestmark = pytest.mark.asyncio(loop_scope="module")


# ---- what is refused


@pytest.mark.parametrize(("key", "value"), BAD, ids=str)
async def test_a_bad_value_is_told_at_its_key(partners: Partners, stored: Stored, key: str, value: Any) -> None:
    before = await stored()
    answer = await partners.create("market a", {**LEAST, key: value})
    assert (answer.status, answer.fields) == (400, {key})
    assert await stored() == before


@pytest.mark.parametrize(("key", "value"), OF_TYPES, ids=str)
async def test_a_value_of_another_type_is_refused(partners: Partners, stored: Stored, key: str, value: Any) -> None:
    before = await stored()
    answer = await partners.create("market a", {**LEAST, key: value})
    assert answer.status == 400
    assert answer.fields in ({key}, set())
    assert await stored() == before


@pytest.mark.parametrize("key", LEAST)
async def test_what_is_required_is_asked_for(partners: Partners, stored: Stored, key: str) -> None:
    before = await stored()
    answer = await partners.create("market a", {name: value for name, value in LEAST.items() if name != key})
    assert answer.status == 400
    assert answer.fields in ({key}, set())
    assert await stored() == before


async def test_all_that_is_wrong_is_told_at_once(partners: Partners) -> None:
    wrong = {"agency_phone": "x", "siret_number": "1", "vat_id": "FR1", "iban": MORE["iban"], "bic": "DEUTDEFF"}
    answer = await partners.create("market a", {**LEAST, **wrong})
    assert answer.fields == {"agency_phone", "siret_number", "vat_id", "bic"}


@pytest.mark.parametrize("key", NETWORK)
async def test_a_network_says_all_of_its_partners(partners: Partners, stored: Stored, key: str) -> None:
    before = await stored()
    answer = await partners.list_in_network("market a", {**NETWORK, key: ""})
    assert (answer.status, answer.fields) == (400, {key})
    answer = await partners.list_in_network("market a", {name: value for name, value in NETWORK.items() if name != key})
    assert answer.status == 400
    assert answer.fields in ({key}, set())
    assert await stored() == before


async def test_the_postal_code_of_a_network_partner_is_short(partners: Partners) -> None:
    answer = await partners.list_in_network("market a", {**NETWORK, "hq_postal_code": "12345678901"})
    assert (answer.status, answer.fields) == (400, {"hq_postal_code"})


# ---- who may


@pytest.mark.parametrize(("who", "status"), MAY_NOT.items())
async def test_who_may_not(partners: Partners, tenants: Tenants, stored: Stored, who: str, status: int) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    before = await stored()
    assert (await partners.create(who, LEAST)).status == status
    assert (await partners.update(who, uuid, {"hide_from_stats": True})).status == status
    assert (await partners.list_in_network(who, NETWORK)).status == status
    assert (await partners.update_in_network(who, {"source_id": "1", "status": "i"})).status == status
    if who != "a1":
        assert (await partners.get(who, uuid)).status == status
        assert (await partners.check(who, siret_number="1")).status == status
    assert await stored() == before


async def test_a_marketplace_makes_partners_of_its_own_only(partners: Partners, tenants: Tenants) -> None:
    mine, other = tenants.marketplaces["b"], tenants.marketplaces["a"]
    named = await create_partner(partners, "market b", marketplace_uuid=str(mine.uuid))
    assert (await partner_row(tenants, named["id"])).marketplace_id == mine.id
    for uuid in (str(other.uuid), str(uuid4())):
        answer = await partners.create("market b", {**LEAST, "marketplace_uuid": uuid})
        assert (answer.status, answer.fields) == (400, {"marketplace_uuid"})


async def test_the_master_says_in_which_marketplace(partners: Partners, tenants: Tenants, stored: Stored) -> None:
    before = await stored()
    assert (await partners.create("master", LEAST)).fields == {"marketplace_uuid"}
    assert (await partners.list_in_network("master", NETWORK)).fields == {"marketplace_uuid"}
    assert await stored() == before
    partner = await create_partner(partners, "master", marketplace_uuid=str(tenants.marketplaces["b"].uuid))
    assert (await partners.get("market b", partner["uuid"])).done
    assert (await partners.get("market a", partner["uuid"])).status == 404


async def test_a_partners_user_with_the_permission_makes_partners_beside_its_own(
    partners: Partners, tenants: Tenants
) -> None:
    rights = [Permission.CREATE_PARTNER, Permission.UPDATE_PARTNER, Permission.VIEW_PARTNER]
    if "maker" not in tenants.tokens:
        await tenants.user("maker", "partner", rights, partner_id=tenants.partners["a1"].id)
    answer = await partners.create("maker", {**LEAST, "short_name": "Beside"})
    assert answer.done, answer
    assert (await partner_row(tenants, answer.result["id"])).marketplace_id == tenants.marketplaces["a"].id
    made_uuid = answer.result["uuid"]
    assert (await partners.get("maker", made_uuid)).status == 404
    assert (await partners.update("maker", made_uuid, {"referrer": 1})).status == 404
    own = str(tenants.partners["a1"].uuid)
    assert (await partners.update("maker", own, {"referrer": 1})).done


@pytest.mark.parametrize("who", ["a2", "b1", "market b"])
async def test_what_is_anothers_is_not_there(partners: Partners, tenants: Tenants, stored: Stored, who: str) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    before = await stored()
    assert (await partners.get(who, uuid)).status == 404
    if who == "market b":
        assert (await partners.update(who, uuid, {"referrer": 1})).status == 404
        assert (await partners.update(who, uuid, {"iban": "nonsense"})).status == 404
        assert (await partners.update_in_network(who, {"source_id": "a1", "status": "i"})).status == 404
    assert await stored() == before


@pytest.mark.parametrize("who", ["a1", "market a", "master"])
async def test_who_sees_a_partner(partners: Partners, tenants: Tenants, who: str) -> None:
    answer = await partners.get(who, str(tenants.partners["a1"].uuid))
    assert answer.done
    assert answer.result["commercial_name"] == "Shop a1"
