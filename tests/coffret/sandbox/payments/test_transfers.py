"""Transfers between wallets, and their refunds."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.people import enrolled, list_events, token_of


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.paid(DebitedFunds={"Currency": "EUR", "Amount": 10000}, Fees={"Currency": "EUR", "Amount": 0})
        yield api


async def wallet_of(api: MangopayApi, user: str) -> str:
    """A new wallet of a user."""
    id: str = (await api.create("/wallets", {"Owners": [user], "Description": "x", "Currency": "EUR"}))["Id"]
    return id


async def balance(api: MangopayApi, wallet: str) -> int:
    """What is in a wallet, without asking anybody."""
    ledger = await api.control("GET", "/ledger/check")
    return sum(each["balance"] for each in ledger["accounts"] if each["account"] == f"wallet:{wallet}")


def body(credited: str, amount: int = 1000, fees: int = 100, **changes: Any) -> Json:
    return {
        "AuthorId": "partner",
        "DebitedWalletId": "wallet",
        "CreditedWalletId": credited,
        "DebitedFunds": {"Currency": "EUR", "Amount": amount},
        "Fees": {"Currency": "EUR", "Amount": fees},
        **changes,
    }


async def test_a_transfer_and_its_refunds(api: MangopayApi) -> None:
    payer = await api.payer()
    wallet = await wallet_of(api, payer)
    done = await api.create("/transfers", body(wallet, CreditedUserId=payer))
    assert (done["Status"], done["ResultCode"], done["PendingUserAction"]) == ("SUCCEEDED", "000000", None)
    assert await api.read(f"/transfers/{done['Id']}") == done
    assert (await balance(api, "wallet"), await balance(api, wallet)) == (9000, 900)
    path = f"/transfers/{done['Id']}/refunds"
    part = {"DebitedFunds": {"Currency": "EUR", "Amount": 400}, "Fees": {"Currency": "EUR", "Amount": -40}}
    first = await api.create(path, {"AuthorId": "partner", **part})
    assert (first["Type"], first["Nature"], first["InitialTransactionType"]) == ("TRANSFER", "REFUND", "TRANSFER")
    assert (await balance(api, "wallet"), await balance(api, wallet)) == (9440, 500)
    assert (await api.create(path, {"AuthorId": "partner"}))["ResultCode"] == "005403"
    assert [refund["Id"] for refund in await api.read(f"{path}?Status=SUCCEEDED")] == [first["Id"]]
    assert await api.read(f"/refunds/{first['Id']}") == first
    events = await list_events(api, "TRANSFER_NORMAL_SUCCEEDED", "TRANSFER_REFUND_SUCCEEDED")
    assert events == [("TRANSFER_NORMAL_SUCCEEDED", done["Id"]), ("TRANSFER_REFUND_SUCCEEDED", first["Id"])]


async def test_a_transfer_of_more_than_there_is(api: MangopayApi) -> None:
    wallet = await wallet_of(api, await api.payer())
    assert (await api.create("/transfers", body(wallet, 10001)))["ResultCode"] == "001001"


async def test_only_the_owner_of_a_wallet_transfers(api: MangopayApi) -> None:
    payer = await api.payer()
    wallet = await wallet_of(api, payer)
    assert (await api.create("/transfers", body(wallet, AuthorId=payer)))["ResultCode"] == "001002"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"AuthorId": "none"}, "AuthorId"),
        ({"DebitedWalletId": "none"}, "DebitedWalletId"),
        ({"CreditedWalletId": "wallet"}, "CreditedWalletId"),
        ({"CreditedUserId": "partner"}, "CreditedUserId"),
        ({"Fees": {"Currency": "EUR", "Amount": 1001}}, "Fees.Amount"),
    ],
)
async def test_what_no_transfer_is(api: MangopayApi, changes: Json, field: str) -> None:
    wallet = await wallet_of(api, await api.payer())
    answer = await api.call("POST", "/transfers", body(wallet, **changes))
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


async def owners(api: MangopayApi, amount: int) -> Json:
    """The body of a transfer from an owner that authenticates to another owner."""
    owner = await enrolled(api)
    wallet = await wallet_of(api, owner["Id"])
    await api.create("/transfers", body(wallet, 5000, 0))
    return body("wallet", amount, 0, AuthorId=owner["Id"], DebitedWalletId=wallet)


@pytest.mark.parametrize(
    ("outcome", "status", "code"),
    [("succeed", "SUCCEEDED", "000000"), ("fail", "FAILED", "007101"), ("expire", "FAILED", "007102")],
)
async def test_an_owner_authenticates_for_a_large_transfer(
    api: MangopayApi, outcome: str, status: str, code: str
) -> None:
    asked = await api.create("/transfers", await owners(api, 3001))
    assert asked["Status"] == "CREATED"
    await api.control("POST", f"/sca/{token_of(asked)}", {"outcome": outcome})
    done = await api.read(f"/transfers/{asked['Id']}")
    assert (done["Status"], done["ResultCode"], done["PendingUserAction"]) == (status, code, None)


async def test_a_transfer_waits_ten_minutes(api: MangopayApi) -> None:
    asked = await api.create("/transfers", await owners(api, 3001))
    await api.advance(601)
    assert (await api.read(f"/transfers/{asked['Id']}"))["ResultCode"] == "007102"


async def test_a_small_transfer_needs_nobody(api: MangopayApi) -> None:
    done = await api.create("/transfers", await owners(api, 3000))
    assert (done["Status"], done["PendingUserAction"]) == ("SUCCEEDED", None)


async def test_who_is_absent_has_consented_before(api: MangopayApi) -> None:
    transfer = {**await owners(api, 3001), "ScaContext": "USER_NOT_PRESENT"}
    assert (await api.call("POST", "/transfers", transfer)).status_code == 403
    consent = await api.create(f"/sca/users/{transfer['AuthorId']}/consent", {})
    await api.control("POST", f"/sca/{token_of(consent)}", {"outcome": "succeed"})
    assert (await api.create("/transfers", transfer))["Status"] == "SUCCEEDED"


async def test_only_identified_owners_receive_money(api: MangopayApi) -> None:
    light = await wallet_of(api, (await enrolled(api))["Id"])
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await api.create("/transfers", body(light)))["ResultCode"] == "002951"
