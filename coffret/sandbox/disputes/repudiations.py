"""Repudiations: the money that a buyer's bank takes back, its return after a won dispute, and its settlement."""

import sqlite3

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import ledger, movements, results
from coffret.sandbox.wire.bodies import Body, Id, MoneyBody, PositiveMoney, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError

REPUDIATION, SETTLEMENT = "REPUDIATION", "SETTLEMENT"


class NewSettlement(Body):
    """The body of POST /repudiations/{id}/settlementtransfer."""

    author_id: Id
    debited_funds: PositiveMoney
    fees: MoneyBody
    tag: Tag | None = None


def take(session: SandboxSession, payin: sqlite3.Row, amount: int) -> str:
    """Take a disputed amount from the platform's credit wallet. Returns the repudiation's id."""
    id = session.mint("repud_m_")
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYOUT",
            nature=REPUDIATION,
            author_id=payin["author_id"],
            credited_user_id=payin["author_id"],
            parent_id=payin["id"],
            currency=payin["currency"],
            debited=amount,
            fees=0,
            body={
                "CreditedUserId": None,
                "DebitedWalletId": ledger.credit_wallet(payin["currency"]),
                **movements.initial_fields(payin),
            },
        ),
    )
    movements.finish(session, id, results.SUCCESS)
    return id


def give_back(session: SandboxSession, repudiation_id: str, amount: int, at: float) -> None:
    """Return an amount to the credit wallet, after a dispute that was won or cancelled."""
    row, id = movements.find(session, repudiation_id), session.mint("refund_m_")
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYIN",
            nature="REFUND",
            author_id=row["author_id"],
            credited_user_id=row["author_id"],
            parent_id=row["id"],
            currency=row["currency"],
            debited=amount,
            fees=0,
            body={
                "CreditedUserId": session.settings.client_id,
                "CreditedWalletId": ledger.credit_wallet(row["currency"]),
                **movements.initial_fields(row),
                "RefundReason": {"RefundReasonType": "INITIALIZED_BY_MANGOPAY", "RefundReasonMessage": None},
            },
        ),
    )
    movements.finish(session, id, results.SUCCESS, at)


def settle(session: SandboxSession, call: HttpCall) -> Json:
    """POST /repudiations/{id}/settlementtransfer"""
    repudiation = movements.find(session, call.path["id"], nature=REPUDIATION)
    body = call.json(NewSettlement)
    payin = movements.find(session, repudiation["parent_id"])
    check(session, repudiation, body)
    id, amount = session.mint("settle_m_"), body.debited_funds.amount
    code = call.fail_with or refusal(session, repudiation, payin, amount - body.fees.amount)
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="TRANSFER",
            nature=SETTLEMENT,
            author_id=body.author_id,
            credited_user_id=payin["author_id"],
            debited_wallet_id=payin["credited_wallet_id"],
            parent_id=repudiation["id"],
            currency=payin["currency"],
            debited=amount,
            fees=body.fees.amount,
            tag=body.tag,
            body={
                "CreditedUserId": None,
                "CreditedWalletId": ledger.credit_wallet(payin["currency"]),
                "RepudiationId": repudiation["id"],
            },
        ),
    )
    movements.finish(session, id, code)
    return movements.read(session, id)


def check(session: SandboxSession, repudiation: sqlite3.Row, body: NewSettlement) -> None:
    """Raise ParamError unless the dispute is lost and the body fits the repudiation."""
    if body.author_id != repudiation["author_id"]:
        raise ParamError({"AuthorId": "The AuthorId must be the author of the repudiation."})
    for name, money in (("DebitedFunds", body.debited_funds), ("Fees", body.fees)):
        if money.currency != repudiation["currency"]:
            raise ParamError({f"{name}.Currency": f"The repudiation is in {repudiation['currency']}."})
    if body.fees.amount > body.debited_funds.amount:
        raise ParamError({"Fees.Amount": "Fees can't be above DebitedFunds."})
    dispute = session.require_row("SELECT * FROM dispute WHERE repudiation_id = ?", repudiation["id"])
    if (dispute["status"], dispute["result_code"]) != ("CLOSED", "LOST"):
        raise ParamError({"RepudiationId": "Only a dispute that is CLOSED and LOST can be settled."})


def refusal(session: SandboxSession, repudiation: sqlite3.Row, payin: sqlite3.Row, amount: int) -> str:
    """The result code of a settlement that would bring `amount` to the credit wallet."""
    left = owed(session, repudiation)
    if left <= 0:
        return results.REPUDIATION_SETTLED
    if amount > left:
        raise ParamError({"DebitedFunds.Amount": f"{left} of the repudiation are not settled yet."})
    wallet = movements.available(session, payin["credited_wallet_id"], payin["currency"])
    return results.INSUFFICIENT_WALLET if amount > wallet else results.SUCCESS


def owed(session: SandboxSession, repudiation: sqlite3.Row) -> int:
    """What of a repudiation has not been settled, in the currency's smallest unit."""
    return int(repudiation["debited"]) - session.integer(
        "SELECT sum(debited - fees) FROM movement WHERE parent_id = ? AND nature = ? AND status = 'SUCCEEDED'",
        repudiation["id"],
        SETTLEMENT,
    )


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /repudiations/{id}"""
    return movements.read(session, call.path["id"], nature=REPUDIATION)


def read_settlement(session: SandboxSession, call: HttpCall) -> Json:
    """GET /settlements/{id}"""
    return movements.read(session, call.path["id"], nature=SETTLEMENT)


def refunds_of_repudiation(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /repudiations/{id}/refunds"""
    repudiation = movements.find(session, call.path["id"], nature=REPUDIATION)
    return movements.listing(session, call, "parent_id = ? AND nature = 'REFUND'", repudiation["id"])


ENDPOINTS = (
    WireEndpoint("GET", "/repudiations/{id}", read),
    WireEndpoint("GET", "/repudiations/{id}/refunds", refunds_of_repudiation),
    WireEndpoint("POST", "/repudiations/{id}/settlementtransfer", settle),
    WireEndpoint("GET", "/settlements/{id}", read_settlement),
)
