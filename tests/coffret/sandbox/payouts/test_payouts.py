"""Payouts to recipients and to bank accounts."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import ADDRESS, BANK_ACCOUNT, IBAN, assert_refused, list_events, owner

OTHERS: dict[str, Json] = {
    "US": {"AccountNumber": "11696419", "ABA": "071000288", "DepositAccountType": "CHECKING"},
    "CA": {"BankName": "North", "InstitutionNumber": "123", "BranchCode": "12345", "AccountNumber": "234234234234"},
    "OTHER": {"Country": "FR", "BIC": "BINAADADXXX", "AccountNumber": "234234234234"},
}
HOLDER: Json = {"OwnerName": "Maison Soleil", "OwnerAddress": ADDRESS}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.paid(DebitedFunds={"Currency": "EUR", "Amount": 10000}, Fees={"Currency": "EUR", "Amount": 0})
        yield api


async def bank_account(api: MangopayApi, user: str = "partner", iban: str = IBAN) -> str:
    """A bank account of a user."""
    id: str = (await api.create(f"/users/{user}/bankaccounts/iban", {**HOLDER, "IBAN": iban}))["Id"]
    return id


def body(account: str, amount: int = 4000, **changes: Any) -> Json:
    return {
        "AuthorId": "partner",
        "DebitedWalletId": "wallet",
        "DebitedFunds": {"Currency": "EUR", "Amount": amount},
        "Fees": {"Currency": "EUR", "Amount": 100},
        "BankAccountId": account,
        "BankWireRef": "invoice 7282",
        **changes,
    }


async def balance(api: MangopayApi) -> int:
    amount: int = (await api.read("/wallets/wallet"))["Balance"]["Amount"]
    return amount


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


async def test_a_refused_payout_gives_its_money_back(api: MangopayApi) -> None:
    payout = await api.create("/payouts/bankwire", body(await bank_account(api, iban="DE09000000000000000001")))
    assert await balance(api) == 6000
    await api.advance(61)
    failed = await api.read(f"/payouts/{payout['Id']}")
    assert (failed["Status"], failed["ResultCode"], await balance(api)) == ("FAILED", "121001", 10000)


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
    for account in ("none", None):
        answer = await api.call("POST", "/payouts/bankwire", body(mine, BankAccountId=account))
        await assert_refused(api, answer, 400, "param_error", "BankAccountId")


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
