"""Authorisations of cards: what a bank holds, what pay-ins capture of it, and how it ends."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import list_events
from tests.coffret.sandbox.payments.test_cards import SECURE, register

PREAUTHORIZATION, DEPOSIT = "preauthorizations", "deposit-preauthorizations"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


def eur(amount: int) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def hold(api: MangopayApi, kind: str, **changes: Any) -> Json:
    """An authorisation of 25.00 EUR."""
    card = await register(api, await api.payer())
    body = {**SECURE, "AuthorId": card["UserId"], "CardId": card["Id"], "DebitedFunds": eur(2500)}
    return await api.create(f"/{kind}/card/direct", {**body, **changes})


def capture(held: Json, amount: int, field: str) -> Json:
    """The body of a capture into the partner's wallet, with a fee of 1.00 EUR."""
    author, id = held["AuthorId"], held["Id"]
    return {
        "AuthorId": author,
        "CreditedWalletId": "wallet",
        "DebitedFunds": eur(amount),
        "Fees": eur(100),
        field: id,
    }


async def balance(api: MangopayApi) -> int:
    """What the partner's wallet holds."""
    amount: int = (await api.read("/wallets/wallet"))["Balance"]["Amount"]
    return amount


async def test_a_hold_moves_no_money_until_it_is_captured(api: MangopayApi) -> None:
    held = await hold(api, PREAUTHORIZATION)
    assert (held["Status"], held["PaymentStatus"], await balance(api)) == ("SUCCEEDED", "WAITING", 0)
    body = capture(held, 2000, "PreauthorizationId")
    payin = await api.create("/payins/preauthorized/direct", body)
    assert (payin["Status"], payin["PaymentType"], await balance(api)) == ("SUCCEEDED", "PREAUTHORIZED", 1900)
    assert (await api.read(f"/preauthorizations/{held['Id']}"))["PaymentStatus"] == "VALIDATED"
    assert [each["Id"] for each in await api.read(f"/preauthorizations/{held['Id']}/transactions")] == [payin["Id"]]
    again = await api.call("POST", "/payins/preauthorized/direct", {**body, "DebitedFunds": eur(100)})
    assert (again.status_code, list(again.json()["errors"])) == (400, ["PreauthorizationId"])


async def test_several_captures_never_exceed_what_is_held(api: MangopayApi) -> None:
    held = await hold(api, PREAUTHORIZATION, MultiCapture=True)
    for amount, status in ((1000, "WAITING"), (1500, "VALIDATED")):
        await api.create("/payins/preauthorized/direct", capture(held, amount, "PreauthorizationId"))
        assert (await api.read(f"/preauthorizations/{held['Id']}"))["PaymentStatus"] == status
    other = await hold(api, PREAUTHORIZATION, MultiCapture=True)
    answer = await api.call("POST", "/payins/preauthorized/direct", capture(other, 2501, "PreauthorizationId"))
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["DebitedFunds.Amount"])


async def test_a_deposit_is_captured_and_then_complemented(api: MangopayApi) -> None:
    held, path = await hold(api, DEPOSIT), "/payins/deposit-preauthorized/direct"
    first = await api.create(f"{path}/capture-with-complement", capture(held, 1000, "DepositId"))
    rest = await api.create(f"{path}/complement", capture(held, 1500, "DepositId"))
    now = await api.read(f"/deposit-preauthorizations/{held['Id']}")
    assert now["PayinsLinked"] == {"PayinCaptureId": first["Id"], "PayinComplementId": rest["Id"]}
    assert (now["PaymentStatus"], await balance(api)) == ("VALIDATED", 2300)
    assert (await api.call("POST", f"{path}/full-capture", capture(held, 1, "DepositId"))).status_code == 400


@pytest.mark.parametrize(("kind", "days"), [(PREAUTHORIZATION, 7), (DEPOSIT, 30)])
async def test_what_nobody_captures_expires(api: MangopayApi, kind: str, days: int) -> None:
    held = await hold(api, kind)
    await api.later(days - 0.01)
    assert (await api.read(f"/{kind}/{held['Id']}"))["PaymentStatus"] == "WAITING"
    await api.later(0.02)
    assert (await api.read(f"/{kind}/{held['Id']}"))["PaymentStatus"] == "EXPIRED"


async def test_cancelling_ends_a_hold(api: MangopayApi) -> None:
    held = await hold(api, PREAUTHORIZATION)
    path = f"/preauthorizations/{held['Id']}"
    answer = await api.call("PUT", path, {"PaymentStatus": "CANCELED"})
    assert answer.json()["PaymentStatus"] == "CANCELED"
    assert (await api.call("PUT", path, {"PaymentStatus": "CANCELED"})).status_code == 400
    assert await list_events(api, "PREAUTHORIZATION_PAYMENT_CANCELED") == [
        ("PREAUTHORIZATION_PAYMENT_CANCELED", held["Id"])
    ]


async def test_the_bank_declines(api: MangopayApi) -> None:
    card = await register(api, await api.payer(), "4970109000000106")
    body = {**SECURE, "AuthorId": card["UserId"], "CardId": card["Id"], "DebitedFunds": eur(2500)}
    held = await api.create("/preauthorizations/card/direct", body)
    assert (held["Status"], held["PaymentStatus"], held["ResultCode"]) == ("FAILED", "FAILED", "101101")
    assert (await api.read(f"/cards/{card['Id']}"))["Validity"] == "INVALID"
    assert [each["Id"] for each in await api.read(f"/cards/{card['Id']}/preauthorizations")] == [held["Id"]]
