"""Refunds: whole and in parts, and each reason why one fails."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from coffret.sandbox.payments import ledger
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


def eur(amount: Any) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def refund(
    api: MangopayApi, payin: Json, amount: int | None = None, fees: int | None = None, **more: Any
) -> Json:
    amounts = {} if amount is None else {"DebitedFunds": eur(amount), "Fees": eur(fees or 0)}
    return await api.create(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"], **amounts, **more})


async def balance(api: MangopayApi) -> int:
    amount: int = (await api.read("/wallets/wallet"))["Balance"]["Amount"]
    return amount


def end(created: Json) -> tuple[str, str]:
    return created["Status"], created["ResultCode"]


async def test_whole(api: MangopayApi) -> None:
    payin = await api.paid()
    made = await refund(api, payin, Tag="sorry")
    expected = {
        "Tag": "sorry",
        "AuthorId": payin["AuthorId"],
        "CreditedUserId": payin["AuthorId"],
        "DebitedWalletId": "wallet",
        "CreditedWalletId": None,
        "DebitedFunds": eur(2250),
        "Fees": eur(-250),
        "CreditedFunds": eur(2500),
        "Status": "SUCCEEDED",
        "ResultCode": "000000",
        "Type": "PAYOUT",
        "Nature": "REFUND",
        "InitialTransactionId": payin["Id"],
        "InitialTransactionType": "PAYIN",
        "InitialTransactionNature": "REGULAR",
        "RefundReason": {"RefundReasonType": "INITIALIZED_BY_CLIENT", "RefundReasonMessage": None},
    }
    assert {name: made[name] for name in expected} == expected
    assert made["Id"].startswith("refund_m_")
    assert await api.read(f"/refunds/{made['Id']}") == made
    assert await api.read(f"/payins/{payin['Id']}/refunds") == [made]
    assert await balance(api) == 0
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"
    events = await api.read("/events?EventType=PAYIN_REFUND_SUCCEEDED")
    assert [event["ResourceId"] for event in events] == [made["Id"]]
    assert end(await refund(api, payin)) == ("FAILED", "001401")
    assert await balance(api) == 0


async def test_parts(api: MangopayApi) -> None:
    payin = await api.paid()
    first = await refund(api, payin, 1000, -100)
    assert (first["CreditedFunds"], end(first)) == (eur(1100), ("SUCCEEDED", "000000"))
    assert end(await refund(api, payin, 1000, -50)) == ("FAILED", "005407")
    await api.advance(86_400)
    await api.log_in()
    assert end(await refund(api, payin, 1000, -50)) == ("SUCCEEDED", "000000")
    assert end(await refund(api, payin, 251, 0)) == ("FAILED", "005403")
    assert end(await refund(api, payin, 200, -101)) == ("FAILED", "005404")
    assert end(await refund(api, payin, 250, -100)) == ("SUCCEEDED", "000000")
    assert await balance(api) == 0
    assert len(await api.read(f"/payins/{payin['Id']}/refunds")) == 6
    assert len(await api.read(f"/payins/{payin['Id']}/refunds?Status=SUCCEEDED")) == 3


async def test_positive_fees_take_more(api: MangopayApi) -> None:
    payin = await api.paid()
    made = await refund(api, payin, 1000, 100)
    assert made["CreditedFunds"] == eur(900)
    ledger = await api.control("GET", "/ledger/check")
    assert {row["account"]: row["balance"] for row in ledger["accounts"]} == {
        "wallet:wallet": 1250,
        "fees": 350,
        "outside": -1600,
    }


async def test_eleven_months(api: MangopayApi) -> None:
    payin = await api.paid()
    await api.advance(334 * 86_400)
    await api.log_in()
    assert end(await refund(api, payin)) == ("FAILED", "001403")
    await api.advance(65 * 86_400)
    await api.log_in()
    assert (await api.call("GET", f"/payins/{payin['Id']}")).status_code == 404


async def test_card_that_cannot_be_refunded(api: MangopayApi) -> None:
    payin = await api.paid("4970109000001203")
    for _ in range(2):
        made = await refund(api, payin)
        assert end(made) == ("FAILED", "001999")
    assert await balance(api) == 2250
    assert len(await api.read("/events?EventType=PAYIN_REFUND_FAILED")) == 2


async def drain(api: MangopayApi, account: str, amount: int) -> None:
    """Money leaves an account as a payout would take it; an open pay-in lends its id to the entry."""
    open_payin = await api.payin()
    await api.app.state.sandbox.run(ledger.post, open_payin["Id"], "EUR", {account: -amount, ledger.OUTSIDE: amount})


async def test_empty_wallets(api: MangopayApi) -> None:
    payin = await api.paid()
    await drain(api, ledger.wallet("wallet"), 1000)
    assert end(await refund(api, payin)) == ("FAILED", "001001")
    assert end(await refund(api, payin, 1250, -250)) == ("SUCCEEDED", "000000")
    other = await api.paid()
    await drain(api, ledger.FEES, 200)
    assert end(await refund(api, other, 1000, -51)) == ("FAILED", "005405")
    assert end(await refund(api, other, 1000, -50)) == ("SUCCEEDED", "000000")
    assert await balance(api) == 1250


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"AuthorId": "partner"}, "AuthorId"),
        ({"AuthorId": None}, "AuthorId"),
        ({"DebitedFunds": eur(100)}, "Fees"),
        ({"Fees": eur(-100)}, "DebitedFunds"),
        ({"DebitedFunds": eur(0), "Fees": eur(0)}, "DebitedFunds.Amount"),
        ({"DebitedFunds": eur(10.0), "Fees": eur(0)}, "DebitedFunds.Amount"),
        ({"DebitedFunds": eur(100), "Fees": eur(101)}, "Fees.Amount"),
        ({"DebitedFunds": {"Currency": "GBP", "Amount": 1}, "Fees": eur(0)}, "DebitedFunds.Currency"),
    ],
)
async def test_malformed(api: MangopayApi, change: dict[str, Any], field: str) -> None:
    payin = await api.paid()
    answer = await api.call("POST", f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"], **change})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert await api.read(f"/payins/{payin['Id']}/refunds") == []
    assert await balance(api) == 2250


async def test_only_what_was_paid(api: MangopayApi) -> None:
    for payin in (await api.payin(), await api.paid("4970109000000106")):
        answer = await api.call("POST", f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"]})
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["InitialTransactionId"])
    for path in ("/payins/none/refunds", "/refunds/none"):
        assert (await api.call("GET", path)).status_code == 404
    paid = await api.paid()
    assert (await api.call("GET", f"/refunds/{paid['Id']}")).status_code == 404
    made = await refund(api, paid)
    assert (await api.call("GET", f"/payins/{made['Id']}")).status_code == 404
