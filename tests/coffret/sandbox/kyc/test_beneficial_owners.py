"""Declarations of beneficial owners."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import ADDRESS, list_events, owner

UBO: Json = {
    "FirstName": "Joana",
    "LastName": "Dupont",
    "Address": ADDRESS,
    "Nationality": "FR",
    "Birthday": 665452800,
    "Birthplace": {"City": "Paris", "Country": "FR"},
}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def test_a_declaration_is_filled_submitted_and_validated(api: MangopayApi) -> None:
    path = f"/users/{await owner(api)}/kyc/ubodeclarations"
    declaration = await api.create(path, {})
    one = f"{path}/{declaration['Id']}"
    empty = await api.call("PUT", one, {"Status": "VALIDATION_ASKED"})
    assert (empty.status_code, list(empty.json()["errors"])) == (400, ["Ubos"])
    ubo = await api.create(f"{one}/ubos", UBO)
    changed = (await api.call("PUT", f"{one}/ubos/{ubo['Id']}", {"LastName": "Martin"})).json()
    assert (changed["FirstName"], changed["LastName"]) == ("Joana", "Martin")
    asked = (await api.call("PUT", one, {"Status": "VALIDATION_ASKED"})).json()
    assert (asked["Status"], asked["Ubos"]) == ("VALIDATION_ASKED", [changed])
    assert (await api.call("POST", f"{one}/ubos", UBO)).status_code == 400
    await api.advance(61)
    validated = await api.read(f"/kyc/ubodeclarations/{declaration['Id']}")
    assert (validated["Status"], await api.read(path)) == ("VALIDATED", [validated])
    assert await list_events(api, "UBO_DECLARATION_VALIDATED") == [("UBO_DECLARATION_VALIDATED", declaration["Id"])]


async def test_only_legal_users_declare_owners(api: MangopayApi) -> None:
    path = f"/users/{await owner(api, 'NATURAL')}/kyc/ubodeclarations"
    assert (await api.call("POST", path, {})).status_code == 404


async def test_a_declaration_is_read_by_its_user_alone(api: MangopayApi) -> None:
    mine, other = await owner(api), await owner(api)
    declaration = await api.create(f"/users/{mine}/kyc/ubodeclarations", {})
    assert (await api.call("GET", f"/users/{other}/kyc/ubodeclarations/{declaration['Id']}")).status_code == 404
