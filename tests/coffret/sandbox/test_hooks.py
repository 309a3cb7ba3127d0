"""Notifications: when they are sent, how they are tried again, and every way in which they can mislead."""

import asyncio
import datetime as dt
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from coffret.sandbox import SandboxSettings, close, run_background, sandbox_app, tick
from store.core.clock import Clock
from tests.coffret.sandbox.mangopay_api import HOOK, MangopayApi, running

CREATED, SUCCEEDED, FAILED = (f"PAYIN_NORMAL_{outcome}" for outcome in ("CREATED", "SUCCEEDED", "FAILED"))
PAGE = dt.timedelta(minutes=15)
REFUNDED = "PAYIN_REFUND_SUCCEEDED"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        await api.hook(CREATED, SUCCEEDED, FAILED, REFUNDED)
        yield api


@pytest.fixture
async def lone() -> AsyncIterator[MangopayApi]:
    """A sandbox with the hook of one event type."""
    async with running() as api:
        await api.hook(CREATED)
        yield api


async def policy(api: MangopayApi, kind: str, **more: Any) -> None:
    assert (await api.control("POST", "/hooks/policy", {"kind": kind, **more}))["kind"] == kind


async def test_immediate(api: MangopayApi) -> None:
    payin = await api.paid()
    assert await api.notices() == [(CREATED, payin["Id"]), (SUCCEEDED, payin["Id"])]
    url = urlsplit(api.received[0])
    assert f"{url.scheme}://{url.netloc}{url.path}" == HOOK
    assert parse_qs(url.query) == {
        "EventType": [CREATED],
        "RessourceId": [payin["Id"]],
        "Date": [str(payin["CreationDate"])],
    }
    assert {hook["EventType"]: hook["Validity"] for hook in await api.read("/hooks")} == {
        CREATED: "VALID",
        SUCCEEDED: "VALID",
        FAILED: "UNKNOWN",
        REFUNDED: "UNKNOWN",
    }


async def test_an_address_with_a_query_keeps_it(api: MangopayApi) -> None:
    hook = (await api.read("/hooks"))[0]
    await api.call("PUT", f"/hooks/{hook['Id']}", {"Url": HOOK + "?a=1"})
    await api.payin()
    await api.notices()
    assert api.received[0].startswith(HOOK + "?a=1&EventType=")


async def test_delayed(api: MangopayApi) -> None:
    await policy(api, "delayed", seconds=120)
    payin = await api.paid()
    await api.advance(119)
    assert await api.notices() == []
    await api.advance(1)
    assert await api.notices() == [(CREATED, payin["Id"]), (SUCCEEDED, payin["Id"])]


async def test_held_until_a_flush(api: MangopayApi) -> None:
    await policy(api, "delayed")
    payin = await api.paid()
    await api.advance(86_400)
    assert await api.notices() == []
    assert await api.control("POST", "/hooks/flush") == {"sent": 2}
    assert await api.notices() == [(CREATED, payin["Id"]), (SUCCEEDED, payin["Id"])]
    assert await api.control("POST", "/hooks/flush") == {"sent": 0}


async def test_flushed_in_a_shuffled_order_that_a_seed_repeats(api: MangopayApi) -> None:
    await policy(api, "delayed")
    orders = []
    for seed in ("1", "1", "2"):
        payins = [(await api.payin())["Id"] for _ in range(6)]
        before = len(await api.notices())
        await api.control("POST", f"/hooks/flush?shuffle={seed}")
        sent = [id for _, id in (await api.notices())[before:]]
        assert sorted(sent) == sorted(payins)
        orders.append([payins.index(id) for id in sent])
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


async def test_duplicated(api: MangopayApi) -> None:
    await policy(api, "duplicated", times=3)
    payin = await api.payin()
    assert await api.notices() == [(CREATED, payin["Id"])] * 3
    assert len(set(api.received)) == 1


async def test_out_of_order(api: MangopayApi) -> None:
    await policy(api, "out_of_order", seconds=10)
    payin = await api.paid()
    refund = await api.create(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"]})
    await api.advance(10)
    await api.advance(10)
    assert await api.notices() == [(REFUNDED, refund["Id"]), (SUCCEEDED, payin["Id"]), (CREATED, payin["Id"])]


async def test_dropped_but_listed(api: MangopayApi) -> None:
    await policy(api, "dropped")
    payin = await api.paid()
    await api.advance(7 * 86_400)
    await api.log_in()
    assert await api.notices() == []
    assert [event["ResourceId"] for event in await api.read(f"/events?EventType={SUCCEEDED}")] == [payin["Id"]]


async def test_forged(api: MangopayApi) -> None:
    payin = await api.payin()
    await policy(api, "forged")
    await api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
    (_, first), *others = (await api.notices())[1:]
    assert others == [(FAILED, payin["Id"]), (SUCCEEDED, payin["Id"])]
    assert first != payin["Id"]
    assert (await api.call("GET", f"/payins/{first}")).status_code == 404
    assert await api.read(f"/events?EventType={FAILED}") == []


async def test_stale(api: MangopayApi) -> None:
    await policy(api, "stale")
    payin = await api.paid("4970109000000106")
    assert payin["Status"] == "FAILED"
    assert await api.notices() == [(CREATED, payin["Id"]), (SUCCEEDED, payin["Id"])]


async def test_before_the_call_returns(api: MangopayApi) -> None:
    await policy(api, "before_return")
    seen: list[str] = []

    async def read_again(url: str) -> None:
        id = parse_qs(urlsplit(url).query)["RessourceId"][0]
        seen.append((await api.read(f"/payins/{id}"))["Status"])

    api.during_hook = read_again
    call = asyncio.create_task(api.payin())
    payin = await call
    assert seen == ["CREATED"]
    assert [notice for notice in api.received if payin["Id"] in notice]


async def test_unusable_policy_is_refused(api: MangopayApi) -> None:
    for body in ({"kind": "never"}, {"kind": "delayed", "seconds": -1}, {"kind": "duplicated", "times": 1}):
        assert (await api.http.post("/_sb/hooks/policy", json=body)).status_code == 400
    assert (await api.control("GET", "/hooks/policy"))["kind"] == "immediate"


async def test_tried_again_for_three_days(lone: MangopayApi) -> None:
    await lone.notices()
    lone.hook_answers = [500, 301, 204, httpx.ConnectError("gone"), TimeoutError(), OSError(), *[500] * 10]
    await lone.payin()
    waits = [600] * 6 + [8 * 3600] * 9
    for sent, wait in enumerate(waits, 1):
        assert len(await lone.notices()) == sent
        await lone.advance(wait - 1)
        assert len(await lone.notices()) == sent
        await lone.advance(1)
    assert len(await lone.notices()) == 16
    delivery = (await lone.control("GET", "/hooks/deliveries"))["deliveries"][0]
    assert (delivery["state"], delivery["attempts"], delivery["outcome"]) == ("given_up", 16, "500")
    await lone.log_in()
    hook = (await lone.read("/hooks"))[0]
    assert (hook["Validity"], hook["Status"]) == ("INVALID", "ENABLED")
    await lone.payin()
    await lone.advance(86_400)
    assert len(await lone.notices()) == 16
    await lone.log_in()
    await lone.call("PUT", f"/hooks/{hook['Id']}", {"Status": "ENABLED"})
    assert (await lone.read(f"/hooks/{hook['Id']}"))["Validity"] == "INVALID"
    for status in ("DISABLED", "ENABLED"):
        await lone.call("PUT", f"/hooks/{hook['Id']}", {"Status": status})
    assert (await lone.read(f"/hooks/{hook['Id']}"))["Validity"] == "UNKNOWN"
    await lone.payin()
    assert len(await lone.notices()) == 17


async def test_a_try_that_works_ends_the_tries(lone: MangopayApi) -> None:
    lone.hook_answers = [500]
    await lone.payin()
    await lone.advance(600)
    await lone.advance(86_400)
    assert len(await lone.notices()) == 2


async def test_disabled_hooks_hear_nothing(api: MangopayApi) -> None:
    for hook in await api.read("/hooks"):
        await api.call("PUT", f"/hooks/{hook['Id']}", {"Status": "DISABLED"})
    await api.paid()
    await api.advance(86_400)
    assert await api.notices() == []


async def test_two_seconds_at_most() -> None:
    async with running(hook_timeout=0.05) as api:
        await api.hook(CREATED)

        async def slow(url: str) -> None:
            await asyncio.sleep(5)

        api.during_hook = slow
        await api.payin()
        await api.notices()
        delivery = (await api.control("GET", "/hooks/deliveries"))["deliveries"][0]
        assert (delivery["state"], delivery["attempts"], delivery["outcome"]) == ("pending", 1, "TimeoutError")


async def test_background_ends_what_runs_out_of_time(api: MangopayApi) -> None:
    payin = await api.payin()
    stop, told = asyncio.Event(), asyncio.Event()

    async def hear(url: str) -> None:
        if FAILED in url and payin["Id"] in url:
            told.set()

    api.during_hook = hear
    background = asyncio.create_task(run_background(api.app, stop, every=0.01))
    api.clock.advance(PAGE)
    async with asyncio.timeout(60):
        await told.wait()
    stop.set()
    await background


async def test_tick_sends_what_is_due(api: MangopayApi) -> None:
    await policy(api, "delayed", seconds=60)
    payin = await api.payin()
    api.clock.advance(PAGE)
    await tick(api.app)
    assert (await api.notices())[0] == (CREATED, payin["Id"])


async def test_ticks_at_once_send_once(api: MangopayApi) -> None:
    await policy(api, "delayed", seconds=60)
    await asyncio.gather(*(api.payin() for _ in range(15)))
    api.clock.advance(PAGE / 2)
    await asyncio.gather(*(tick(api.app) for _ in range(5)))
    assert len(await api.notices()) == len(set(api.received)) == 15


async def test_sent_over_the_network_by_default() -> None:
    heard: list[str] = []

    async def hook(request: Request) -> PlainTextResponse:
        heard.append(request.query_params["EventType"])
        return PlainTextResponse("ok")

    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=[Route("/hook", hook)]), log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    app = sandbox_app(SandboxSettings(public_url="http://sandbox.test", clock=Clock()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sandbox.test") as http:
        api = MangopayApi(app, Clock(), http, [])
        for event_type, url in ((CREATED, f"{origin}/hook"), (FAILED, f"{origin}/nothing")):
            await api.create("/hooks", {"EventType": event_type, "Url": url})
        await api.paid("4970109000000106")
        await api.control("POST", "/hooks/flush")
        outcomes = [delivery["outcome"] for delivery in (await api.control("GET", "/hooks/deliveries"))["deliveries"]]
    assert (heard, outcomes) == ([CREATED], ["200", "404"])
    await close(app)
    server.should_exit = True
    await serving
