"""Payouts that come back after they have succeeded: the bank of the account sends the money to the wallet again.

The payout stays SUCCEEDED. The return is a refund of what the bank account got, and gives the platform's fees back.
"""

import sqlite3
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import ledger, movements, results
from coffret.sandbox.wire.endpoints import Json
from coffret.sandbox.wire.errors import OutOfTurn

CLOSED_ACCOUNT = "DE79000000000000000002"
"""An account that was closed: its bank sends the money back."""
RETURNED_AFTER = 24 * 3600
"""Seconds from the success of a payout to a closed account until its return."""


class PayoutReturn(BaseModel):
    """A return: the bank's reason, the fees that are given back (by default all), and the result code of the refund."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: Annotated[str, Field(pattern="^[A-Z0-9_]{1,60}$")] = "BANKACCOUNT_HAS_BEEN_CLOSED"
    message: Annotated[str, Field(max_length=255)] | None = None
    fees_back: Annotated[int, Field(ge=0)] | None = None
    code: Annotated[str, Field(pattern=r"^\d{6}$")] = results.SUCCESS


def plan(session: SandboxSession, payout_id: str, succeeds_at: float) -> None:
    """Let a payout come back a day later than it is due to succeed."""
    session.change("INSERT INTO payout_return VALUES (?, ?)", payout_id, succeeds_at + RETURNED_AFTER)


def settle_due(session: SandboxSession) -> None:
    """Return payouts to closed accounts, unless they have failed."""
    due = session.rows(
        """SELECT movement.* FROM payout_return JOIN movement ON id = payout_id
           WHERE due_at <= ? AND status <> 'CREATED' ORDER BY due_at, movement.seq""",
        session.now,
    )
    for payout in due:
        session.change("DELETE FROM payout_return WHERE payout_id = ?", payout["id"])
        if obstacle(session, payout) is None:
            give_back(session, payout, PayoutReturn())


def return_payout(session: SandboxSession, payout_id: str, asked: PayoutReturn) -> Json:
    """Return a payout as its bank would. Returns the refund. Raises ResourceNotFound and OutOfTurn."""
    payout = movements.find(session, payout_id, type="PAYOUT", nature="REGULAR")
    problem = obstacle(session, payout)
    if problem is None and (asked.fees_back or 0) > payout["fees"]:
        problem = f"The fees of the payout are {payout['fees']}."
    if problem is not None:
        raise OutOfTurn(problem)
    return give_back(session, payout, asked)


def obstacle(session: SandboxSession, payout: sqlite3.Row) -> str | None:
    """Why a payout cannot come back; None if it can."""
    if payout["status"] != "SUCCEEDED":
        return f"The payout is {payout['status']}: only one that has SUCCEEDED comes back."
    if payout["debited"] == payout["fees"]:
        return "The bank account got nothing."
    if session.row("SELECT 1 FROM movement WHERE parent_id = ? AND status = 'SUCCEEDED'", payout["id"]):
        return "The payout has come back already."
    return None


def give_back(session: SandboxSession, payout: sqlite3.Row, asked: PayoutReturn) -> Json:
    """Credit the wallet with what the bank account got and with the fees. Returns the refund, which fails if the fee
    wallet holds too little.
    """
    id, fees = session.mint("refund_m_"), payout["fees"] if asked.fees_back is None else asked.fees_back
    short = fees > ledger.balance(session, ledger.FEES, payout["currency"])
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYIN",
            nature="REFUND",
            author_id=payout["author_id"],
            credited_user_id=payout["credited_user_id"],
            credited_wallet_id=payout["debited_wallet_id"],
            parent_id=payout["id"],
            currency=payout["currency"],
            debited=payout["debited"] - payout["fees"],
            fees=-fees,
            body={
                "CreditedWalletId": movements.present(payout)["DebitedWalletId"],
                **movements.initial_fields(payout),
                "RefundReason": {"RefundReasonType": asked.reason, "RefundReasonMessage": asked.message},
            },
        ),
    )
    movements.finish(session, id, results.FEE_WALLET_EMPTY if short else asked.code)
    return movements.read(session, id)
