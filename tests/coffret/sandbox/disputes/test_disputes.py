"""The life of a dispute: opened by the bank, contested or given up, won, lost or cancelled."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.disputes.disputed import CARD, contested, decided, eur, held, open_dispute
from tests.coffret.sandbox.mangopay_api import SUCCESS, MangopayApi, running
from tests.coffret.sandbox.owners import assert_refused, list_events

WATCHED = (
    *("DISPUTE_CREATED", "DISPUTE_ACTION_REQUIRED", "DISPUTE_SUBMITTED", "DISPUTE_SENT_TO_BANK"),
    *("DISPUTE_FURTHER_ACTION_REQUIRED", "DISPUTE_CLOSED"),
)


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def ask(api: MangopayApi, payin: str, **asked: Any) -> int:
    """The status of a call that opens a dispute."""
    return (await api.http.post(f"/_sb/payins/{payin}/dispute", json=asked)).status_code


async def event_types(api: MangopayApi) -> list[str]:
    return [type for type, _ in await list_events(api, *WATCHED)]


async def test_a_bank_takes_the_money_back(api: MangopayApi) -> None:
    dispute = await open_dispute(api, reason="FRAUD", message="Not me")
    assert (dispute["Status"], dispute["DisputeType"]) == ("PENDING_CLIENT_ACTION", "CONTESTABLE")
    assert (dispute["DisputedFunds"], dispute["ContestedFunds"]) == (eur(2500), None)
    assert dispute["DisputeReason"] == {"DisputeReasonType": "FRAUD", "DisputeReasonMessage": "Not me"}
    assert dispute["ContestDeadlineDate"] == pytest.approx(dispute["CreationDate"] + 14 * 86400, abs=1)
    repudiation = await api.read(f"/repudiations/{dispute['RepudiationId']}")
    expected = {
        "Type": "PAYOUT",
        "Nature": "REPUDIATION",
        "Status": "SUCCEEDED",
        "DebitedFunds": eur(2500),
        "DebitedWalletId": "CREDIT_EUR",
        "InitialTransactionId": dispute["InitialTransactionId"],
    }
    assert {name: repudiation[name] for name in expected} == expected
    assert (await held(api, "credit"), await held(api, "wallet:wallet")) == (-2500, 2250)
    assert await event_types(api) == ["DISPUTE_CREATED", "DISPUTE_ACTION_REQUIRED"]
    events = await list_events(api, "PAYIN_REPUDIATION_CREATED", "PAYIN_REPUDIATION_SUCCEEDED")
    assert [id for _, id in events] == [repudiation["Id"]] * 2


async def test_only_the_card_for_disputes_once_and_up_to_its_amount(api: MangopayApi) -> None:
    other, unpaid = await api.paid(SUCCESS), await api.payin()
    assert [await ask(api, payin["Id"]) for payin in (other, unpaid)] == [409, 409]
    assert await ask(api, "none") == 404
    payin = (await api.paid(CARD))["Id"]
    assert await ask(api, payin, amount=2501) == 409
    assert await ask(api, payin, amount=0) == 400
    assert await ask(api, payin, amount=1000) == 200
    assert await ask(api, payin) == 409


async def test_what_was_refunded_is_not_disputed_and_the_other_way_round(api: MangopayApi) -> None:
    payin = await api.paid(CARD)
    await api.control("POST", f"/payins/{payin['Id']}/refund", {"amount": 100})
    assert await ask(api, payin["Id"], amount=2401) == 409
    rest = await api.control("POST", f"/payins/{payin['Id']}/dispute", {})
    assert rest["DisputedFunds"] == eur(2400)
    dispute = await open_dispute(api)
    path = f"/payins/{dispute['InitialTransactionId']}/refunds"
    author = (await api.read(f"/payins/{dispute['InitialTransactionId']}"))["AuthorId"]
    assert (await api.create(path, {"AuthorId": author}))["ResultCode"] == "005408"
    await api.control("POST", f"/disputes/{dispute['Id']}", {"outcome": "void"})
    assert (await api.create(path, {"AuthorId": author}))["ResultCode"] == "000000"


async def test_contested_and_won(api: MangopayApi) -> None:
    dispute = await decided(api, "send_to_bank", amount=2000)
    assert (dispute["Status"], dispute["ContestedFunds"]) == ("PENDING_BANK_ACTION", eur(2000))
    won = await api.control("POST", f"/disputes/{dispute['Id']}", {"outcome": "win", "message": "Delivered"})
    assert (won["Status"], won["ResultCode"], won["ResultMessage"]) == ("CLOSED", "WON", "Delivered")
    [back] = await api.read(f"/repudiations/{won['RepudiationId']}/refunds")
    assert (back["DebitedFunds"], back["CreditedWalletId"]) == (eur(2000), "CREDIT_EUR")
    assert (back["InitialTransactionType"], back["InitialTransactionNature"]) == ("PAYOUT", "REPUDIATION")
    assert await held(api, "credit") == -500
    assert await event_types(api) == [
        *("DISPUTE_CREATED", "DISPUTE_ACTION_REQUIRED", "DISPUTE_SUBMITTED", "DISPUTE_SENT_TO_BANK", "DISPUTE_CLOSED")
    ]


async def test_reopened_and_contested_again(api: MangopayApi) -> None:
    dispute = await decided(api, "reopen", amount=1500)
    assert dispute["Status"] == "REOPENED_PENDING_CLIENT_ACTION"
    again = (await api.call("PUT", f"/disputes/{dispute['Id']}/submit", {})).json()
    assert (again["Status"], again["ContestedFunds"]) == ("SUBMITTED", eur(1500))
    lost = await api.control("POST", f"/disputes/{dispute['Id']}", {"outcome": "lose"})
    assert (lost["ResultCode"], await held(api, "credit")) == ("LOST", -2500)


async def test_given_up(api: MangopayApi) -> None:
    dispute = await open_dispute(api)
    closed = (await api.call("PUT", f"/disputes/{dispute['Id']}/close", {})).json()
    assert (closed["Status"], closed["ResultCode"]) == ("CLOSED", "LOST")
    assert closed["ClosedDate"]
    await assert_refused(
        api, await api.call("PUT", f"/disputes/{dispute['Id']}/close", {}), 400, "param_error", "Status"
    )


async def test_lost_when_nobody_contests_in_time(api: MangopayApi) -> None:
    dispute = await open_dispute(api, days=7)
    await api.later(6.99)
    assert (await api.read(f"/disputes/{dispute['Id']}"))["Status"] == "PENDING_CLIENT_ACTION"
    await api.later(0.02)
    late = await api.read(f"/disputes/{dispute['Id']}")
    assert (late["Status"], late["ResultCode"]) == ("CLOSED", "LOST")


async def test_what_was_contested_waits_for_the_bank(api: MangopayApi) -> None:
    dispute = await contested(api, days=7)
    await api.later(30)
    assert (await api.read(f"/disputes/{dispute['Id']}"))["Status"] == "SUBMITTED"


async def test_not_contestable_is_lost_at_once(api: MangopayApi) -> None:
    dispute = await open_dispute(api, type="NOT_CONTESTABLE")
    assert (dispute["Status"], dispute["ResultCode"], dispute["ContestDeadlineDate"]) == ("CLOSED", "LOST", None)


async def test_a_retrieval_takes_no_money(api: MangopayApi) -> None:
    dispute = await open_dispute(api, type="RETRIEVAL")
    assert (dispute["RepudiationId"], await held(api, "credit")) == (None, 0)
    assert await api.read(f"/disputes/{dispute['Id']}/transactions") == []
    await api.control("POST", f"/disputes/{dispute['Id']}", {"outcome": "void"})
    assert await held(api, "credit") == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "ContestedFunds"),
        ({"ContestedFunds": eur(2501)}, "ContestedFunds.Amount"),
        ({"ContestedFunds": {"Currency": "USD", "Amount": 5}}, "ContestedFunds.Currency"),
    ],
)
async def test_what_cannot_be_contested(api: MangopayApi, body: Any, field: str) -> None:
    dispute = await open_dispute(api)
    await assert_refused(
        api, await api.call("PUT", f"/disputes/{dispute['Id']}/submit", body), 400, "param_error", field
    )


@pytest.mark.parametrize("outcome", ["send_to_bank", "reopen", "win", "lose"])
async def test_nothing_is_decided_before_it_is_contested(api: MangopayApi, outcome: str) -> None:
    dispute = await open_dispute(api)
    answer = await api.http.post(f"/_sb/disputes/{dispute['Id']}", json={"outcome": outcome})
    assert answer.status_code == 409


async def test_listed_where_they_belong(api: MangopayApi) -> None:
    first, second = await open_dispute(api), await decided(api, "lose")
    payin = await api.read(f"/payins/{first['InitialTransactionId']}")
    for path, found in (
        ("/disputes", [first, second]),
        ("/disputes?Status=CLOSED", [second]),
        ("/disputes?Status=SUBMITTED,PENDING_CLIENT_ACTION", [first]),
        ("/disputes?DisputeType=RETRIEVAL", []),
        ("/disputes/pendingsettlement", [second]),
        (f"/payins/{payin['Id']}/disputes", [first]),
        (f"/users/{payin['AuthorId']}/disputes", [first]),
        ("/wallets/wallet/disputes", [first, second]),
    ):
        assert [each["Id"] for each in await api.read(path)] == [each["Id"] for each in found], path
