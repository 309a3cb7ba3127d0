"""What the provider tells of users and countries without changing anything."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import MangopayApi, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


@pytest.mark.parametrize(
    ("number", "country", "valid"), [("123456789", "FR", True), ("12345", "FR", False), ("x", "JP", True)]
)
async def test_the_form_of_a_company_number(api: MangopayApi, number: str, country: str, *, valid: bool) -> None:
    body = {"CompanyNumber": {"CompanyNumber": number, "CountryCode": country}}
    told = await api.create("/users/data-formats/validation", body)
    assert told["CompanyNumber"]["IsValid"] is valid


async def test_countries_are_told_without_a_token(api: MangopayApi) -> None:
    france = (await api.http.get("/v2.01/countries/FR/authorizations")).json()
    assert (france["CountryName"], france["Authorization"]["BlockPayout"]) == ("France", False)
    listed = await api.http.get("/v2.01/countries/authorizations?per_page=100")
    assert france in listed.json()
    assert int(listed.headers["X-Number-Of-Items"]) > 200
    assert (await api.http.get("/v2.01/countries/XX/authorizations")).status_code == 404


async def test_blocks_are_told_by_a_call_of_their_own(api: MangopayApi) -> None:
    await api.seed()
    await api.control("POST", "/users/partner", {"block": {"inflows": True, "outflows": False}})
    told = await api.read("/users/partner/blockStatus")
    assert told == {"ActionCode": "008701", "ScopeBlocked": {"Inflows": True, "Outflows": False}}
