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
from tests.coffret.sandbox.mangopay_api import PAYER, MangopayApi, payin_body, running

KEY = "0123456789abcdef"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.log_in()
        yield api


async def executed(api: MangopayApi) -> bool:
    """Whether the call with the key did its work."""
    return (await api.call("GET", f"/responses/{KEY}")).status_code == 200


async def meet(api: MangopayApi, **fault: Any) -> httpx.Response:
    await api.control("POST", "/faults", {"method": "POST", "path": "/sca/users/*", **fault})
    return await api.call("POST", "/sca/users/natural", PAYER, key=KEY)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("status", [500, 502, 503])
async def test_status(api: MangopayApi, when: str, status: int) -> None:
    answer = await meet(api, kind="status", status=status, when=when)
    assert (answer.status_code, answer.json()["Type"]) == (status, "injected_failure")
    assert await executed(api) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_rate_limit(api: MangopayApi, when: str) -> None:
    answer = await meet(api, kind="rate_limit", when=when)
    assert (answer.status_code, answer.json()["Type"]) == (429, "rate_limit")
    assert answer.headers["x-ratelimit-remaining"] == "0, 0, 0, 0"
    assert await executed(api) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["drop", "hang"])
async def test_no_answer(api: MangopayApi, when: str, kind: str) -> None:
    with pytest.raises(httpx.TransportError):
        await meet(api, kind=kind, when=when, seconds=0.01)
    assert await executed(api) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_truncated(api: MangopayApi, when: str) -> None:
    answer = await meet(api, kind="truncated", when=when)
    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        answer.json()
    assert await executed(api) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_html(api: MangopayApi, when: str) -> None:
    answer = await meet(api, kind="html", when=when)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert answer.text.startswith("<!doctype html>")
    assert await executed(api) is (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
async def test_slow_executes_all_the_same(api: MangopayApi, when: str) -> None:
    answer = await meet(api, kind="slow", when=when, seconds=0.01)
    assert answer.json()["FirstName"] == "Ada"
    assert await executed(api)


async def test_failed_object(api: MangopayApi) -> None:
    await api.seed()
    body = payin_body(await api.payer())
    await api.control("POST", "/faults", {"path": "/payins/card/web", "kind": "failed", "code": "101101"})
    failed = await api.create("/payins/card/web", body)
    assert (failed["Status"], failed["ResultCode"]) == ("FAILED", "101101")
    assert (await api.http.get(failed["RedirectURL"])).status_code == 410
    paid = await api.paid()
    await api.control("POST", "/faults", {"path": "/payins/*/refunds", "kind": "failed"})
    refund = await api.create(f"/payins/{paid['Id']}/refunds", {"AuthorId": paid["AuthorId"]})
    assert (refund["Status"], refund["ResultCode"]) == ("FAILED", "009199")
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 2250


async def test_counted_matched_and_cleared(api: MangopayApi) -> None:
    await api.control("POST", "/faults", {"method": "GET", "path": "/hooks", "kind": "status", "times": 2})
    statuses = [(await api.call("GET", path)).status_code for path in ("/events", "/Hooks/", "/hooks", "/hooks")]
    assert statuses == [400, 500, 500, 200]
    listed = await api.control("POST", "/faults", {"kind": "drop", "times": 9})
    assert [(fault["kind"], fault["times"]) for fault in listed["faults"]] == [("drop", 9)]
    assert (await api.http.delete("/_sb/faults")).json() == {"faults": []}
    await api.read("/hooks")


async def test_token_call_can_fail(api: MangopayApi) -> None:
    await api.control("POST", "/faults", {"path": "/oauth/token", "kind": "drop"})
    with pytest.raises(httpx.TransportError):
        await api.log_in()
    await api.log_in()


@pytest.mark.parametrize(
    "fault", [{}, {"kind": "nothing"}, {"kind": "status", "status": 418}, {"kind": "drop", "extra": 1}]
)
async def test_unusable_faults_are_refused(api: MangopayApi, fault: dict[str, Any]) -> None:
    assert (await api.http.post("/_sb/faults", json=fault)).status_code == 400
    assert await api.control("GET", "/faults") == {"faults": []}


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
