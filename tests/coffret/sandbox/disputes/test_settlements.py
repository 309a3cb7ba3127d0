"""Settlements of lost disputes, from the wallet that the pay-in credited."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.coffret.sandbox.disputes.disputed import decided, eur, held, open_dispute
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import assert_refused, list_events


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def settle(api: MangopayApi, dispute: Json, amount: int, **changes: Any) -> httpx.Response:
    repudiation = await api.read(f"/repudiations/{dispute['RepudiationId']}")
    body = {"AuthorId": repudiation["AuthorId"], "DebitedFunds": eur(amount), "Fees": eur(0)} | changes
    return await api.call("POST", f"/repudiations/{repudiation['Id']}/settlementtransfer", body)


async def test_in_two_parts(api: MangopayApi) -> None:
    dispute = await decided(api, "lose")
    await decided(api, "win")  # the wallet has more than the disputed pay-in brought
    first = (await settle(api, dispute, 2000, Tag="first")).json()
    expected = {
        "Type": "TRANSFER",
        "Nature": "SETTLEMENT",
        "Status": "SUCCEEDED",
        "DebitedWalletId": "wallet",
        "CreditedWalletId": "CREDIT_EUR",
        "RepudiationId": dispute["RepudiationId"],
        "Tag": "first",
    }
    assert {name: first[name] for name in expected} == expected
    assert await api.read(f"/settlements/{first['Id']}") == first
    assert (await held(api, "credit"), await held(api, "wallet:wallet")) == (-500, 2500)
    await assert_refused(api, await settle(api, dispute, 501), 400, "param_error", "DebitedFunds.Amount")
    assert [each["Id"] for each in await api.read("/disputes/pendingsettlement")] == [dispute["Id"]]
    assert (await settle(api, dispute, 500)).json()["Status"] == "SUCCEEDED"
    again = (await settle(api, dispute, 1)).json()
    assert (again["Status"], again["ResultCode"]) == ("FAILED", "003012")
    assert await api.read("/disputes/pendingsettlement") == []
    assert len(await list_events(api, "TRANSFER_SETTLEMENT_SUCCEEDED")) == 2
    assert len(await api.read(f"/disputes/{dispute['Id']}/transactions?Nature=SETTLEMENT")) == 3


async def test_a_wallet_that_lacks_the_money(api: MangopayApi) -> None:
    failed = (await settle(api, await decided(api, "lose"), 2251)).json()
    assert (failed["Status"], failed["ResultCode"]) == ("FAILED", "001001")
    assert await held(api, "wallet:wallet") == 2250


@pytest.mark.parametrize("outcome", ["win", "send_to_bank", "void", ""])
async def test_only_what_is_lost(api: MangopayApi, outcome: str) -> None:
    dispute = await (decided(api, outcome) if outcome else open_dispute(api))
    await assert_refused(api, await settle(api, dispute, 100), 400, "param_error", "RepudiationId")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"AuthorId": "partner"}, "AuthorId"),
        ({"DebitedFunds": {"Currency": "USD", "Amount": 5}}, "DebitedFunds.Currency"),
        ({"Fees": {"Currency": "USD", "Amount": 0}}, "Fees.Currency"),
        ({"Fees": eur(101)}, "Fees.Amount"),
    ],
)
async def test_what_does_not_fit(api: MangopayApi, changes: Json, field: str) -> None:
    answer = await settle(api, await decided(api, "lose"), 100, **changes)
    await assert_refused(api, answer, 400, "param_error", field)
