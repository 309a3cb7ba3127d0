"""Refunds of pay-ins, full or partial, from the wallet that was credited."""

import datetime as dt
import sqlite3
from typing import Self

from pydantic import model_validator

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import checkout, ledger, movements, results
from coffret.sandbox.payments.cards import BY_NUMBER
from coffret.sandbox.wire.bodies import Body, Id, PositiveMoney, SignedMoney, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError

REFUNDABLE_FOR = 334 * 24 * 3600
"""Eleven months in seconds."""


class NewRefund(Body):
    """The body of POST /payins/{id}/refunds. Without amounts the whole pay-in is refunded, including its fees.

    `Fees` is negative if the platform returns its fees, positive if it charges more.
    """

    author_id: Id
    debited_funds: PositiveMoney | None = None
    fees: SignedMoney | None = None
    tag: Tag | None = None

    @model_validator(mode="after")
    def amounts_together(self) -> Self:
        """Both amounts or neither."""
        missing = "DebitedFunds" if self.debited_funds is None else "Fees" if self.fees is None else ""
        if missing and (self.debited_funds or self.fees):
            raise ParamError({missing: "DebitedFunds and Fees must be given together, or neither."})
        return self


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/{id}/refunds"""
    payin = movements.find(session, call.path["id"], type="PAYIN", nature="REGULAR")
    body = call.json(NewRefund)
    debited, fees = amounts(payin, body)
    id = session.mint("refund_m_")
    code = call.fail_with or refusal(session, payin, debited, fees)
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYOUT",
            nature="REFUND",
            author_id=body.author_id,
            credited_user_id=payin["author_id"],
            debited_wallet_id=payin["credited_wallet_id"],
            parent_id=payin["id"],
            currency=payin["currency"],
            debited=debited,
            fees=fees,
            tag=body.tag,
            body={
                "InitialTransactionId": payin["id"],
                "InitialTransactionType": "PAYIN",
                "InitialTransactionNature": payin["nature"],
                "RefundReason": {"RefundReasonType": "INITIALIZED_BY_CLIENT", "RefundReasonMessage": None},
            },
        ),
    )
    movements.finish(session, id, code)
    return movements.present(movements.find(session, id))


def amounts(payin: sqlite3.Row, body: NewRefund) -> tuple[int, int]:
    """The amount debited from the wallet, and the fees: negative if the platform returns them. Raises ParamError."""
    if body.author_id != payin["author_id"]:
        raise ParamError({"AuthorId": "The AuthorId must be the author of the pay-in."})
    if payin["status"] != "SUCCEEDED":
        raise ParamError({"InitialTransactionId": "The pay-in has not succeeded: there is nothing to refund."})
    if body.debited_funds is None or body.fees is None:
        return payin["debited"] - payin["fees"], -payin["fees"]
    for name, money in (("DebitedFunds", body.debited_funds), ("Fees", body.fees)):
        if money.currency != payin["currency"]:
            raise ParamError({f"{name}.Currency": f"The pay-in is in {payin['currency']}."})
    if body.fees.amount > body.debited_funds.amount:
        raise ParamError({"Fees.Amount": "Fees can't be above DebitedFunds."})
    return body.debited_funds.amount, body.fees.amount


def refusal(session: SandboxSession, payin: sqlite3.Row, debited: int, fees: int) -> str:
    """The refund's result code: success, or the reason of the failure."""
    earlier = session.rows(
        "SELECT * FROM movement WHERE parent_id = ? AND nature = 'REFUND' AND status = 'SUCCEEDED'", payin["id"]
    )
    refunded = sum(row["debited"] for row in earlier)
    fees_back = sum(-row["fees"] for row in earlier)
    credited = payin["debited"] - payin["fees"]
    today = day(session.now)
    disputed = session.row("SELECT 1 FROM dispute WHERE payin_id = ? AND result_code IS NOT 'VOID'", payin["id"])
    page = checkout.of_payin(session, payin["id"])
    card = BY_NUMBER.get(page.card or "") if page else None
    wallet = ledger.balance(session, ledger.wallet(payin["credited_wallet_id"]), payin["currency"])
    reasons = (
        (results.ALREADY_REFUNDED, bool(earlier) and refunded >= credited),
        (results.PAYIN_DISPUTED, disputed is not None),
        (results.REFUND_TOO_LATE, session.now >= payin["created_at"] + REFUNDABLE_FOR),
        (
            results.SAME_REFUND_TODAY,
            any(row["debited"] == debited and day(row["created_at"]) == today for row in earlier),
        ),
        (results.REFUND_OVER_AMOUNT, refunded + debited > credited),
        (results.REFUND_OVER_FEES, fees_back - fees > payin["fees"]),
        (results.INSUFFICIENT_WALLET, debited > wallet),
        (results.FEE_WALLET_EMPTY, -fees > ledger.balance(session, ledger.FEES, payin["currency"])),
        (results.REFUND_TECHNICAL, card is not None and card.refund_result != results.SUCCESS),
    )
    return next((code for code, applies in reasons if applies), results.SUCCESS)


def day(moment: float) -> dt.date:
    return dt.datetime.fromtimestamp(moment, dt.UTC).date()


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /refunds/{id}"""
    return movements.present(movements.find(session, call.path["id"], nature="REFUND"))


def list_of_payin(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /payins/{id}/refunds"""
    payin = movements.find(session, call.path["id"], type="PAYIN")
    return movements.listing(session, call, "parent_id = ? AND nature = 'REFUND'", payin["id"])


ENDPOINTS = (
    WireEndpoint("POST", "/payins/{id}/refunds", create),
    WireEndpoint("GET", "/payins/{id}/refunds", list_of_payin),
    WireEndpoint("GET", "/refunds/{id}", read),
)
