"""Money by bank: mandates and their direct debits, bank wires, accounts that are opened for wallets."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from schwifty import IBAN

from tests.coffret.sandbox.mangopay_api import SHOP, Json, MangopayApi, running
from tests.coffret.sandbox.owners import ADDRESS
from tests.coffret.sandbox.owners import IBAN as NUMBER

ACCOUNT = {"OwnerName": "Ada Payer", "OwnerAddress": ADDRESS, "IBAN": NUMBER}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


def eur(amount: int) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def mandate(api: MangopayApi) -> Json:
    """A mandate that nobody has confirmed."""
    account = await api.create(f"/users/{await api.payer()}/bankaccounts/iban", ACCOUNT)
    body = {"BankAccountId": account["Id"], "ReturnURL": SHOP, "Culture": "EN"}
    return await api.create("/mandates/directdebit/web", body)


def debit(agreed: Json, **changes: Any) -> Json:
    """The body of a direct debit of 25.00 EUR."""
    body = {"AuthorId": agreed["UserId"], "CreditedWalletId": "wallet", "MandateId": agreed["Id"]}
    return {**body, "DebitedFunds": eur(2500), "Fees": eur(250), **changes}


async def test_a_confirmed_mandate_is_charged(api: MangopayApi) -> None:
    agreed = await mandate(api)
    page = await api.http.get(agreed["RedirectURL"])
    assert page.headers["location"] == f"{SHOP}&MandateId={agreed['Id']}" == agreed["ReturnURL"]
    confirmed = await api.read(f"/mandates/{agreed['Id']}")
    assert (confirmed["Status"], confirmed["Scheme"]) == ("SUBMITTED", "SEPA")
    payin = await api.create("/payins/directdebit/direct", debit(agreed))
    assert payin["Status"] == "CREATED"
    await api.advance(61)
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 2250
    assert (await api.read(f"/mandates/{agreed['Id']}"))["Status"] == "ACTIVE"
    assert [each["Id"] for each in await api.read(f"/mandates/{agreed['Id']}/transactions")] == [payin["Id"]]


async def test_a_mandate_that_nobody_confirmed_is_not_charged(api: MangopayApi) -> None:
    agreed = await mandate(api)
    payin = await api.create("/payins/directdebit/direct", debit(agreed))
    assert (payin["Status"], payin["ResultCode"]) == ("FAILED", "001833")
    other = await api.create("/payins/directdebit/direct", debit(agreed, AuthorId="partner"))
    assert (other["Status"], other["ResultCode"]) == ("FAILED", "001024")


async def test_only_a_confirmed_mandate_is_cancelled(api: MangopayApi) -> None:
    agreed = await mandate(api)
    path = f"/mandates/{agreed['Id']}/cancel"
    answer = await api.call("PUT", path)
    assert (answer.status_code, answer.json()["Type"]) == (400, "mandate_cannot_be_cancelled")
    await api.http.get(agreed["RedirectURL"])
    assert (await api.call("PUT", path)).json()["Status"] == "FAILED"
    assert (await api.create("/payins/directdebit/direct", debit(agreed)))["ResultCode"] == "001833"


async def test_a_bank_wire_waits_for_its_money(api: MangopayApi) -> None:
    body = {"AuthorId": await api.payer(), "CreditedWalletId": "wallet", "DeclaredDebitedFunds": eur(2500)}
    payin = await api.create("/payins/bankwire/direct", {**body, "DeclaredFees": eur(250)})
    assert (payin["Status"], IBAN(payin["BankAccount"]["IBAN"]).country_code) == ("CREATED", "LU")
    await api.later(29)
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "CREATED"
    paid = await api.control("POST", f"/payins/{payin['Id']}/pay", {"challenge": "confirm"})
    assert (paid["Status"], (await api.read("/wallets/wallet"))["Balance"]["Amount"]) == ("SUCCEEDED", 2250)


async def test_the_platform_fills_and_empties_its_own_wallets(api: MangopayApi) -> None:
    wire = {"CreditedWalletId": "FEES_EUR", "DeclaredDebitedFunds": eur(1000)}
    payin = await api.create("/clients/payins/bankwire/direct", wire)
    await api.control("POST", f"/payins/{payin['Id']}/pay", {"challenge": "confirm"})
    account = await api.create("/clients/bankaccounts/iban", ACCOUNT)
    body = {"DebitedWalletId": "FEES_EUR", "BankAccountId": account["Id"], "DebitedFunds": eur(600)}
    first, second = [await api.create("/clients/payouts", body) for _ in range(2)]
    await api.advance(61)
    assert (await api.read(f"/payouts/{first['Id']}"))["Status"] == "SUCCEEDED"
    assert (await api.read(f"/payouts/{second['Id']}"))["ResultCode"] == "121003"
    assert (await api.read("/clients/wallets/FEES/EUR"))["Balance"]["Amount"] == 400
    assert "PLATFORM" not in [user["UserCategory"] for user in await api.read("/users")]


async def test_accounts_are_opened_for_a_wallet_and_closed(api: MangopayApi) -> None:
    path = "/wallets/wallet/virtual-accounts"
    account = await api.create(path, {"Country": "FR", "VirtualAccountPurpose": "Collection"})
    assert IBAN(account["LocalAccountDetails"]["Account"]["Iban"]).country_code == "FR"
    closed = (await api.call("PUT", f"{path}/{account['Id']}")).json()
    assert (account["Status"], closed["Status"], closed["Active"]) == ("ACTIVE", "CLOSED", False)
    assert [each["Id"] for each in await api.read(path)] == [account["Id"]]
    alias = await api.create("/wallets/wallet/bankingaliases/iban", {"OwnerName": "Maison Soleil", "Country": "LU"})
    assert IBAN(alias["IBAN"]).country_code == "LU"
    inactive = (await api.call("PUT", f"/bankingaliases/{alias['Id']}", {"Active": False})).json()
    assert (alias["Active"], inactive["Active"]) == (True, False)


async def test_accounts_are_opened_in_some_countries_only(api: MangopayApi) -> None:
    body = {"Country": "JP", "VirtualAccountPurpose": "COLLECTION"}
    answer = await api.call("POST", "/wallets/wallet/virtual-accounts", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["Country"])
