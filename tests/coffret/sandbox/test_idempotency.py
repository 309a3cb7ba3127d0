"""`Idempotency-Key`: the first answer is kept for a day and told on request, a second use is refused."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import PAYER, MangopayApi, running

KEY = "0123456789abcdef-KEY"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.log_in()
        yield api


async def test_first_answer_is_told_and_second_use_refused(api: MangopayApi) -> None:
    first = await api.call("POST", "/sca/users/natural", PAYER, key=KEY)
    second = await api.call("POST", "/sca/users/natural", PAYER, key=KEY)
    assert (second.status_code, second.json()["Type"]) == (409, "idempotent_creation_conflict")
    stored = await api.read(f"/responses/{KEY}")
    assert stored == {
        "StatusCode": "200",
        "ContentLength": first.headers["Content-Length"],
        "ContentType": "application/json; charset=utf-8",
        "Date": stored["Date"],
        "RequestURL": "http://sandbox.test/_provider/v2.01/sandbox/sca/users/natural",
        "Resource": first.json(),
    }
    assert stored["Date"].endswith(" GMT")


async def test_the_stored_answer_is_a_snapshot(api: MangopayApi) -> None:
    payin = await api.payin(key=KEY)
    await api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
    assert (await api.read(f"/responses/{KEY}"))["Resource"]["Status"] == "CREATED"
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"


async def test_refusals_are_kept_too(api: MangopayApi) -> None:
    refused = await api.call("POST", "/sca/users/natural", {}, key=KEY)
    assert refused.status_code == 400
    stored = await api.read(f"/responses/{KEY}")
    assert (stored["StatusCode"], stored["Resource"]) == ("400", refused.json())
    assert (await api.call("POST", "/sca/users/natural", PAYER, key=KEY)).status_code == 409


async def test_kept_for_a_day(api: MangopayApi) -> None:
    await api.create("/sca/users/natural", PAYER, key=KEY)
    await api.advance(86_399)
    await api.log_in()
    assert (await api.read(f"/responses/{KEY}"))["StatusCode"] == "200"
    assert (await api.call("POST", "/sca/users/natural", PAYER, key=KEY)).status_code == 409
    await api.advance(2)
    answer = await api.call("GET", f"/responses/{KEY}")
    assert (answer.status_code, answer.json()["Type"]) == (400, "correlationid_not_found")
    await api.create("/sca/users/natural", PAYER, key=KEY)


@pytest.mark.parametrize("key", ["short", "x" * 15, "x" * 37, "0123456789abcdef_", "0123456789abcdef "])
async def test_keys_have_a_form(api: MangopayApi, key: str) -> None:
    answer = await api.call("POST", "/sca/users/natural", PAYER, key=key)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["Idempotency-Key"])


async def test_a_uuid_is_a_key_and_none_executes_again(api: MangopayApi) -> None:
    await api.create("/sca/users/natural", PAYER, key=str(uuid.uuid4()))
    ids = {(await api.create("/sca/users/natural", PAYER))["Id"] for _ in range(2)}
    assert len(ids) == 2


async def test_unknown_key(api: MangopayApi) -> None:
    answer = await api.call("GET", f"/responses/{KEY}")
    assert (answer.status_code, answer.json()["Type"]) == (400, "correlationid_not_found")


async def test_in_flight(api: MangopayApi) -> None:
    await api.control("POST", "/faults", {"path": "/sca/users/natural", "kind": "slow", "seconds": 1})
    first = asyncio.create_task(api.call("POST", "/sca/users/natural", PAYER, key=KEY))
    await asyncio.sleep(0.1)
    assert (await api.call("POST", "/sca/users/natural", PAYER, key=KEY)).status_code == 409
    assert (await api.call("GET", f"/responses/{KEY}")).status_code == 400
    assert (await first).status_code == 200
    assert (await api.read(f"/responses/{KEY}"))["Resource"] == (await first).json()


async def test_fifty_at_once_execute_once(api: MangopayApi) -> None:
    await api.seed()
    answers = await asyncio.gather(*(api.call("POST", "/sca/users/natural", PAYER, key=KEY) for _ in range(50)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 49


async def test_a_call_that_dies_before_it_runs_frees_its_key(api: MangopayApi) -> None:
    await api.control("POST", "/faults", {"path": "/sca/*", "kind": "slow", "seconds": 60})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(api.call("POST", "/sca/users/natural", PAYER, key=KEY), 0.1)
    await api.create("/sca/users/natural", PAYER, key=KEY)


async def test_request_lost_and_answer_lost(api: MangopayApi) -> None:
    await api.seed()
    for when, calls in (("before", 400), ("after", 200)):
        key = str(uuid.uuid4())
        await api.control(
            "POST", "/faults", {"method": "POST", "path": "/payins/card/web", "kind": "drop", "when": when}
        )
        with pytest.raises(httpx.TransportError):
            await api.payin(key=key)
        assert (await api.call("GET", f"/responses/{key}")).status_code == calls
    assert len(await api.read("/wallets/wallet/transactions")) == 1
