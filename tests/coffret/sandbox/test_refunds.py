"""Refunds: whole and in parts, and each reason why one fails."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from coffret.sandbox import ledger
from tests.coffret.sandbox.world import Json, World, running


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


def eur(amount: Any) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def refund(world: World, payin: Json, amount: int | None = None, fees: int | None = None, **more: Any) -> Json:
    amounts = {} if amount is None else {"DebitedFunds": eur(amount), "Fees": eur(fees or 0)}
    return await world.made(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"], **amounts, **more})


async def balance(world: World) -> int:
    amount: int = (await world.read("/wallets/wallet"))["Balance"]["Amount"]
    return amount


def end(made: Json) -> tuple[str, str]:
    return made["Status"], made["ResultCode"]


async def test_whole(world: World) -> None:
    payin = await world.paid()
    made = await refund(world, payin, Tag="sorry")
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
    assert await world.read(f"/refunds/{made['Id']}") == made
    assert await world.read(f"/payins/{payin['Id']}/refunds") == [made]
    assert await balance(world) == 0
    assert (await world.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"
    events = await world.read("/events?EventType=PAYIN_REFUND_SUCCEEDED")
    assert [event["ResourceId"] for event in events] == [made["Id"]]
    assert end(await refund(world, payin)) == ("FAILED", "001401")
    assert await balance(world) == 0


async def test_parts(world: World) -> None:
    payin = await world.paid()
    first = await refund(world, payin, 1000, -100)
    assert (first["CreditedFunds"], end(first)) == (eur(1100), ("SUCCEEDED", "000000"))
    assert end(await refund(world, payin, 1000, -50)) == ("FAILED", "005407")
    await world.advance(86_400)
    await world.log_in()
    assert end(await refund(world, payin, 1000, -50)) == ("SUCCEEDED", "000000")
    assert end(await refund(world, payin, 251, 0)) == ("FAILED", "005403")
    assert end(await refund(world, payin, 200, -101)) == ("FAILED", "005404")
    assert end(await refund(world, payin, 250, -100)) == ("SUCCEEDED", "000000")
    assert await balance(world) == 0
    assert len(await world.read(f"/payins/{payin['Id']}/refunds")) == 6
    assert len(await world.read(f"/payins/{payin['Id']}/refunds?Status=SUCCEEDED")) == 3


async def test_positive_fees_take_more(world: World) -> None:
    payin = await world.paid()
    made = await refund(world, payin, 1000, 100)
    assert made["CreditedFunds"] == eur(900)
    ledger = await world.control("GET", "/ledger/check")
    assert {row["account"]: row["balance"] for row in ledger["accounts"]} == {
        "wallet:wallet": 1250,
        "fees": 350,
        "outside": -1600,
    }


async def test_eleven_months(world: World) -> None:
    payin = await world.paid()
    await world.advance(334 * 86_400)
    await world.log_in()
    assert end(await refund(world, payin)) == ("FAILED", "001403")
    await world.advance(65 * 86_400)
    await world.log_in()
    assert (await world.call("GET", f"/payins/{payin['Id']}")).status_code == 404


async def test_card_that_cannot_be_refunded(world: World) -> None:
    payin = await world.paid("4970109000001203")
    for _ in range(2):
        made = await refund(world, payin)
        assert end(made) == ("FAILED", "001999")
    assert await balance(world) == 2250
    assert len(await world.read("/events?EventType=PAYIN_REFUND_FAILED")) == 2


async def drain(world: World, account: str, amount: int) -> None:
    """Money leaves an account as a payout would take it; an open pay-in lends its id to the entry."""
    open_payin = await world.payin()
    await world.app.state.sandbox.run(ledger.post, open_payin["Id"], "EUR", {account: -amount, ledger.OUTSIDE: amount})


async def test_empty_wallets(world: World) -> None:
    payin = await world.paid()
    await drain(world, ledger.wallet("wallet"), 1000)
    assert end(await refund(world, payin)) == ("FAILED", "001001")
    assert end(await refund(world, payin, 1250, -250)) == ("SUCCEEDED", "000000")
    other = await world.paid()
    await drain(world, ledger.FEES, 200)
    assert end(await refund(world, other, 1000, -51)) == ("FAILED", "005405")
    assert end(await refund(world, other, 1000, -50)) == ("SUCCEEDED", "000000")
    assert await balance(world) == 1250


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
async def test_malformed(world: World, change: dict[str, Any], field: str) -> None:
    payin = await world.paid()
    answer = await world.call("POST", f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"], **change})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert await world.read(f"/payins/{payin['Id']}/refunds") == []
    assert await balance(world) == 2250


async def test_only_what_was_paid(world: World) -> None:
    for payin in (await world.payin(), await world.paid("4970109000000106")):
        answer = await world.call("POST", f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"]})
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["InitialTransactionId"])
    for path in ("/payins/none/refunds", "/refunds/none"):
        assert (await world.call("GET", path)).status_code == 404
    paid = await world.paid()
    assert (await world.call("GET", f"/refunds/{paid['Id']}")).status_code == 404
    made = await refund(world, paid)
    assert (await world.call("GET", f"/payins/{made['Id']}")).status_code == 404
