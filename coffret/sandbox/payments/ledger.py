"""Double-entry ledger of movements. Postings are immutable and sum to zero; balances are sums of postings."""

from collections.abc import Mapping

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import Json

OUTSIDE = "outside"
"""The account of cards and banks outside the provider."""
FEES = "fees"
"""The platform's fee wallet."""
CREDIT = "credit"
"""The platform's wallet for disputes. It is negative by what they took and settlements have not brought back."""
_CREDIT_WALLET, _FEES_WALLET = "CREDIT_", "FEES_"
_EXCHANGE = "exchange:"


class UnbalancedPosting(Exception):
    """Postings do not sum to zero: a bug of the sandbox."""


def wallet(id: str) -> str:
    return f"wallet:{id}"


def credit_wallet(currency: str) -> str:
    """The id of the credit wallet of a currency: `CREDIT_EUR`."""
    return f"{_CREDIT_WALLET}{currency}"


def exchange(currency: str) -> str:
    """The account of the exchange in a currency. What it holds in one currency it owes in others."""
    return f"{_EXCHANGE}{currency}"


def account(wallet_id: str | None) -> str:
    """The account of a wallet of a movement; the outside without one."""
    if wallet_id is None:
        return OUTSIDE
    if wallet_id.startswith(_FEES_WALLET):
        return FEES
    return CREDIT if wallet_id.startswith(_CREDIT_WALLET) else wallet(wallet_id)


def post(session: SandboxSession, movement_id: str, currency: str, amounts: Mapping[str, int]) -> None:
    """Post a movement. Raises UnbalancedPosting. The database refuses a second posting of the same movement."""
    if sum(amounts.values()):
        raise UnbalancedPosting(f"{movement_id}: {dict(amounts)}")
    for account, amount in amounts.items():
        session.change(
            "INSERT INTO posting (movement_id, account, currency, amount, posted_at) VALUES (?, ?, ?, ?, ?)",
            movement_id,
            account,
            currency,
            amount,
            int(session.now),
        )


def balance(session: SandboxSession, account: str, currency: str) -> int:
    """The balance of an account, in the currency's smallest unit."""
    return session.integer("SELECT sum(amount) FROM posting WHERE account = ? AND currency = ?", account, currency)


def may_be_negative(account: str) -> bool:
    """True for accounts that are no wallet with money in it."""
    return account in {OUTSIDE, CREDIT} or account.startswith(_EXCHANGE)


def check(session: SandboxSession) -> Json:
    """Check that every movement sums to zero and no wallet is overdrawn. Returns all balances too."""
    unbalanced = session.rows("SELECT movement_id FROM posting GROUP BY movement_id, currency HAVING sum(amount) <> 0")
    accounts = session.rows(
        "SELECT account, currency, sum(amount) AS held FROM posting GROUP BY account, currency ORDER BY account, currency"
    )
    overdrawn = [row["account"] for row in accounts if row["held"] < 0 and not may_be_negative(row["account"])]
    currencies = sorted({row["currency"] for row in accounts})
    sums = {currency: sum(row["held"] for row in accounts if row["currency"] == currency) for currency in currencies}
    return {
        "balanced": not unbalanced and not overdrawn and not any(sums.values()),
        "sums": sums,
        "unbalanced": [row["movement_id"] for row in unbalanced],
        "overdrawn": overdrawn,
        "accounts": [
            {"account": row["account"], "currency": row["currency"], "balance": row["held"]} for row in accounts
        ],
    }
