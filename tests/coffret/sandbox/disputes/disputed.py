"""Disputes for the tests, and what they did to the platform's credit wallet."""

from typing import Any

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi

CARD = "4970109000001500"


def eur(amount: int) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def open_dispute(api: MangopayApi, **asked: Any) -> Json:
    """A dispute of a payment of 25.00 EUR, of which 22.50 are in the partner's wallet."""
    payin = await api.paid(CARD)
    result: Json = await api.control("POST", f"/payins/{payin['Id']}/dispute", asked)
    return result


async def contested(api: MangopayApi, amount: int = 2500, **asked: Any) -> Json:
    """A dispute that the platform has contested."""
    dispute = await open_dispute(api, **asked)
    answer = await api.call("PUT", f"/disputes/{dispute['Id']}/submit", {"ContestedFunds": eur(amount)})
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    return result


async def decided(api: MangopayApi, outcome: str, **contesting: Any) -> Json:
    """A contested dispute after a decision."""
    dispute = await contested(api, **contesting)
    result: Json = await api.control("POST", f"/disputes/{dispute['Id']}", {"outcome": outcome})
    return result


async def held(api: MangopayApi, account: str) -> int:
    """The balance of an account of the sandbox's ledger, in cents."""
    accounts = (await api.control("GET", "/ledger/check"))["accounts"]
    return sum(each["balance"] for each in accounts if each["account"] == account)
