"""A partner with money in its wallet, and payouts of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import ADDRESS, IBAN

HOLDER: Json = {"OwnerName": "Maison Soleil", "OwnerAddress": ADDRESS}
FAILED = "PAYOUT_NORMAL_FAILED"


@asynccontextmanager
async def funded() -> AsyncIterator[MangopayApi]:
    """A sandbox with 100.00 EUR in the partner's wallet, and no fees."""
    async with running() as api:
        await api.paid(DebitedFunds={"Currency": "EUR", "Amount": 10000}, Fees={"Currency": "EUR", "Amount": 0})
        yield api


async def bank_account(api: MangopayApi, user: str = "partner", iban: str = IBAN) -> str:
    """A bank account of a user."""
    id: str = (await api.create(f"/users/{user}/bankaccounts/iban", {**HOLDER, "IBAN": iban}))["Id"]
    return id


def body(account: str, amount: int = 4000, **changes: Any) -> Json:
    """The body of a payout with a fee of 1.00."""
    return {
        "AuthorId": "partner",
        "DebitedWalletId": "wallet",
        "DebitedFunds": {"Currency": "EUR", "Amount": amount},
        "Fees": {"Currency": "EUR", "Amount": 100},
        "BankAccountId": account,
        "BankWireRef": "invoice 7282",
        **changes,
    }


async def payout_to(api: MangopayApi, iban: str, amount: int = 4000, **changes: Any) -> Json:
    """A payout to a new bank account."""
    return await api.create("/payouts/bankwire", body(await bank_account(api, iban=iban), amount, **changes))


async def fees_and_wallet(api: MangopayApi) -> tuple[int, int]:
    """The balances of the fee wallet and of the partner's wallet."""
    fees = (await api.read("/clients/wallets/FEES/EUR"))["Balance"]["Amount"]
    return fees, (await api.read("/wallets/wallet"))["Balance"]["Amount"]
