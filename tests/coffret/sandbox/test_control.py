"""The control plane, and that state outlives processes and is shared by them."""

import asyncio
import multiprocessing
import os
import pathlib
import signal
import sqlite3
import time
from typing import Any

import pytest

from coffret.sandbox import SandboxSettings, close, ledger, sandbox_app
from coffret.sandbox.ledger import UnbalancedPosting
from store.core.clock import Clock
from tests.coffret.sandbox.world import CHALLENGE, PAYER, SUCCESS, World, page_path, payin_body, running


async def refused(world: World, method: str, path: str, body: Any = None) -> int:
    return (await world.http.request(method, f"/_sb{path}", json=body)).status_code


async def test_index_names_everything() -> None:
    async with running() as world:
        named = (await world.control("GET", "/"))["control_plane"]
        assert "POST /_sb/clock" in named
        assert await refused(world, "GET", "/nothing") == 404


async def test_other_sites_may_not_steer_it() -> None:
    async with running() as world:
        await world.seed()
        answer = await world.http.post("/_sb/reset", headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403
        assert (await world.call("GET", "/wallets/wallet")).status_code == 200


async def test_clock() -> None:
    async with running() as world:
        before = await world.control("GET", "/clock")
        after = await world.control("POST", "/clock", {"advance": 3600.5})
        assert after["ahead"] == before["ahead"] + 3600.5
        assert 3600 <= after["timestamp"] - before["timestamp"] <= 3602
        assert world.clock.ahead.total_seconds() == after["ahead"]
        for body in ({}, {"advance": -1}, {"advance": "soon"}):
            assert await refused(world, "POST", "/clock", body) == 400
        assert (await world.control("GET", "/clock"))["ahead"] == after["ahead"]


async def test_seed_is_idempotent() -> None:
    async with running() as world:
        body = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil"}
        first = await world.control("POST", "/seed", body)
        assert first["user"]["UserStatus"] == "ACTIVE"
        assert first["user"]["KYCLevel"] == "REGULAR"
        assert await world.control("POST", "/seed", {**body, "name": "Other"}) == first
        assert await world.read("/sca/users/legal/partner") == first["user"]
        assert await world.read("/wallets/wallet") == first["wallet"]
        assert await refused(world, "POST", "/seed", {"user_id": "x"}) == 400


async def test_pay_without_a_browser() -> None:
    async with running() as world:
        for body, expected in (
            ({"card": SUCCESS}, ("SUCCEEDED", "000000")),
            ({"card": CHALLENGE}, ("SUCCEEDED", "000000")),
            ({"card": CHALLENGE, "challenge": "refuse"}, ("FAILED", "101301")),
            ({"card": CHALLENGE, "challenge": "leave"}, ("CREATED", None)),
            ({"card": "4970109000000205"}, ("FAILED", "101102")),
            ({}, ("FAILED", "101002")),
        ):
            payin = await world.payin()
            answer = await world.control("POST", f"/payins/{payin['Id']}/pay", body)
            assert (answer["Status"], answer["ResultCode"]) == expected
            assert await world.read(f"/payins/{payin['Id']}") == answer
        assert await refused(world, "POST", f"/payins/{payin['Id']}/pay", {"card": SUCCESS}) == 409
        assert await refused(world, "POST", "/payins/none/pay", {"card": SUCCESS}) == 404
        open_payin = await world.payin()
        assert await refused(world, "POST", f"/payins/{open_payin['Id']}/pay", {"card": "4111111111111111"}) == 400
        assert await refused(world, "POST", f"/payins/{open_payin['Id']}/pay", {"cards": SUCCESS}) == 400
        assert (await world.read(f"/payins/{open_payin['Id']}"))["Status"] == "CREATED"


async def test_reset_forgets_all_but_the_time() -> None:
    async with running() as world:
        paid = await world.paid()
        await world.made(f"/payins/{paid['Id']}/refunds", {"AuthorId": paid["AuthorId"]})
        await world.control("POST", "/faults", {"kind": "drop"})
        await world.advance(60)
        ahead = (await world.control("GET", "/clock"))["ahead"]
        await world.control("POST", "/reset")
        assert (await world.control("GET", "/clock"))["ahead"] == ahead
        assert await world.control("GET", "/faults") == {"faults": []}
        assert (await world.control("GET", "/stats")) == {"calls": {}, "token_calls": 0, "charges": {}, "charged": 0}
        assert (await world.call("GET", "/hooks")).status_code == 401
        await world.log_in()
        assert (await world.call("GET", f"/payins/{paid['Id']}")).status_code == 404
        assert (await world.paid())["Status"] == "SUCCEEDED"


async def test_the_ledger_only_grows(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path / "sandbox.sqlite") as world:
        payin = await world.paid()
        with sqlite3.connect(tmp_path / "sandbox.sqlite") as file:
            for statement in ("UPDATE posting SET amount = 0", "DELETE FROM posting"):
                with pytest.raises(sqlite3.IntegrityError, match="postings are never"):
                    file.execute(statement)
        file.close()
        sandbox = world.app.state.sandbox
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            await sandbox.run(ledger.post, payin["Id"], "EUR", {ledger.OUTSIDE: -1, ledger.FEES: 1})
        with pytest.raises(UnbalancedPosting):
            await sandbox.run(ledger.post, (await world.payin())["Id"], "EUR", {ledger.OUTSIDE: -1})
        assert (await world.read("/wallets/wallet"))["Balance"]["Amount"] == 2250


async def test_the_check_finds_what_is_wrong(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path / "sandbox.sqlite") as world:
        payin = await world.payin()
        sandbox = world.app.state.sandbox
        insert = "INSERT INTO posting (movement_id, account, currency, amount, posted_at) VALUES (?, 'wallet:wallet', 'EUR', -5, 0)"
        await sandbox.run(lambda session: session.change(insert, payin["Id"]))
        found = await world.control("GET", "/ledger/check")
        assert found["balanced"] is False
        assert (found["sums"], found["unbalanced"], found["overdrawn"]) == (
            {"EUR": -5},
            [payin["Id"]],
            ["wallet:wallet"],
        )
        await world.control("POST", "/reset")


async def test_state_survives_a_restart(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state" / "sandbox.sqlite"
    async with running(path) as world:
        await world.hook("PAYIN_NORMAL_SUCCEEDED")
        payin = await world.payin(key="a" * 20)
        await world.submit(payin, CHALLENGE)
        await world.advance(500)
        token = world.token
    async with running(path, clock=Clock()) as world:
        world.token = token
        assert (await world.control("GET", "/clock"))["ahead"] == 500
        assert (await world.read(f"/responses/{'a' * 20}"))["Resource"]["Id"] == payin["Id"]
        await world.http.post(page_path(payin, "/challenge"), data={"code": "000000", "choice": "confirm"})
        assert (await world.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"
        assert await world.notices() == [("PAYIN_NORMAL_SUCCEEDED", payin["Id"])]


async def test_two_processes_share_time_and_state(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sandbox.sqlite"
    async with running(path, clock=Clock()) as one, running(path, clock=Clock()) as other:
        payin = await one.payin()
        await other.advance(901)
        assert (await one.read(f"/payins/{payin['Id']}"))["ResultCode"] == "101109"
        assert one.clock.ahead == other.clock.ahead


def pay_for_ever(path: pathlib.Path, ready: Any) -> None:
    """What a process does until it is killed: pay-ins, one after the other."""

    async def work() -> None:
        async with running(path, clock=Clock()) as world:
            await world.seed()
            while True:
                await world.paid()
                ready.set()

    asyncio.run(work())


def make_users(path: pathlib.Path, count: int) -> None:
    """What one of several processes does at the same time."""

    async def work() -> None:
        app = sandbox_app(SandboxSettings(public_url="http://x", path=path, seed=1, clock=Clock()))
        await close(app)
        async with running(path, clock=Clock(), seed=1) as world:
            for _ in range(count):
                await world.made("/sca/users/natural", PAYER)

    asyncio.run(work())


def test_killed_at_any_moment_nothing_is_half_done(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sandbox.sqlite"
    spawn = multiprocessing.get_context("spawn")
    for _ in range(3):
        ready = spawn.Event()
        process = spawn.Process(target=pay_for_ever, args=(path, ready))
        process.start()
        assert ready.wait(60)
        time.sleep(0.05)
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join()

    async def look() -> None:
        async with running(path, clock=Clock()) as world:
            stats = await world.control("GET", "/stats")
            assert stats["charged"] >= 3
            for id, charges in stats["charges"].items():
                assert (await world.read(f"/payins/{id}"))["Status"] == ("SUCCEEDED" if charges else "CREATED")
            assert (await world.made("/payins/card/web", payin_body(await world.payer())))["Status"] == "CREATED"

    asyncio.run(look())


def test_processes_at_once_never_mint_the_same_id(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sandbox.sqlite"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=make_users, args=(path, 40)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(DISTINCT id) FROM user").fetchone() == (80,)
    file.close()
