"""Refunds of pay-ins and transfers, full or partial, from the wallet that was credited."""

import datetime as dt
import json
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
BANCONTACT_REFUNDABLE_FOR = 180 * 24 * 3600
"""Eleven months in seconds."""


class NewRefund(Body):
    """The body of POST /payins/{id}/refunds and /transfers/{id}/refunds.

    Without amounts the whole movement is refunded, including its fees.

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


def refund_payin(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/{id}/refunds"""
    return create(session, call, movements.find(session, call.path["id"], type="PAYIN", nature="REGULAR"))


def refund_transfer(session: SandboxSession, call: HttpCall) -> Json:
    """POST /transfers/{id}/refunds"""
    return create(session, call, movements.find(session, call.path["id"], type="TRANSFER", nature="REGULAR"))


def create(session: SandboxSession, call: HttpCall, initial: sqlite3.Row) -> Json:
    """Refund a movement to where its money came from: a wallet, or the outside."""
    body = call.json(NewRefund)
    debited, fees = amounts(initial, body)
    id = session.mint("refund_m_")
    code = call.fail_with or refusal(session, initial, debited, fees)
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="PAYOUT" if initial["type"] == "PAYIN" else initial["type"],
            nature="REFUND",
            author_id=body.author_id,
            credited_user_id=initial["author_id"],
            debited_wallet_id=initial["credited_wallet_id"],
            credited_wallet_id=initial["debited_wallet_id"],
            parent_id=initial["id"],
            currency=initial["currency"],
            debited=debited,
            fees=fees,
            tag=body.tag,
            body={
                **movements.initial_fields(initial),
                "RefundReason": {"RefundReasonType": "INITIALIZED_BY_CLIENT", "RefundReasonMessage": None},
            },
        ),
    )
    movements.finish(session, id, code)
    return movements.read(session, id)


def amounts(initial: sqlite3.Row, body: NewRefund) -> tuple[int, int]:
    """The amount debited from the wallet, and the fees: negative if the platform returns them. Raises ParamError."""
    if body.author_id != initial["author_id"]:
        raise ParamError({"AuthorId": "The AuthorId must be the author of the movement that is refunded."})
    if initial["status"] != "SUCCEEDED":
        raise ParamError({"InitialTransactionId": "The movement has not succeeded: there is nothing to refund."})
    if body.debited_funds is None or body.fees is None:
        return initial["debited"] - initial["fees"], -initial["fees"]
    for name, money in (("DebitedFunds", body.debited_funds), ("Fees", body.fees)):
        if money.currency != initial["currency"]:
            raise ParamError({f"{name}.Currency": f"The movement is in {initial['currency']}."})
    if body.fees.amount > body.debited_funds.amount:
        raise ParamError({"Fees.Amount": "Fees can't be above DebitedFunds."})
    return body.debited_funds.amount, body.fees.amount


def refusal(session: SandboxSession, initial: sqlite3.Row, debited: int, fees: int) -> str:
    """The refund's result code: success, or the reason of the failure."""
    earlier = session.rows(
        "SELECT * FROM movement WHERE parent_id = ? AND nature = 'REFUND' AND status = 'SUCCEEDED'", initial["id"]
    )
    refunded = sum(row["debited"] for row in earlier)
    fees_back = sum(-row["fees"] for row in earlier)
    credited = initial["debited"] - initial["fees"]
    today = day(session.now)
    disputed = session.row("SELECT 1 FROM dispute WHERE payin_id = ? AND result_code IS NOT 'VOID'", initial["id"])
    page = checkout.of_payin(session, initial["id"])
    card = BY_NUMBER.get(page.card or "") if page else None
    wallet = movements.available(session, initial["credited_wallet_id"], initial["currency"])
    paid_with = json.loads(initial["body"]).get("PaymentType")
    refundable_for = BANCONTACT_REFUNDABLE_FOR if paid_with == "BCMC" else REFUNDABLE_FOR
    reasons = (
        (results.ALREADY_REFUNDED, bool(earlier) and refunded >= credited),
        (results.PAYIN_DISPUTED, disputed is not None),
        (results.REFUND_TOO_LATE, session.now >= initial["created_at"] + refundable_for),
        (
            results.SAME_REFUND_TODAY,
            any(row["debited"] == debited and day(row["created_at"]) == today for row in earlier),
        ),
        (results.REFUND_OVER_AMOUNT, refunded + debited > credited),
        (results.REFUND_OVER_FEES, fees_back - fees > initial["fees"]),
        (results.INSUFFICIENT_WALLET, debited > wallet),
        (results.FEE_WALLET_EMPTY, -fees > ledger.balance(session, ledger.FEES, initial["currency"])),
        (results.REFUND_TECHNICAL, card is not None and card.refund_result != results.SUCCESS),
    )
    return next((code for code, applies in reasons if applies), results.SUCCESS)


def day(moment: float) -> dt.date:
    return dt.datetime.fromtimestamp(moment, dt.UTC).date()


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /refunds/{id}"""
    return movements.read(session, call.path["id"], nature="REFUND")


def list_of_transfer(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /transfers/{id}/refunds"""
    return refunds_of(session, call, movements.find(session, call.path["id"], type="TRANSFER"))


def list_of_payout(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /payouts/{id}/refunds: returns by the bank"""
    return refunds_of(session, call, movements.find(session, call.path["id"], type="PAYOUT", nature="REGULAR"))


def list_of_payin(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /payins/{id}/refunds"""
    return refunds_of(session, call, movements.find(session, call.path["id"], type="PAYIN"))


def refunds_of(session: SandboxSession, call: HttpCall, initial: sqlite3.Row) -> WirePage:
    return movements.listing(session, call, "parent_id = ? AND nature = 'REFUND'", initial["id"])


ENDPOINTS = (
    WireEndpoint("POST", "/payins/{id}/refunds", refund_payin),
    WireEndpoint("POST", "/transfers/{id}/refunds", refund_transfer),
    WireEndpoint("GET", "/transfers/{id}/refunds", list_of_transfer),
    WireEndpoint("GET", "/payouts/{id}/refunds", list_of_payout),
    WireEndpoint("GET", "/payins/{id}/refunds", list_of_payin),
    WireEndpoint("GET", "/refunds/{id}", read),
)
