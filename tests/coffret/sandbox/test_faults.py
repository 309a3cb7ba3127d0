"""Failures on demand: each kind, before and after the call is executed."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import uvicorn

from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import Clock
from tests.coffret.sandbox.world import PAYER, World, payin_body, running

KEY = "0123456789abcdef"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        await world.log_in()
        yield world


async def executed(world: World) -> bool:
    """Whether the call with the key did its work."""
    return (await world.call("GET", f"/responses/{KEY}")).status_code == 200


async def meet(world: World, **fault: Any) -> httpx.Response:
    await world.control("POST", "/faults", {"method": "POST", "path": "/sca/users/*", **fault})
    return await world.call("POST", "/sca/users/natural", PAYER, key=KEY)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("status", [500, 502, 503])
async def test_status(world: World, when: str, status: int) -> None:
    answer = await meet(world, kind="status", status=status, when=when)
    assert (answer.status_code, answer.json()["Type"]) == (status, "injected_failure")
    assert await executed(world) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_rate_limit(world: World, when: str) -> None:
    answer = await meet(world, kind="rate_limit", when=when)
    assert (answer.status_code, answer.json()["Type"]) == (429, "rate_limit")
    assert answer.headers["x-ratelimit-remaining"] == "0, 0, 0, 0"
    assert await executed(world) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["drop", "hang"])
async def test_no_answer(world: World, when: str, kind: str) -> None:
    with pytest.raises(httpx.TransportError):
        await meet(world, kind=kind, when=when, seconds=0.01)
    assert await executed(world) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_truncated(world: World, when: str) -> None:
    answer = await meet(world, kind="truncated", when=when)
    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        answer.json()
    assert await executed(world) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_html(world: World, when: str) -> None:
    answer = await meet(world, kind="html", when=when)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert answer.text.startswith("<!doctype html>")
    assert await executed(world) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_slow_executes_all_the_same(world: World, when: str) -> None:
    answer = await meet(world, kind="slow", when=when, seconds=0.01)
    assert answer.json()["FirstName"] == "Ada"
    assert await executed(world)


async def test_failed_object(world: World) -> None:
    await world.seed()
    body = payin_body(await world.payer())
    await world.control("POST", "/faults", {"path": "/payins/card/web", "kind": "failed", "code": "101101"})
    failed = await world.made("/payins/card/web", body)
    assert (failed["Status"], failed["ResultCode"]) == ("FAILED", "101101")
    assert (await world.http.get(failed["RedirectURL"])).status_code == 410
    paid = await world.paid()
    await world.control("POST", "/faults", {"path": "/payins/*/refunds", "kind": "failed"})
    refund = await world.made(f"/payins/{paid['Id']}/refunds", {"AuthorId": paid["AuthorId"]})
    assert (refund["Status"], refund["ResultCode"]) == ("FAILED", "009199")
    assert (await world.read("/wallets/wallet"))["Balance"]["Amount"] == 2250


async def test_counted_matched_and_cleared(world: World) -> None:
    await world.control("POST", "/faults", {"method": "GET", "path": "/hooks", "kind": "status", "times": 2})
    statuses = [(await world.call("GET", path)).status_code for path in ("/events", "/Hooks/", "/hooks", "/hooks")]
    assert statuses == [400, 500, 500, 200]
    listed = await world.control("POST", "/faults", {"kind": "drop", "times": 9})
    assert [(fault["kind"], fault["times"]) for fault in listed["faults"]] == [("drop", 9)]
    assert (await world.http.delete("/_sb/faults")).json() == {"faults": []}
    await world.read("/hooks")


async def test_token_call_can_fail(world: World) -> None:
    await world.control("POST", "/faults", {"path": "/oauth/token", "kind": "drop"})
    with pytest.raises(httpx.TransportError):
        await world.log_in()
    await world.log_in()


@pytest.mark.parametrize(
    "fault", [{}, {"kind": "nothing"}, {"kind": "status", "status": 418}, {"kind": "drop", "extra": 1}]
)
async def test_unusable_faults_are_refused(world: World, fault: dict[str, Any]) -> None:
    assert (await world.http.post("/_sb/faults", json=fault)).status_code == 400
    assert await world.control("GET", "/faults") == {"faults": []}


async def test_a_cut_connection_over_a_socket() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = sandbox_app(SandboxSettings(public_url=origin + "/", clock=Clock()))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    async with httpx.AsyncClient(base_url=origin) as http:
        await http.post("/_sb/faults", json={"kind": "drop"})
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post(
                "/v2.01/oauth/token", data={"grant_type": "client_credentials"}, auth=("sandbox", "sandbox")
            )
        answer = await http.post(
            "/v2.01/oauth/token", data={"grant_type": "client_credentials"}, auth=("sandbox", "sandbox")
        )
        assert answer.status_code == 200
    server.should_exit = True
    await serving
    await close(app)
