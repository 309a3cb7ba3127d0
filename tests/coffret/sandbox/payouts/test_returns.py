"""Payouts that come back after they have succeeded: by their account, and at the control plane."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi
from tests.coffret.sandbox.owners import IBAN, list_events
from tests.coffret.sandbox.payouts.paid_out import HOLDER, fees_and_wallet, funded, payout_to

CLOSED = "DE79000000000000000002"
RETURN_EVENTS = ("PAYOUT_REFUND_CREATED", "PAYOUT_REFUND_SUCCEEDED", "PAYOUT_REFUND_FAILED")


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with funded() as api:
        yield api


def eur(amount: int) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def paid(api: MangopayApi, **changes: Any) -> Json:
    """A payout of 40.00 EUR that has succeeded, 1.00 of it fees."""
    payout = await payout_to(api, IBAN, **changes)
    done: Json = await api.control("POST", f"/payouts/{payout['Id']}", {"outcome": "succeed"})
    return done


async def send_back(api: MangopayApi, payout: str, **asked: Any) -> httpx.Response:
    return await api.http.post(f"/_sb/payouts/{payout}/return", json=asked)


async def test_a_closed_account_sends_the_money_back_a_day_later(api: MangopayApi) -> None:
    payout = await payout_to(api, CLOSED)
    path = f"/payouts/{payout['Id']}"
    await api.advance(86400)
    await api.log_in()
    paid = await api.read(path)
    assert (paid["Status"], await fees_and_wallet(api)) == ("SUCCEEDED", (100, 6000))
    assert await api.read(f"{path}/refunds") == []
    await api.advance(61)
    [back] = await api.read(f"{path}/refunds")
    expected = {
        "Type": "PAYIN",
        "Nature": "REFUND",
        "Status": "SUCCEEDED",
        "AuthorId": "partner",
        "CreditedUserId": "partner",
        "DebitedFunds": eur(3900),
        "CreditedFunds": eur(4000),
        "Fees": eur(-100),
        "DebitedWalletId": None,
        "CreditedWalletId": "wallet",
        "InitialTransactionId": payout["Id"],
        "InitialTransactionType": "PAYOUT",
        "InitialTransactionNature": "REGULAR",
        "RefundReason": {"RefundReasonType": "BANKACCOUNT_HAS_BEEN_CLOSED", "RefundReasonMessage": None},
    }
    assert {name: back[name] for name in expected} == expected
    assert await api.read(f"/refunds/{back['Id']}") == back
    assert await fees_and_wallet(api) == (0, 10000)
    assert await api.read(path) == paid
    assert await list_events(api, *RETURN_EVENTS) == [(type, back["Id"]) for type in RETURN_EVENTS[:2]]
    assert await list_events(api, "PAYOUT_NORMAL_FAILED") == []
    assert [each["Id"] for each in await api.read("/wallets/wallet/transactions?Nature=REFUND")] == [back["Id"]]
    assert (await api.control("GET", "/stats"))["charged"] == 1


async def test_everything_that_is_due_happens_in_one_leap(api: MangopayApi) -> None:
    payout = await payout_to(api, CLOSED)
    await api.later(30)
    assert (await api.read(f"/payouts/{payout['Id']}"))["Status"] == "SUCCEEDED"
    assert len(await api.read(f"/payouts/{payout['Id']}/refunds")) == 1
    await api.later(30)
    assert len(await api.read(f"/payouts/{payout['Id']}/refunds")) == 1
    assert await fees_and_wallet(api) == (0, 10000)


async def test_what_was_examined_for_long_comes_back_too(api: MangopayApi) -> None:
    payout = await payout_to(api, CLOSED)
    await api.control("POST", f"/payouts/{payout['Id']}", {"outcome": "hang"})
    await api.later(2)
    assert (await api.read(f"/payouts/{payout['Id']}"))["Status"] == "CREATED"
    await api.control("POST", f"/payouts/{payout['Id']}", {"outcome": "succeed"})
    assert len(await api.read(f"/payouts/{payout['Id']}/refunds")) == 1
    assert await fees_and_wallet(api) == (0, 10000)


async def test_what_failed_does_not_come_back_as_well(api: MangopayApi) -> None:
    payout = await payout_to(api, CLOSED)
    await api.control("POST", f"/payouts/{payout['Id']}", {"outcome": "fail"})
    await api.later(2)
    assert await api.read(f"/payouts/{payout['Id']}/refunds") == []
    assert await fees_and_wallet(api) == (0, 10000)


@pytest.mark.parametrize(("fees_back", "balances"), [(None, (0, 10000)), (0, (100, 9900)), (40, (60, 9940))])
async def test_a_return_at_the_control_plane(
    api: MangopayApi, fees_back: int | None, balances: tuple[int, int]
) -> None:
    payout = await paid(api)
    asked = {"reason": "AC06_BLOCKED_BANKACCOUNT", "message": "Blocked by a court"}
    back = (await send_back(api, payout["Id"], fees_back=fees_back, **asked)).json()
    assert back["RefundReason"] == {
        "RefundReasonType": "AC06_BLOCKED_BANKACCOUNT",
        "RefundReasonMessage": "Blocked by a court",
    }
    assert (back["DebitedFunds"], back["Status"]) == (eur(3900), "SUCCEEDED")
    assert back["CreditedFunds"]["Amount"] == 3900 - back["Fees"]["Amount"]
    assert await fees_and_wallet(api) == balances
    assert await api.read(f"/payouts/{payout['Id']}/refunds") == [back]
    assert await api.read(f"/payouts/{payout['Id']}") == payout


async def test_what_cannot_come_back(api: MangopayApi) -> None:
    payout, open_payout = await paid(api), await payout_to(api, IBAN, 1000)
    only_fees = await paid(api, DebitedFunds=eur(100))
    assert (await send_back(api, "none")).status_code == 404
    for id, asked, status in (
        (open_payout["Id"], {}, 409),
        (only_fees["Id"], {}, 409),
        (payout["Id"], {"fees_back": 101}, 409),
        (payout["Id"], {"fees_back": -1}, 400),
        (payout["Id"], {"reason": "closed"}, 400),
        (payout["Id"], {}, 200),
        (payout["Id"], {}, 409),
    ):
        assert (await send_back(api, id, **asked)).status_code == status, asked
    assert len(await list_events(api, *RETURN_EVENTS)) == 2


async def test_a_return_that_fails_moves_nothing_and_is_repeated(api: MangopayApi) -> None:
    payout = await paid(api)
    failed = (await send_back(api, payout["Id"], code="001999")).json()
    assert (failed["Status"], failed["ResultCode"]) == ("FAILED", "001999")
    assert await fees_and_wallet(api) == (100, 6000)
    back = (await send_back(api, payout["Id"])).json()
    assert await fees_and_wallet(api) == (0, 10000)
    assert await list_events(api, *RETURN_EVENTS) == [
        ("PAYOUT_REFUND_CREATED", failed["Id"]),
        ("PAYOUT_REFUND_CREATED", back["Id"]),
        ("PAYOUT_REFUND_SUCCEEDED", back["Id"]),
        ("PAYOUT_REFUND_FAILED", failed["Id"]),
    ]


async def test_fees_that_are_gone_cannot_be_given_back(api: MangopayApi) -> None:
    payout = await paid(api)
    account = await api.create("/clients/bankaccounts/iban", {**HOLDER, "IBAN": IBAN})
    fees = {"DebitedWalletId": "FEES_EUR", "BankAccountId": account["Id"], "DebitedFunds": eur(1)}
    await api.create("/clients/payouts", fees)
    await api.advance(61)
    assert (await send_back(api, payout["Id"])).json()["ResultCode"] == "005405"
    assert (await send_back(api, payout["Id"], fees_back=99)).json()["Status"] == "SUCCEEDED"
    assert await fees_and_wallet(api) == (0, 9999)


async def test_a_payout_of_the_platform_comes_back_to_its_wallet(api: MangopayApi) -> None:
    await paid(api)
    account = await api.create("/clients/bankaccounts/iban", {**HOLDER, "IBAN": CLOSED})
    fees = {"DebitedWalletId": "FEES_EUR", "BankAccountId": account["Id"], "DebitedFunds": eur(60)}
    payout = await api.create("/clients/payouts", fees)
    await api.advance(61)
    assert (await fees_and_wallet(api))[0] == 40
    await api.later(1)
    [back] = await api.read(f"/payouts/{payout['Id']}/refunds")
    assert (back["CreditedWalletId"], back["CreditedFunds"]) == ("FEES_EUR", eur(60))
    assert (await fees_and_wallet(api))[0] == 100
