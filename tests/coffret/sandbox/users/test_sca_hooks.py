"""Notifications of enrolments and users: each way in which they can come late, twice, wrong or not at all."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.people import owner, page_of, token_of, walk

ASKED, ACTIVATED, CLOSED = (f"USER_ACCOUNT_{event}" for event in ("VALIDATION_ASKED", "ACTIVATED", "CLOSED"))
SUCCEEDED, FAILED, EXPIRED = (f"SCA_ENROLLMENT_{end}" for end in ("SUCCEEDED", "FAILED", "EXPIRED"))
BLOCKED, UNBLOCKED = "USER_INFLOWS_BLOCKED", "USER_INFLOWS_UNBLOCKED"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.hook(ASKED, ACTIVATED, CLOSED, SUCCEEDED, FAILED, EXPIRED, BLOCKED, UNBLOCKED)
        yield api


async def policy(api: MangopayApi, kind: str, **more: Any) -> None:
    assert (await api.control("POST", "/hooks/policy", {"kind": kind, **more}))["kind"] == kind


async def done(api: MangopayApi) -> Json:
    """An owner who enrols."""
    made = await owner(api)
    await walk(api, page_of(made))
    return made


async def types(api: MangopayApi) -> list[str]:
    return [event for event, _ in await api.notices()]


async def test_immediate(api: MangopayApi) -> None:
    id = (await done(api))["Id"]
    assert await api.notices() == [(ASKED, id), (ACTIVATED, id), (SUCCEEDED, id)]


async def test_delayed(api: MangopayApi) -> None:
    await policy(api, "delayed", seconds=60)
    await done(api)
    await api.advance(59)
    assert await api.notices() == []
    await api.advance(1)
    assert await types(api) == [ASKED, ACTIVATED, SUCCEEDED]


async def test_twice(api: MangopayApi) -> None:
    await policy(api, "duplicated")
    await done(api)
    assert await types(api) == [ASKED, ASKED, ACTIVATED, ACTIVATED, SUCCEEDED, SUCCEEDED]


async def test_out_of_order(api: MangopayApi) -> None:
    await policy(api, "out_of_order", seconds=30)
    await done(api)
    await api.advance(30)
    assert await types(api) == [ACTIVATED, SUCCEEDED, ASKED]


async def test_lost_but_listed(api: MangopayApi) -> None:
    await policy(api, "dropped")
    id = (await done(api))["Id"]
    await api.advance(3000)
    assert await api.notices() == []
    for event in (ASKED, ACTIVATED, SUCCEEDED):
        assert [listed["ResourceId"] for listed in await api.read(f"/events?EventType={event}")] == [id]


async def test_forged(api: MangopayApi) -> None:
    made = await owner(api)
    await policy(api, "forged")
    await api.control("POST", f"/sca/{token_of(made)}", {"outcome": "fail"})
    (stranger_event, stranger), *others = (await api.notices())[1:]
    assert (stranger_event, others) == (FAILED, [(SUCCEEDED, made["Id"]), (FAILED, made["Id"])])
    assert (await api.call("GET", f"/sca/users/{stranger}")).status_code == 404
    assert (await api.read(f"/sca/users/{made['Id']}"))["UserStatus"] == "PENDING_USER_ACTION"


@pytest.mark.parametrize(("outcome", "lie"), [("expire", SUCCEEDED), ("fail", SUCCEEDED), ("succeed", FAILED)])
async def test_stale(api: MangopayApi, outcome: str, lie: str) -> None:
    made = await owner(api)
    await policy(api, "stale")
    await api.control("POST", f"/sca/{token_of(made)}", {"outcome": outcome})
    assert (await api.notices())[-1] == (lie, made["Id"])
    assert (CLOSED in await types(api)) is (outcome == "succeed")
    await api.control("POST", f"/users/{made['Id']}", {"block": {"inflows": True}})
    assert (await api.notices())[-1] == (UNBLOCKED, made["Id"])
    assert (await api.read(f"/users/{made['Id']}/Regulatory"))["ScopeBlocked"]["Inflows"] is True


async def test_before_the_answer(api: MangopayApi) -> None:
    await policy(api, "before_return")
    seen: list[tuple[str, str]] = []

    async def read_again(url: str) -> None:
        query = parse_qs(urlsplit(url).query)
        user = await api.read(f"/sca/users/{query['RessourceId'][0]}")
        seen.append((query["EventType"][0], user["UserStatus"]))

    api.during_hook = read_again
    made = await owner(api)
    assert seen == [(ASKED, "PENDING_USER_ACTION")]
    answer = await walk(api, page_of(made))
    assert answer is not None
    assert seen[1:] == [(ACTIVATED, "ACTIVE"), (SUCCEEDED, "ACTIVE")]


async def test_what_expires_by_itself_is_told(api: MangopayApi) -> None:
    made = await owner(api)
    await api.advance(601)
    assert await api.notices() == [(ASKED, made["Id"]), (EXPIRED, made["Id"])]
