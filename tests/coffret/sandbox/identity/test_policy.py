"""Who may be paid: money comes in for everybody, or only for those who have proven their identity."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.owners import level, owner
from tests.coffret.sandbox.world import Json, World, payin_body, running

REFUSED = "002951"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


async def partner(world: World, known: str) -> str:
    """The partner `partner` with the wallet `wallet`, identified so far."""
    seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "kyc_level": known}
    await world.control("POST", "/seed", seed)
    return "partner"


async def paying(world: World, **changes: Any) -> Json:
    """A new pay-in for the partner."""
    return await world.made("/payins/card/web", {**payin_body(await world.payer()), **changes})


def meant_for(*users: str) -> Json:
    return {"FlowDescriptor": {"Beneficiaries": [{"UserId": user} for user in users]}}


async def test_money_comes_in_for_everybody_at_first(world: World) -> None:
    assert await world.control("GET", "/switches") == {"kyc_policy": "payout_only", "identity_verification": True}
    user = await partner(world, "LIGHT")
    for changes in ({}, meant_for(user)):
        assert (await paying(world, **changes))["Status"] == "CREATED"


async def test_money_for_an_unknown_owner_is_refused(world: World) -> None:
    await partner(world, "LIGHT")
    await world.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    await world.hook("PAYIN_NORMAL_CREATED", "PAYIN_NORMAL_FAILED")
    payin = await paying(world)
    assert (payin["Status"], payin["ResultCode"], payin["ExecutionDate"]) == ("FAILED", REFUSED, None)
    assert payin["ResultMessage"]
    assert await world.notices() == [("PAYIN_NORMAL_CREATED", payin["Id"]), ("PAYIN_NORMAL_FAILED", payin["Id"])]
    assert (await world.control("GET", "/stats"))["charged"] == 0
    answer = await world.http.post(f"/_sb/payins/{payin['Id']}/pay", json={"card": "4970107111111119"})
    assert answer.status_code == 409


async def test_money_for_an_identified_owner_comes_in(world: World) -> None:
    user = await partner(world, "REGULAR")
    await world.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    payin = await paying(world, **meant_for(user))
    assert payin["FlowDescriptor"] == {"Beneficiaries": [{"UserId": user}]}
    paid = await world.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
    assert paid["Status"] == "SUCCEEDED"


async def test_every_beneficiary_has_to_be_identified(world: World) -> None:
    user, other = await partner(world, "REGULAR"), await owner(world)
    await world.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await paying(world, **meant_for(user, other)))["ResultCode"] == REFUSED
    session = await world.made(f"/users/{other}/identity-verifications", {"ReturnUrl": "https://shop.example/k/1"})
    await world.control("POST", f"/identity-verifications/{session['Id']}", {"outcome": "validate"})
    assert (await paying(world, **meant_for(user, other)))["Status"] == "CREATED"
    await world.control("POST", f"/identity-verifications/{session['Id']}", {"outcome": "out_of_date"})
    assert await level(world, other) == "LIGHT"
    assert (await paying(world, **meant_for(user, other)))["ResultCode"] == REFUSED


async def test_a_payers_own_wallet_is_no_owners(world: World) -> None:
    user, payer = await partner(world, "LIGHT"), await world.payer()
    wallet = await world.made("/wallets", {"Owners": [payer], "Description": "Buyer", "Currency": "EUR"})
    await world.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await paying(world, CreditedWalletId=wallet["Id"]))["Status"] == "CREATED"
    assert (await paying(world, CreditedWalletId=wallet["Id"], **meant_for(user)))["ResultCode"] == REFUSED


async def test_refunds_are_never_refused_for_it(world: World) -> None:
    user = await owner(world)
    wallet = await world.made("/wallets", {"Owners": [user], "Description": "Partner", "Currency": "EUR"})
    payin = await paying(world, CreditedWalletId=wallet["Id"])
    await world.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
    await world.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    assert (await paying(world, CreditedWalletId=wallet["Id"]))["ResultCode"] == REFUSED
    refund = await world.made(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"]})
    assert refund["Status"] == "SUCCEEDED"


@pytest.mark.parametrize("body", [{"kyc_policy": "whatever"}, {"identity_verification": "perhaps"}, {"other": 1}])
async def test_switches_that_are_none(world: World, body: Json) -> None:
    assert (await world.http.post("/_sb/switches", json=body)).status_code == 400
    assert await world.control("GET", "/switches") == {"kyc_policy": "payout_only", "identity_verification": True}


async def test_a_switch_leaves_the_others_alone(world: World) -> None:
    await world.control("POST", "/switches", {"kyc_policy": "eea_2026"})
    await world.control("POST", "/switches", {"identity_verification": False})
    assert await world.control("GET", "/switches") == {"kyc_policy": "eea_2026", "identity_verification": False}
