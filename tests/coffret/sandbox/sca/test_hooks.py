"""Notifications of enrolments and users: each way in which they can come late, twice, wrong or not at all."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.coffret.sandbox.people import owner, page_of, token_of, walk
from tests.coffret.sandbox.world import Json, World, running

ASKED, ACTIVATED, CLOSED = (f"USER_ACCOUNT_{event}" for event in ("VALIDATION_ASKED", "ACTIVATED", "CLOSED"))
SUCCEEDED, FAILED, EXPIRED = (f"SCA_ENROLLMENT_{end}" for end in ("SUCCEEDED", "FAILED", "EXPIRED"))
BLOCKED, UNBLOCKED = "USER_INFLOWS_BLOCKED", "USER_INFLOWS_UNBLOCKED"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        await world.hook(ASKED, ACTIVATED, CLOSED, SUCCEEDED, FAILED, EXPIRED, BLOCKED, UNBLOCKED)
        yield world


async def policy(world: World, kind: str, **more: Any) -> None:
    assert (await world.control("POST", "/hooks/policy", {"kind": kind, **more}))["kind"] == kind


async def done(world: World) -> Json:
    """An owner who enrols."""
    made = await owner(world)
    await walk(world, page_of(made))
    return made


async def types(world: World) -> list[str]:
    return [event for event, _ in await world.notices()]


async def test_immediate(world: World) -> None:
    id = (await done(world))["Id"]
    assert await world.notices() == [(ASKED, id), (ACTIVATED, id), (SUCCEEDED, id)]


async def test_delayed(world: World) -> None:
    await policy(world, "delayed", seconds=60)
    await done(world)
    await world.advance(59)
    assert await world.notices() == []
    await world.advance(1)
    assert await types(world) == [ASKED, ACTIVATED, SUCCEEDED]


async def test_twice(world: World) -> None:
    await policy(world, "duplicated")
    await done(world)
    assert await types(world) == [ASKED, ASKED, ACTIVATED, ACTIVATED, SUCCEEDED, SUCCEEDED]


async def test_out_of_order(world: World) -> None:
    await policy(world, "out_of_order", seconds=30)
    await done(world)
    await world.advance(30)
    assert await types(world) == [ACTIVATED, SUCCEEDED, ASKED]


async def test_lost_but_listed(world: World) -> None:
    await policy(world, "dropped")
    id = (await done(world))["Id"]
    await world.advance(3000)
    assert await world.notices() == []
    for event in (ASKED, ACTIVATED, SUCCEEDED):
        assert [listed["ResourceId"] for listed in await world.read(f"/events?EventType={event}")] == [id]


async def test_forged(world: World) -> None:
    made = await owner(world)
    await policy(world, "forged")
    await world.control("POST", f"/sca/{token_of(made)}", {"outcome": "fail"})
    (stranger_event, stranger), *others = (await world.notices())[1:]
    assert (stranger_event, others) == (FAILED, [(SUCCEEDED, made["Id"]), (FAILED, made["Id"])])
    assert (await world.call("GET", f"/sca/users/{stranger}")).status_code == 404
    assert (await world.read(f"/sca/users/{made['Id']}"))["UserStatus"] == "PENDING_USER_ACTION"


@pytest.mark.parametrize(("outcome", "lie"), [("expire", SUCCEEDED), ("fail", SUCCEEDED), ("succeed", FAILED)])
async def test_stale(world: World, outcome: str, lie: str) -> None:
    made = await owner(world)
    await policy(world, "stale")
    await world.control("POST", f"/sca/{token_of(made)}", {"outcome": outcome})
    assert (await world.notices())[-1] == (lie, made["Id"])
    assert (CLOSED in await types(world)) is (outcome == "succeed")
    await world.control("POST", f"/users/{made['Id']}", {"block": {"inflows": True}})
    assert (await world.notices())[-1] == (UNBLOCKED, made["Id"])
    assert (await world.read(f"/users/{made['Id']}/Regulatory"))["ScopeBlocked"]["Inflows"] is True


async def test_before_the_answer(world: World) -> None:
    await policy(world, "before_return")
    seen: list[tuple[str, str]] = []

    async def read_again(url: str) -> None:
        query = parse_qs(urlsplit(url).query)
        user = await world.read(f"/sca/users/{query['RessourceId'][0]}")
        seen.append((query["EventType"][0], user["UserStatus"]))

    world.during_hook = read_again
    made = await owner(world)
    assert seen == [(ASKED, "PENDING_USER_ACTION")]
    answer = await walk(world, page_of(made))
    assert answer is not None
    assert seen[1:] == [(ACTIVATED, "ACTIVE"), (SUCCEEDED, "ACTIVE")]


async def test_what_expires_by_itself_is_told(world: World) -> None:
    made = await owner(world)
    await world.advance(601)
    assert await world.notices() == [(ASKED, made["Id"]), (EXPIRED, made["Id"])]
