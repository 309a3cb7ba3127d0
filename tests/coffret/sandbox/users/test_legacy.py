"""The calls below `/users` that create and change users without strong authentication."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.people import ADDRESS, EMAIL, PERSON, list_events, token_of

COMPANY: Json = {
    "LegalPersonType": "BUSINESS",
    "Name": "Maison Soleil",
    "Email": "contact@maison.example",
    "CompanyNumber": 123456789,
    "HeadquartersAddress": ADDRESS,
    **{f"LegalRepresentative{name}": value for name, value in PERSON.items()},
}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def test_an_owner_needs_no_enrolment(api: MangopayApi) -> None:
    user = await api.create("/users/natural", dict(PERSON))
    assert (user["UserCategory"], user["UserStatus"], user["KYCLevel"]) == ("OWNER", "ACTIVE", "LIGHT")
    assert "PendingUserAction" not in user
    for path in (f"/users/{user['Id']}", f"/users/natural/{user['Id']}"):
        assert await api.read(path) == user
    assert (await api.read(f"/sca/users/{user['Id']}"))["PendingUserAction"] is None
    assert (await api.control("GET", "/sca"))["sessions"] == []


async def test_a_company_has_flat_names(api: MangopayApi) -> None:
    user = await api.create("/users/legal", COMPANY)
    assert (user["LegalRepresentativeFirstName"], user["LegalRepresentativeEmail"]) == ("Anne", EMAIL)
    assert (user["Email"], user["CompanyNumber"]) == ("contact@maison.example", "123456789")
    assert "LegalRepresentative" not in user
    assert await api.read(f"/users/legal/{user['Id']}") == user
    assert (await api.read(f"/sca/users/legal/{user['Id']}"))["LegalRepresentative"]["FirstName"] == "Anne"
    assert await api.read("/users") == [user]


async def test_a_company_may_be_incomplete_at_first(api: MangopayApi) -> None:
    missing = ("CompanyNumber", "HeadquartersAddress", "LegalRepresentativeEmail")
    user = await api.create("/users/legal", {name: value for name, value in COMPANY.items() if name not in missing})
    assert [user[name] for name in missing] == [None, None, None]


async def test_changes(api: MangopayApi) -> None:
    natural, legal = await api.create("/users/natural", dict(PERSON)), await api.create("/users/legal", COMPANY)
    changed = (await api.call("PUT", f"/users/natural/{natural['Id']}", {"Email": "new@maison.example"})).json()
    assert changed == {**natural, "Email": "new@maison.example"}
    change = {"LegalRepresentativeFirstName": "Zoe", "LegalRepresentativeEmail": "zoe@maison.example"}
    assert (await api.call("PUT", f"/users/legal/{legal['Id']}", change)).json() == {**legal, **change}


@pytest.mark.parametrize(
    ("path", "body", "missing"),
    [
        ("natural", {**PERSON, "Nationality": None}, "Nationality"),
        ("legal", {**COMPANY, "LegalRepresentativeNationality": None}, "LegalRepresentativeNationality"),
        ("legal", {**COMPANY, "LegalRepresentativeLastName": None}, "LegalRepresentativeLastName"),
    ],
)
async def test_what_is_missing_is_named(api: MangopayApi, path: str, body: dict[str, Any], missing: str) -> None:
    errors = (await api.call("POST", f"/users/{path}", body)).json()["errors"]
    assert list(errors) == [missing]
    assert missing in errors[missing]


async def test_a_payer_needs_little(api: MangopayApi) -> None:
    body = {"FirstName": "Ada", "LastName": "Payer", "Email": "ada@example.com", "UserCategory": "PAYER"}
    user = await api.create("/users/natural", {**body, "PhoneNumber": ""})
    assert (user["UserCategory"], user["PhoneNumber"]) == ("PAYER", None)


async def test_an_account_is_looked_at_without_authentication_unless_it_is_asked_for(api: MangopayApi) -> None:
    user = await api.create("/users/natural", dict(PERSON))
    wallet = await api.create("/wallets", {"Owners": [user["Id"]], "description": "x", "Currency": "EUR"})
    path = f"/wallets/{wallet['Id']}"
    assert await api.read(path) == wallet
    refused = await api.call("GET", f"{path}?ScaContext=USER_PRESENT")
    assert refused.status_code == 401
    (page,) = (await api.control("GET", "/sca"))["sessions"]
    assert page["url"] in refused.headers["WWW-Authenticate"]
    await api.control("POST", f"/sca/{page['token']}", {"outcome": "succeed"})
    assert await api.read(f"{path}?ScaContext=USER_PRESENT") == wallet


async def test_whoever_has_enrolled_authenticates(api: MangopayApi) -> None:
    user = await api.create("/users/natural", dict(PERSON))
    wallet = await api.create("/wallets", {"Owners": [user["Id"]], "Description": "x", "Currency": "EUR"})
    asked = await api.create(f"/sca/users/{user['Id']}/enrollment", {})
    assert await api.read(f"/wallets/{wallet['Id']}") == wallet
    await api.control("POST", f"/sca/{token_of(asked)}", {"outcome": "succeed"})
    assert (await api.call("GET", f"/wallets/{wallet['Id']}")).status_code == 401
    assert await list_events(api, "SCA_ENROLLMENT_SUCCEEDED") == [("SCA_ENROLLMENT_SUCCEEDED", user["Id"])]
