"""Payouts to recipients and to bank accounts."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi
from tests.coffret.sandbox.owners import BANK_ACCOUNT, IBAN, assert_refused, list_events, owner
from tests.coffret.sandbox.payouts.paid_out import (
    FAILED,
    HOLDER,
    bank_account,
    body,
    fees_and_wallet,
    funded,
    payout_to,
)

OTHERS: dict[str, Json] = {
    "US": {"AccountNumber": "11696419", "ABA": "071000288", "DepositAccountType": "CHECKING"},
    "CA": {"BankName": "North", "InstitutionNumber": "123", "BranchCode": "12345", "AccountNumber": "234234234234"},
    "OTHER": {"Country": "FR", "BIC": "BINAADADXXX", "AccountNumber": "234234234234"},
}
NOT_PROCESSED, STRANGER = "DE52000000000000000003", "DE25000000000000000004"
KEY = "0123456789abcdef"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with funded() as api:
        yield api


async def balance(api: MangopayApi) -> int:
    return (await fees_and_wallet(api))[1]


async def test_an_open_payout_holds_its_money(api: MangopayApi) -> None:
    account = await bank_account(api)
    payout = await api.create("/payouts/bankwire", body(account))
    assert (payout["Status"], payout["ModeApplied"], payout["CreditedUserId"]) == ("CREATED", "PENDING_RESPONSE", None)
    assert payout["CreditedFunds"]["Amount"] == 3900
    assert await balance(api) == 6000
    more = await api.create("/payouts/bankwire", body(account, 6001))
    assert (more["Status"], await balance(api)) == ("CREATED", 6000)
    await api.advance(61)
    assert (await api.read(f"/payouts/{more['Id']}"))["ResultCode"] == "121003"
    for path in (f"/payouts/{payout['Id']}", f"/payouts/bankwire/{payout['Id']}"):
        done = await api.read(path)
        assert (done["Status"], done["ResultCode"], done["ModeApplied"]) == ("SUCCEEDED", "000000", "STANDARD")
    assert await balance(api) == 6000
    assert await api.read(f"/payouts/{payout['Id']}/refunds") == []
    listed = await api.read(f"/bankaccounts/{account}/transactions?Status=SUCCEEDED")
    assert [item["Id"] for item in listed] == [payout["Id"]]
    assert await list_events(api, "PAYOUT_NORMAL_SUCCEEDED") == [("PAYOUT_NORMAL_SUCCEEDED", payout["Id"])]


@pytest.mark.parametrize(("iban", "code"), [("DE09000000000000000001", "121001"), (STRANGER, "121030")])
async def test_a_payout_that_fails_gives_money_and_fees_back(api: MangopayApi, iban: str, code: str) -> None:
    payout = await payout_to(api, iban)
    assert await fees_and_wallet(api) == (0, 6000)
    await api.advance(61)
    failed = await api.read(f"/payouts/{payout['Id']}")
    assert (failed["Status"], failed["ResultCode"], failed["ExecutionDate"]) == ("FAILED", code, None)
    assert await fees_and_wallet(api) == (0, 10000)
    assert await list_events(api, "PAYOUT_NORMAL_SUCCEEDED", FAILED) == [(FAILED, payout["Id"])]
    assert await api.read(f"/payouts/{payout['Id']}/refunds") == []


async def test_fees_are_taken_once_a_payout_succeeds(api: MangopayApi) -> None:
    await payout_to(api, IBAN)
    assert await fees_and_wallet(api) == (0, 6000)
    await api.advance(61)
    assert await fees_and_wallet(api) == (100, 6000)


async def test_a_payout_that_is_not_processed_expires_after_seven_days(api: MangopayApi) -> None:
    payout = await payout_to(api, NOT_PROCESSED)
    path = f"/payouts/{payout['Id']}"
    await api.advance(7 * 86400 - 60)
    await api.log_in()
    assert ((await api.read(path))["Status"], await fees_and_wallet(api)) == ("CREATED", (0, 6000))
    await api.advance(61)
    expired = await api.read(path)
    assert (expired["Status"], expired["ResultCode"]) == ("FAILED", "121009")
    assert await fees_and_wallet(api) == (0, 10000)
    assert await list_events(api, FAILED) == [(FAILED, payout["Id"])]


async def test_money_is_held_for_a_light_user_too(api: MangopayApi) -> None:
    await api.control("POST", "/users/partner", {"kyc_level": "LIGHT"})
    payout = await payout_to(api, IBAN)
    assert (payout["Status"], await balance(api)) == ("CREATED", 6000)
    await api.advance(61)
    failed = await api.read(f"/payouts/{payout['Id']}")
    assert (failed["ResultCode"], await balance(api)) == ("002999", 10000)


async def test_nothing_is_held_for_a_stranger(api: MangopayApi) -> None:
    stranger = await owner(api)
    request = body(await bank_account(api, stranger), AuthorId=stranger)
    assert (await api.create("/payouts/bankwire", request))["Status"] == "CREATED"
    assert await balance(api) == 10000


async def test_a_recipient_is_paid(api: MangopayApi) -> None:
    recipient = await api.create("/users/partner/recipients", BANK_ACCOUNT)
    assert (await api.read(f"/recipients/{recipient['Id']}"))["Status"] == "ACTIVE"
    payout = await api.create("/payouts/bankwire", body("", BankAccountId=None, RecipientId=recipient["Id"]))
    assert (payout["Status"], payout["BankAccountId"]) == ("CREATED", recipient["Id"])


async def test_who_is_not_paid(api: MangopayApi) -> None:
    light = await owner(api)
    wallet = await api.create("/wallets", {"Owners": [light], "Description": "x", "Currency": "EUR"})
    amounts = {"DebitedFunds": {"Currency": "EUR", "Amount": 100}, "Fees": {"Currency": "EUR", "Amount": 0}}
    funded = {"AuthorId": "partner", "DebitedWalletId": "wallet", "CreditedWalletId": wallet["Id"], **amounts}
    assert (await api.create("/transfers", funded))["Status"] == "SUCCEEDED"
    mine, own = await bank_account(api), await bank_account(api, light)
    off = await bank_account(api)
    await api.call("PUT", f"/users/partner/bankaccounts/{off}", {"Active": False})
    for changes, code in (
        ({"AuthorId": light}, "121002"),
        ({"BankAccountId": own}, "121007"),
        ({"BankAccountId": off}, "121006"),
        ({"AuthorId": light, "DebitedWalletId": wallet["Id"], "BankAccountId": own, **amounts}, "002999"),
    ):
        payout = await api.create("/payouts/bankwire", {**body(mine), **changes})
        assert payout["Status"] == "CREATED"
        await api.advance(61)
        assert (await api.read(f"/payouts/{payout['Id']}"))["ResultCode"] == code
    for account, fields in (("none", ["BankAccountId"]), (None, ["BankAccountId", "RecipientId"])):
        answer = await api.call("POST", "/payouts/bankwire", body(mine, BankAccountId=account))
        await assert_refused(api, answer, 400, "param_error", *fields)


# ---- decided at the control plane


async def decide(api: MangopayApi, payout: str, **decision: str) -> httpx.Response:
    return await api.http.post(f"/_sb/payouts/{payout}", json=decision)


async def test_a_payout_is_decided_early(api: MangopayApi) -> None:
    first, second = await payout_to(api, IBAN), await payout_to(api, IBAN)
    done = (await decide(api, first["Id"], outcome="succeed")).json()
    assert (done["Status"], done["ModeApplied"]) == ("SUCCEEDED", "STANDARD")
    failed = (await decide(api, second["Id"], outcome="fail", code="121005")).json()
    assert (failed["Status"], failed["ResultCode"]) == ("FAILED", "121005")
    assert await fees_and_wallet(api) == (100, 6000)
    await api.advance(61)
    assert await api.read(f"/payouts/{second['Id']}") == failed
    assert await list_events(api, "PAYOUT_NORMAL_SUCCEEDED", FAILED) == [
        ("PAYOUT_NORMAL_SUCCEEDED", first["Id"]),
        (FAILED, second["Id"]),
    ]


async def test_a_payout_is_made_to_hang(api: MangopayApi) -> None:
    payout = await payout_to(api, IBAN)
    assert (await decide(api, payout["Id"], outcome="hang")).json()["Status"] == "CREATED"
    await api.later(6.9)
    assert (await api.read(f"/payouts/{payout['Id']}"))["Status"] == "CREATED"
    await api.later(0.2)
    assert (await api.read(f"/payouts/{payout['Id']}"))["ResultCode"] == "121009"


async def test_what_cannot_be_decided(api: MangopayApi) -> None:
    payout, poor = await payout_to(api, IBAN), await payout_to(api, IBAN, 6001)
    assert (await decide(api, poor["Id"], outcome="succeed")).status_code == 409
    for decision, status in (
        ({"outcome": "fail", "code": "000000"}, 400),
        ({"outcome": "fail", "code": "12100"}, 400),
        ({"outcome": "return"}, 400),
        ({}, 400),
        ({"outcome": "succeed"}, 200),
        ({"outcome": "fail"}, 409),
        ({"outcome": "hang"}, 409),
    ):
        assert (await decide(api, payout["Id"], **decision)).status_code == status, decision
    assert (await decide(api, "none", outcome="fail")).status_code == 404
    assert (await api.read(f"/payouts/{payout['Id']}"))["Status"] == "SUCCEEDED"


# ---- faults


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("fault", [{"kind": "drop"}, {"kind": "hang", "seconds": 0}, {"kind": "status", "status": 503}])
async def test_a_payout_without_an_answer(api: MangopayApi, fault: Json, when: str) -> None:
    request = body(await bank_account(api))
    fault = {"method": "POST", "path": "/payouts/bankwire", "when": when, **fault}
    await api.control("POST", "/faults", fault)
    try:
        assert (await api.call("POST", "/payouts/bankwire", request, key=KEY)).status_code == 503
    except httpx.TransportError:
        assert fault["kind"] != "status"
    stored = await api.call("GET", f"/responses/{KEY}")
    if when == "before":
        assert (stored.json()["Type"], await balance(api)) == ("correlationid_not_found", 10000)
    else:
        assert (stored.json()["Resource"]["Status"], await balance(api)) == ("CREATED", 6000)


async def test_a_payout_that_fails_at_once(api: MangopayApi) -> None:
    await api.control("POST", "/faults", {"path": "/payouts/bankwire", "kind": "failed", "code": "121005"})
    payout = await payout_to(api, IBAN)
    assert (payout["Status"], payout["ResultCode"], await balance(api)) == ("FAILED", "121005", 10000)
    assert await list_events(api, FAILED) == [(FAILED, payout["Id"])]


# ---- accounts


@pytest.mark.parametrize(("iban", "reachable"), [(IBAN, True), ("FR541558929750ZZZZZZAC01915", False)])
async def test_instant_payments(api: MangopayApi, iban: str, reachable: bool) -> None:
    request = body(await bank_account(api, iban=iban), PayoutModeRequested="INSTANT_PAYMENT_ONLY")
    answered = (await api.create("/payouts/reachability", request))["InstantPayout"]
    assert (answered["IsReachable"], answered["UnreachableReason"] is None) == (reachable, reachable)


async def test_bank_accounts(api: MangopayApi) -> None:
    user, path = await owner(api), "/users/partner/bankaccounts"
    iban = await api.create(f"{path}/IBAN", {**HOLDER, "IBAN": IBAN, "Tag": "first"})
    assert (iban["Type"], iban["IBAN"], iban["Active"], iban["UserId"]) == ("IBAN", IBAN, True, "partner")
    gb = await api.create(f"{path}/gb", {**HOLDER, "SortCode": "200000", "AccountNumber": "55779911"})
    assert await api.read(path) == [iban, gb]
    for type, numbers in OTHERS.items():
        made = await api.create(f"{path}/{type}", {**HOLDER, **numbers})
        assert {**made, **numbers, "Type": type} == made
    answer = await api.call("POST", f"{path}/XX", HOLDER)
    await assert_refused(api, answer, 404, "ressource_not_found")
    assert await api.read(f"{path}/{gb['Id']}") == gb
    off = (await api.call("PUT", f"{path}/{iban['Id']}", {"Active": False})).json()
    assert off == {**iban, "Active": False}
    assert (await api.read(f"{path}?Active=true"))[0] == gb
    assert await api.read(f"{path}?Active=false") == [off]
    answer = await api.call("GET", f"/users/{user}/bankaccounts/{gb['Id']}")
    await assert_refused(api, answer, 404, "ressource_not_found")
    answer = await api.call("POST", f"{path}/iban", {**HOLDER, "IBAN": "FR00"})
    await assert_refused(api, answer, 400, "param_error", "IBAN")
