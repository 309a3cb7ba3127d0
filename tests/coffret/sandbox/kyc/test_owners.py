"""Businesses of several owners, each of whom proves their own identity."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import assert_refused, level, list_events, owner

ANA, JOAN = (
    {"first_name": "Ana", "last_name": "Puig"},
    {"first_name": "Joan", "last_name": "Puig", "email": "j@x.example"},
)
RETURN = "https://shop.example/k/1"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def declared(api: MangopayApi, kind: str = "BUSINESS") -> Json:
    """A validated session whose owners have not proven anything yet."""
    user = await owner(api, kind)
    made = await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
    path = f"/identity-verifications/{made['Id']}"
    result: Json = await api.control("POST", path, {"outcome": "validate", "owners": [ANA, JOAN]})
    return result


async def end(api: MangopayApi, psc: Json, outcome: str) -> Json:
    result: Json = await api.control("POST", f"/pscs/{psc['Id']}", {"outcome": outcome})
    return result


def page_of(psc: Json) -> str:
    return str(httpx.URL(psc["HostedUrl"]).path.removeprefix("/_provider"))


async def test_regular_with_the_last_owner(api: MangopayApi) -> None:
    session = await declared(api)
    first, second = session["PSCs"]
    assert (session["Status"], first["Status"], await level(api, session["UserId"])) == (
        *("VALIDATED", "PENDING_VALIDATION"),
        "LIGHT",
    )
    assert (second["FirstName"], second["Email"]) == ("Joan", "j@x.example")
    assert (await end(api, first, "validate"))["HostedUrl"] is None
    assert await level(api, session["UserId"]) == "LIGHT"
    await end(api, second, "validate")
    assert await level(api, session["UserId"]) == "REGULAR"
    events = ("IDENTITY_VERIFICATION_PENDING_PSC_ACTION", "IDENTITY_VERIFICATION_PSC_PENDING")
    assert await list_events(api, *events, "IDENTITY_VERIFICATION_PSC_VALIDATED") == [
        (events[0], session["Id"]),
        *((events[1], psc["Id"]) for psc in (first, second)),
        *(("IDENTITY_VERIFICATION_PSC_VALIDATED", psc["Id"]) for psc in (first, second)),
    ]


async def test_an_owner_who_was_named_twice_is_not_waited_for(api: MangopayApi) -> None:
    session = await declared(api)
    first, second = session["PSCs"]
    await end(api, first, "validate")
    await end(api, second, "abandon")
    assert await level(api, session["UserId"]) == "REGULAR"
    path = f"/identity-verifications/{session['Id']}/pscs/{second['Id']}/retry"
    await assert_refused(api, await api.call("PUT", path, {}), 400, "param_error", "PscId")


async def test_refused_and_tried_again(api: MangopayApi) -> None:
    session = await declared(api)
    first = session["PSCs"][0]
    path = f"/identity-verifications/{session['Id']}/pscs/{first['Id']}/retry"
    same = (await api.call("PUT", path, {})).json()
    assert same["HostedUrl"] == first["HostedUrl"]
    await end(api, first, "reject")
    assert await level(api, session["UserId"]) == "LIGHT"
    again = (await api.call("PUT", path, {"FirstName": "Anna"})).json()
    assert (again["Status"], again["FirstName"]) == ("PENDING_VALIDATION", "Anna")
    assert again["HostedUrl"] not in {None, first["HostedUrl"]}
    assert (await api.http.get(page_of(first))).status_code == 404
    assert (await api.http.get(page_of(again))).status_code == 200
    other = await declared(api)
    path = f"/identity-verifications/{other['Id']}/pscs/{first['Id']}/retry"
    await assert_refused(api, await api.call("PUT", path, {}), 404, "ressource_not_found")


async def test_rejected_after_seven_days(api: MangopayApi) -> None:
    session = await declared(api)
    await api.later(7.01)
    listed = await api.read(f"/users/{session['UserId']}/pscs")
    assert [(psc["Status"], psc["MainSessionId"]) for psc in listed] == [("REJECTED", session["Id"])] * 2
    assert (await api.http.post(f"/_sb/pscs/{listed[0]['Id']}", json={"outcome": "validate"})).status_code == 409


async def test_only_businesses_have_owners(api: MangopayApi) -> None:
    user = await owner(api, "SOLETRADER")
    made = await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
    path = f"/_sb/identity-verifications/{made['Id']}"
    for body, status in (
        ({"outcome": "validate", "owners": [ANA]}, 409),
        ({"outcome": "review", "owners": [ANA]}, 400),
    ):
        assert (await api.http.post(path, json=body)).status_code == status


@pytest.mark.parametrize(("choice", "status"), [("validate", "VALIDATED"), ("reject", "REJECTED")])
async def test_each_on_a_page_of_their_own(api: MangopayApi, choice: str, status: str) -> None:
    session = await declared(api)
    psc = session["PSCs"][0]
    shown = await api.http.get(page_of(psc))
    assert "Ana Puig (Maison Soleil)" in shown.text
    assert (await api.http.post(page_of(psc), data={"choice": "other"})).status_code == 400
    for _ in range(2):
        done = await api.http.post(page_of(psc), data={"choice": choice})
        assert (done.status_code, done.headers["location"]) == (303, RETURN)
    assert (await api.control("GET", f"/pscs/{psc['Id']}"))["Status"] == status
    assert (await api.http.get(page_of(psc))).status_code == 410


async def test_declared_on_the_page_of_the_business(api: MangopayApi) -> None:
    for kind, offered in (("BUSINESS", True), ("SOLETRADER", False)):
        user = await owner(api, kind)
        made = await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
        assert ("validate_owners" in (await api.http.get(page_of(made))).text) is offered
        done = await api.http.post(page_of(made), data={"choice": "validate_owners"})
        assert done.status_code == (303 if offered else 400)
        names = [psc["FirstName"] for psc in (await api.read(f"/identity-verifications/{made['Id']}"))["PSCs"]]
        assert names == (["Joana", "Camille"] if offered else [])
