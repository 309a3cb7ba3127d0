"""Recurring pay-ins: a registration, the buyer's first payment, and later ones by the platform."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import CHALLENGE, SHOP, SUCCESS, Json, MangopayApi, running
from tests.coffret.sandbox.payments.test_cards import SECURE, register

PATH = "/recurringpayinregistrations"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


def eur(amount: int) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def registered(api: MangopayApi, number: str = SUCCESS, **changes: Any) -> Json:
    """A registration: 25.00 EUR first, 10.00 EUR later."""
    card = await register(api, await api.payer(), number)
    first = {"FirstTransactionDebitedFunds": eur(2500), "FirstTransactionFees": eur(250)}
    later = {"NextTransactionDebitedFunds": eur(1000), "NextTransactionFees": eur(100)}
    body = {"AuthorId": card["UserId"], "CardId": card["Id"], "CreditedWalletId": "wallet", **first, **later}
    return await api.create(PATH, {**body, **changes})


async def test_the_buyer_pays_first_and_the_platform_later(api: MangopayApi) -> None:
    plan = await registered(api)
    assert (plan["Status"], plan["FreeCycles"], plan["CurrentState"]["PayinsLinked"]) == ("CREATED", 0, 0)
    own = {"RecurringPayinRegistrationId": plan["Id"]}
    first = await api.create("/payins/recurring/card/direct", {**own, **SECURE})
    later = await api.create("/payins/recurring/card/direct", own)
    assert [(each["Status"], each["DebitedFunds"]) for each in (first, later)] == [
        ("SUCCEEDED", eur(2500)),
        ("SUCCEEDED", eur(1000)),
    ]
    now = await api.read(f"{PATH}/{plan['Id']}")
    assert (now["Status"], now["CurrentState"]) == (
        "IN_PROGRESS",
        {
            "PayinsLinked": 2,
            "CumulatedDebitedAmount": eur(3500),
            "CumulatedFeesAmount": eur(350),
            "LastPayinId": later["Id"],
        },
    )
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 3150
    refund = await api.create(f"/payins/{later['Id']}/refunds", {"AuthorId": plan["AuthorId"]})
    assert refund["Status"] == "SUCCEEDED"


async def test_a_first_payment_may_ask_for_a_challenge(api: MangopayApi) -> None:
    plan = await registered(api, CHALLENGE)
    body = {"RecurringPayinRegistrationId": plan["Id"], **SECURE}
    payin = await api.create("/payins/recurring/card/direct", body)
    assert (payin["Status"], payin["SecureModeNeeded"]) == ("CREATED", True)
    paid = await api.control("POST", f"/payins/{payin['Id']}/pay", {"challenge": "confirm"})
    assert paid["Status"] == "SUCCEEDED"


async def test_an_ended_registration_is_not_charged(api: MangopayApi) -> None:
    plan = await registered(api)
    ended = await api.call("PUT", f"{PATH}/{plan['Id']}", {"Status": "ENDED"})
    assert ended.json()["Status"] == "ENDED"
    body = {"RecurringPayinRegistrationId": plan["Id"]}
    answer = await api.call("POST", "/payins/recurring/card/direct", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["RecurringPayinRegistrationId"])


async def test_a_registration_for_a_method(api: MangopayApi) -> None:
    plan = await registered(api, PaymentType="PAYPAL", CardId=None)
    body = {"RecurringPayinRegistrationId": plan["Id"], "ReturnURL": SHOP}
    payin = await api.create("/payins/payment-methods/paypal/recurring", body)
    assert (payin["PaymentType"], payin["Status"], payin["DebitedFunds"]) == ("PAYPAL", "CREATED", eur(2500))
