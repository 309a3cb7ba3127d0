"""Who may be paid: money comes in for everybody, or only for those who have proven their identity."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, payin_body, running
from tests.coffret.sandbox.owners import level, owner

REFUSED = "002951"

AT_FIRST = {"kyc_policy": "payout_only", "identity_verification": True, "reports_are_made": True}
"""The switches before anybody has moved one."""


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def partner(api: MangopayApi, known: str) -> str:
    """The partner `partner` with the wallet `wallet`, identified so far."""
    seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "kyc_level": known}
    await api.control("POST", "/seed", seed)
    return "partner"


async def paying(api: MangopayApi, **changes: Any) -> Json:
    """A new pay-in for the partner."""
    return await api.create("/payins/card/web", {**payin_body(await api.payer()), **changes})


def meant_for(*users: str) -> Json:
    return {"FlowDescriptor": {"Beneficiaries": [{"UserId": user} for user in users]}}


async def test_money_comes_in_for_everybody_at_first(api: MangopayApi) -> None:
    assert await api.control("GET", "/switches") == AT_FIRST
    user = await partner(api, "LIGHT")
    for changes in ({}, meant_for(user)):
        assert (await paying(api, **changes))["Status"] == "CREATED"


async def test_money_for_an_unknown_owner_is_refused(api: MangopayApi) -> None:
    await partner(api, "LIGHT")
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    await api.hook("PAYIN_NORMAL_CREATED", "PAYIN_NORMAL_FAILED")
    payin = await paying(api)
    assert (payin["Status"], payin["ResultCode"], payin["ExecutionDate"]) == ("FAILED", REFUSED, None)
    assert payin["ResultMessage"]
    assert await api.notices() == [("PAYIN_NORMAL_CREATED", payin["Id"]), ("PAYIN_NORMAL_FAILED", payin["Id"])]
    assert (await api.control("GET", "/stats"))["charged"] == 0
    answer = await api.http.post(f"/_sb/payins/{payin['Id']}/pay", json={"card": "4970107111111119"})
    assert answer.status_code == 409


async def test_money_for_an_identified_owner_comes_in(api: MangopayApi) -> None:
    user = await partner(api, "REGULAR")
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    payin = await paying(api, **meant_for(user))
    assert payin["FlowDescriptor"] == {"Beneficiaries": [{"UserId": user}]}
    paid = await api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
    assert paid["Status"] == "SUCCEEDED"


async def test_every_beneficiary_has_to_be_identified(api: MangopayApi) -> None:
    user, other = await partner(api, "REGULAR"), await owner(api)
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await paying(api, **meant_for(user, other)))["ResultCode"] == REFUSED
    session = await api.create(f"/users/{other}/identity-verifications", {"ReturnUrl": "https://shop.example/k/1"})
    await api.control("POST", f"/identity-verifications/{session['Id']}", {"outcome": "validate"})
    assert (await paying(api, **meant_for(user, other)))["Status"] == "CREATED"
    await api.control("POST", f"/identity-verifications/{session['Id']}", {"outcome": "out_of_date"})
    assert await level(api, other) == "LIGHT"
    assert (await paying(api, **meant_for(user, other)))["ResultCode"] == REFUSED


async def test_a_payers_own_wallet_is_no_owners(api: MangopayApi) -> None:
    user, payer = await partner(api, "LIGHT"), await api.payer()
    wallet = await api.create("/wallets", {"Owners": [payer], "Description": "Buyer", "Currency": "EUR"})
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await paying(api, CreditedWalletId=wallet["Id"]))["Status"] == "CREATED"
    assert (await paying(api, CreditedWalletId=wallet["Id"], **meant_for(user)))["ResultCode"] == REFUSED


async def test_refunds_are_never_refused_for_it(api: MangopayApi) -> None:
    user = await owner(api)
    wallet = await api.create("/wallets", {"Owners": [user], "Description": "Partner", "Currency": "EUR"})
    payin = await paying(api, CreditedWalletId=wallet["Id"])
    await api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await paying(api, CreditedWalletId=wallet["Id"]))["ResultCode"] == REFUSED
    refund = await api.create(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"]})
    assert refund["Status"] == "SUCCEEDED"


@pytest.mark.parametrize("body", [{"kyc_policy": "whatever"}, {"identity_verification": "perhaps"}, {"other": 1}])
async def test_switches_that_are_none(api: MangopayApi, body: Json) -> None:
    assert (await api.http.post("/_sb/switches", json=body)).status_code == 400
    assert await api.control("GET", "/switches") == AT_FIRST


async def test_a_switch_leaves_the_others_alone(api: MangopayApi) -> None:
    await api.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    await api.control("POST", "/switches", {"identity_verification": False})
    assert await api.control("GET", "/switches") == {
        **AT_FIRST,
        "kyc_policy": "eea_2026",
        "identity_verification": False,
    }
