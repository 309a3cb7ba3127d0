"""Double entry: what a movement does to accounts. Written once, summing to zero; balances follow from it."""

from collections.abc import Mapping

from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Json

OUTSIDE = "outside"
"""Where money comes from and goes to: cards and banks."""
FEES = "fees"
"""The platform's own wallet."""


class UnbalancedPosting(Exception):
    """Entries must sum to zero: a bug of the sandbox."""


def wallet(id: str) -> str:
    """The account of a wallet."""
    return f"wallet:{id}"


def post(session: Session, movement_id: str, currency: str, amounts: Mapping[str, int]) -> None:
    """Enter a movement. A second entry of the same movement is refused by the database."""
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


def balance(session: Session, account: str, currency: str) -> int:
    """What an account holds, in the currency's smallest unit."""
    return session.integer("SELECT sum(amount) FROM posting WHERE account = ? AND currency = ?", account, currency)


def check(session: Session) -> Json:
    """Whether every movement sums to zero and no wallet is below it, with every balance."""
    unbalanced = session.rows("SELECT movement_id FROM posting GROUP BY movement_id, currency HAVING sum(amount) <> 0")
    accounts = session.rows(
        "SELECT account, currency, sum(amount) AS held FROM posting GROUP BY account, currency ORDER BY account, currency"
    )
    overdrawn = [row["account"] for row in accounts if row["held"] < 0 and row["account"] != OUTSIDE]
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
