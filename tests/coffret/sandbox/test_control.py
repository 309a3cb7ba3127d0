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

from coffret.sandbox import SandboxSettings, close, sandbox_app
from coffret.sandbox.payments import ledger
from coffret.sandbox.payments.ledger import UnbalancedPosting
from store.core.clock import Clock
from tests.coffret.sandbox.mangopay_api import CHALLENGE, PAYER, SUCCESS, MangopayApi, page_path, payin_body, running


async def control_status(api: MangopayApi, method: str, path: str, body: Any = None) -> int:
    return (await api.http.request(method, f"/_sb{path}", json=body)).status_code


async def test_index_names_everything() -> None:
    async with running() as api:
        named = (await api.control("GET", "/"))["control_plane"]
        assert "POST /_sb/clock" in named
        assert await control_status(api, "GET", "/nothing") == 404


async def test_other_sites_may_not_steer_it() -> None:
    async with running() as api:
        await api.seed()
        answer = await api.http.post("/_sb/reset", headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403
        assert (await api.call("GET", "/wallets/wallet")).status_code == 200


async def test_clock() -> None:
    async with running() as api:
        before = await api.control("GET", "/clock")
        after = await api.control("POST", "/clock", {"advance": 3600.5})
        assert after["ahead"] == before["ahead"] + 3600.5
        assert 3600 <= after["timestamp"] - before["timestamp"] <= 3602
        assert api.clock.ahead.total_seconds() == after["ahead"]
        for body in ({}, {"advance": -1}, {"advance": "soon"}):
            assert await control_status(api, "POST", "/clock", body) == 400
        assert (await api.control("GET", "/clock"))["ahead"] == after["ahead"]


async def test_seed_is_idempotent() -> None:
    async with running() as api:
        body = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil"}
        first = await api.control("POST", "/seed", body)
        assert first["user"]["UserStatus"] == "ACTIVE"
        assert first["user"]["KYCLevel"] == "REGULAR"
        assert await api.control("POST", "/seed", {**body, "name": "Other"}) == first
        assert await api.read("/sca/users/legal/partner") == first["user"]
        assert await api.read("/wallets/wallet") == first["wallet"]
        assert await control_status(api, "POST", "/seed", {"user_id": "x"}) == 400


async def test_pay_without_a_browser() -> None:
    async with running() as api:
        for body, expected in (
            ({"card": SUCCESS}, ("SUCCEEDED", "000000")),
            ({"card": CHALLENGE}, ("SUCCEEDED", "000000")),
            ({"card": CHALLENGE, "challenge": "refuse"}, ("FAILED", "101301")),
            ({"card": CHALLENGE, "challenge": "leave"}, ("CREATED", None)),
            ({"card": "4970109000000205"}, ("FAILED", "101102")),
            ({}, ("FAILED", "101002")),
        ):
            payin = await api.payin()
            answer = await api.control("POST", f"/payins/{payin['Id']}/pay", body)
            assert (answer["Status"], answer["ResultCode"]) == expected
            assert await api.read(f"/payins/{payin['Id']}") == answer
        assert await control_status(api, "POST", f"/payins/{payin['Id']}/pay", {"card": SUCCESS}) == 409
        assert await control_status(api, "POST", "/payins/none/pay", {"card": SUCCESS}) == 404
        open_payin = await api.payin()
        assert await control_status(api, "POST", f"/payins/{open_payin['Id']}/pay", {"card": "4111111111111111"}) == 400
        assert await control_status(api, "POST", f"/payins/{open_payin['Id']}/pay", {"cards": SUCCESS}) == 400
        assert (await api.read(f"/payins/{open_payin['Id']}"))["Status"] == "CREATED"


async def test_reset_forgets_all_but_the_time() -> None:
    async with running() as api:
        paid = await api.paid()
        await api.create(f"/payins/{paid['Id']}/refunds", {"AuthorId": paid["AuthorId"]})
        await api.control("POST", "/faults", {"kind": "drop"})
        await api.advance(60)
        ahead = (await api.control("GET", "/clock"))["ahead"]
        await api.control("POST", "/reset")
        assert (await api.control("GET", "/clock"))["ahead"] == ahead
        assert await api.control("GET", "/faults") == {"faults": []}
        assert (await api.control("GET", "/stats")) == {"calls": {}, "token_calls": 0, "charges": {}, "charged": 0}
        assert (await api.call("GET", "/hooks")).status_code == 401
        await api.log_in()
        assert (await api.call("GET", f"/payins/{paid['Id']}")).status_code == 404
        assert (await api.paid())["Status"] == "SUCCEEDED"


async def test_the_ledger_only_grows(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path / "sandbox.sqlite") as api:
        payin = await api.paid()
        with sqlite3.connect(tmp_path / "sandbox.sqlite") as file:
            for statement in ("UPDATE posting SET amount = 0", "DELETE FROM posting"):
                with pytest.raises(sqlite3.IntegrityError, match="postings are never"):
                    file.execute(statement)
        file.close()
        sandbox = api.app.state.sandbox
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            await sandbox.run(ledger.post, payin["Id"], "EUR", {ledger.OUTSIDE: -1, ledger.FEES: 1})
        with pytest.raises(UnbalancedPosting):
            await sandbox.run(ledger.post, (await api.payin())["Id"], "EUR", {ledger.OUTSIDE: -1})
        assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 2250


async def test_the_check_finds_what_is_wrong(tmp_path: pathlib.Path) -> None:
    async with running(tmp_path / "sandbox.sqlite") as api:
        payin = await api.payin()
        sandbox = api.app.state.sandbox
        insert = "INSERT INTO posting (movement_id, account, currency, amount, posted_at) VALUES (?, 'wallet:wallet', 'EUR', -5, 0)"
        await sandbox.run(lambda session: session.change(insert, payin["Id"]))
        found = await api.control("GET", "/ledger/check")
        assert found["balanced"] is False
        assert (found["sums"], found["unbalanced"], found["overdrawn"]) == (
            {"EUR": -5},
            [payin["Id"]],
            ["wallet:wallet"],
        )
        await api.control("POST", "/reset")


async def test_state_survives_a_restart(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state" / "sandbox.sqlite"
    async with running(path) as api:
        await api.hook("PAYIN_NORMAL_SUCCEEDED")
        payin = await api.payin(key="a" * 20)
        await api.submit(payin, CHALLENGE)
        await api.advance(500)
        token = api.token
    async with running(path, clock=Clock()) as api:
        api.token = token
        assert (await api.control("GET", "/clock"))["ahead"] == 500
        assert (await api.read(f"/responses/{'a' * 20}"))["Resource"]["Id"] == payin["Id"]
        await api.http.post(page_path(payin, "/challenge"), data={"code": "000000", "choice": "confirm"})
        assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"
        assert await api.notices() == [("PAYIN_NORMAL_SUCCEEDED", payin["Id"])]


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
        async with running(path, clock=Clock()) as api:
            await api.seed()
            while True:
                await api.paid()
                ready.set()

    asyncio.run(work())


def make_users(path: pathlib.Path, count: int) -> None:
    """What one of several processes does at the same time."""

    async def work() -> None:
        app = sandbox_app(SandboxSettings(public_url="http://x", path=path, seed=1, clock=Clock()))
        await close(app)
        async with running(path, clock=Clock(), seed=1) as api:
            for _ in range(count):
                await api.create("/sca/users/natural", PAYER)

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
        async with running(path, clock=Clock()) as api:
            stats = await api.control("GET", "/stats")
            assert stats["charged"] >= 3
            for id, charges in stats["charges"].items():
                assert (await api.read(f"/payins/{id}"))["Status"] == ("SUCCEEDED" if charges else "CREATED")
            assert (await api.create("/payins/card/web", payin_body(await api.payer())))["Status"] == "CREATED"

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
        assert file.execute("SELECT count(DISTINCT id) FROM user WHERE category <> 'PLATFORM'").fetchone() == (80,)
    file.close()
