"""Disputes: a buyer's bank takes a payment back; the platform contests it with documents, or accepts the loss."""

import sqlite3
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.disputes import documents, repudiations
from coffret.sandbox.disputes.documents import AWAITING_PLATFORM
from coffret.sandbox.payments import checkout, movements
from coffret.sandbox.payments.cards import BY_NUMBER
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, PositiveMoney, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import OutOfTurn, ParamError
from coffret.sandbox.wire.paging import ListBuilder, several

DAY = 24 * 3600


class WireDisputeType(StrEnum):
    CONTESTABLE = "CONTESTABLE"
    NOT_CONTESTABLE = "NOT_CONTESTABLE"
    RETRIEVAL = "RETRIEVAL"


class WireDisputeStatus(StrEnum):
    CREATED = "CREATED"
    PENDING_CLIENT_ACTION = "PENDING_CLIENT_ACTION"
    SUBMITTED = "SUBMITTED"
    PENDING_BANK_ACTION = "PENDING_BANK_ACTION"
    REOPENED_PENDING_CLIENT_ACTION = "REOPENED_PENDING_CLIENT_ACTION"
    CLOSED = "CLOSED"


class DisputeResult(StrEnum):
    WON = "WON"
    LOST = "LOST"
    VOID = "VOID"


class WireDisputeReason(StrEnum):
    """Why the buyer's bank disputes. The spelling is the provider's."""

    DUPLICATE = "DUPLICATE"
    FRAUD = "FRAUD"
    PRODUCT_UNACCEPTABLE = "PRODUCT_UNACCEPTABLE"
    UNKNOWN = "UNKNOWN"
    OTHER = "OTHER"
    AUTHORISATION_DISPUTED = "AUTHORISATION_DISPUTED"
    TRANSACTION_NOT_RECOGNIZED = "TRANSACTION_NOT_RECOGNIZED"
    PRODUCT_NOT_PROVIDED = "PRODUCT_NOT_PROVIDED"
    CANCELED_REOCCURING_TRANSACTION = "CANCELED_REOCCURING_TRANSACTION"
    REFUND_NOT_PROCESSED = "REFUND_NOT_PROCESSED"


EVENTS = {
    WireDisputeStatus.CREATED: "DISPUTE_CREATED",
    WireDisputeStatus.PENDING_CLIENT_ACTION: "DISPUTE_ACTION_REQUIRED",
    WireDisputeStatus.SUBMITTED: "DISPUTE_SUBMITTED",
    WireDisputeStatus.PENDING_BANK_ACTION: "DISPUTE_SENT_TO_BANK",
    WireDisputeStatus.REOPENED_PENDING_CLIENT_ACTION: "DISPUTE_FURTHER_ACTION_REQUIRED",
    WireDisputeStatus.CLOSED: "DISPUTE_CLOSED",
}


class NewDispute(BaseModel):
    """A dispute to open at the control plane. Without `amount` the whole pay-in is disputed.

    `days` is how long the platform may contest it; the provider's banks give 7 to 18. One that is `new` stays `CREATED`:
    nothing can be done about it yet.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: WireDisputeType = WireDisputeType.CONTESTABLE
    amount: Annotated[int, Field(ge=1)] | None = None
    reason: WireDisputeReason = WireDisputeReason.TRANSACTION_NOT_RECOGNIZED
    message: Annotated[str, Field(max_length=255)] = ""
    days: Annotated[int, Field(ge=1, le=60)] = 14
    new: bool = False


class DisputeDecision(BaseModel):
    """What the provider or the bank decides of a contested dispute, with a message.

    `send_to_bank` accepts the documents, `reopen` asks for others; `win`, `lose` and `void` close the dispute.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Literal["send_to_bank", "reopen", "win", "lose", "void"]
    message: Annotated[str, Field(max_length=255)] = ""


CONTESTED = {WireDisputeStatus.SUBMITTED, WireDisputeStatus.PENDING_BANK_ACTION}
FROM = {
    "send_to_bank": {WireDisputeStatus.SUBMITTED},
    "reopen": CONTESTED,
    "win": CONTESTED,
    "lose": CONTESTED,
    "void": {*WireDisputeStatus} - {WireDisputeStatus.CLOSED},
}
RESULTS = {"win": DisputeResult.WON, "lose": DisputeResult.LOST, "void": DisputeResult.VOID}


class Contestation(Body):
    """The body of PUT /disputes/{id}/submit. A reopened dispute keeps its amount."""

    contested_funds: PositiveMoney | None = None


class ChangedDispute(Body):
    """The body of PUT /disputes/{id}."""

    tag: Tag | None = None


def open_dispute(session: SandboxSession, payin_id: str, new: NewDispute) -> Json:
    """Open a dispute of a pay-in, as the buyer's bank would.

    Without an amount, all that is left of the pay-in after its refunds is disputed. Raises ResourceNotFound, and
    OutOfTurn for a pay-in that was not paid by a card that can be disputed, of which less is left, or that is disputed
    already.
    """
    payin = movements.find(session, payin_id, type="PAYIN", nature="REGULAR")
    amount = new.amount or left(session, payin)
    if problem := obstacle(session, payin, amount):
        raise OutOfTurn(problem)
    id = session.mint("disp_m_")
    session.change(
        """INSERT INTO dispute (id, payin_id, type, status, currency, disputed, reason, reason_message, created_at, due_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        id,
        payin["id"],
        new.type,
        WireDisputeStatus.CREATED,
        payin["currency"],
        amount,
        new.reason,
        new.message or None,
        int(session.now),
        session.now + new.days * DAY,
    )
    events.emit(session, EVENTS[WireDisputeStatus.CREATED], id)
    if new.type is not WireDisputeType.RETRIEVAL:
        taken = repudiations.take(session, payin, amount)
        session.change("UPDATE dispute SET repudiation_id = ? WHERE id = ?", taken, id)
    if new.type is WireDisputeType.NOT_CONTESTABLE:
        end(session, find(session, id), DisputeResult.LOST, session.now)
    elif not new.new:
        move(session, id, WireDisputeStatus.PENDING_CLIENT_ACTION, session.now)
    return present(find(session, id))


def obstacle(session: SandboxSession, payin: sqlite3.Row, amount: int) -> str:
    """Why a pay-in cannot be disputed; empty if it can."""
    page = checkout.of_payin(session, payin["id"])
    card = BY_NUMBER.get(page.card or "") if page else None
    if payin["status"] != "SUCCEEDED" or card is None or not card.disputable:
        return "Only payments with the card for disputes can be disputed."
    if not 0 < amount <= left(session, payin):
        return f"Of the pay-in, {left(session, payin)} are left."
    return "The pay-in is disputed already." if of_payin(session, payin["id"]) else ""


def left(session: SandboxSession, payin: sqlite3.Row) -> int:
    """What the buyer has paid and not got back."""
    (refunded,) = session.rows(
        """SELECT coalesce(sum(debited - fees), 0) FROM movement
           WHERE parent_id = ? AND nature = 'REFUND' AND status <> 'FAILED'""",
        payin["id"],
    )[0]
    return int(payin["debited"] - refunded)


def of_payin(session: SandboxSession, payin_id: str) -> sqlite3.Row | None:
    """The dispute of a pay-in that was not cancelled."""
    return session.row("SELECT * FROM dispute WHERE payin_id = ? AND result_code IS NOT 'VOID'", payin_id)


def submit(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /disputes/{id}/submit"""
    row, body = awaiting(session, call.path["id"]), call.json(Contestation)
    if row["status"] == WireDisputeStatus.PENDING_CLIENT_ACTION:
        if body.contested_funds is None:
            raise ParamError({"ContestedFunds": "The ContestedFunds field is required."})
        if body.contested_funds.currency != row["currency"]:
            raise ParamError({"ContestedFunds.Currency": f"The dispute is in {row['currency']}."})
        if body.contested_funds.amount > row["disputed"]:
            raise ParamError({"ContestedFunds.Amount": "ContestedFunds can't be above DisputedFunds."})
        session.change("UPDATE dispute SET contested = ? WHERE id = ?", body.contested_funds.amount, row["id"])
    move(session, row["id"], WireDisputeStatus.SUBMITTED, session.now)
    return present(find(session, row["id"]))


def close(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /disputes/{id}/close: the platform accepts the loss"""
    row = awaiting(session, call.path["id"])
    end(session, row, DisputeResult.LOST, session.now)
    return present(find(session, row["id"]))


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /disputes/{id}"""
    row, body = find(session, call.path["id"]), call.json(ChangedDispute)
    session.change("UPDATE dispute SET tag = coalesce(?, tag) WHERE id = ?", body.tag, row["id"])
    return present(find(session, row["id"]))


def decide(session: SandboxSession, id: str, decision: DisputeDecision) -> Json:
    """Decide a dispute as the provider or the bank would. Raises OutOfTurn if its status does not allow it."""
    row = find(session, id)
    if WireDisputeStatus(row["status"]) not in FROM[decision.outcome]:
        raise OutOfTurn(f"The dispute is {row['status']}: {decision.outcome} does not follow from that.")
    if decision.outcome == "void":
        end(session, row, DisputeResult.VOID, session.now, decision.message)
        return present(find(session, id))
    documents.decide(session, id, accepted=decision.outcome != "reopen", message=decision.message, at=session.now)
    if decision.outcome in RESULTS:
        end(session, row, RESULTS[decision.outcome], session.now, decision.message)
    else:
        reopened, sent = WireDisputeStatus.REOPENED_PENDING_CLIENT_ACTION, WireDisputeStatus.PENDING_BANK_ACTION
        move(session, id, reopened if decision.outcome == "reopen" else sent, session.now, decision.message)
    return present(find(session, id))


def end(session: SandboxSession, row: sqlite3.Row, result: DisputeResult, at: float, message: str = "") -> None:
    """Close a dispute. A won one returns what was contested, a cancelled one everything."""
    session.change(
        "UPDATE dispute SET result_code = ?, result_message = ?, closed_at = ? WHERE id = ?",
        result,
        message or None,
        int(at),
        row["id"],
    )
    move(session, row["id"], WireDisputeStatus.CLOSED, at)
    if row["repudiation_id"] and result is not DisputeResult.LOST:
        won = row["contested"] if result is DisputeResult.WON else None
        repudiations.give_back(session, row["repudiation_id"], won or row["disputed"], at)


def move(session: SandboxSession, id: str, status: WireDisputeStatus, at: float, message: str = "") -> None:
    """Change a dispute's status and emit the event."""
    session.change("UPDATE dispute SET status = ?, status_message = ? WHERE id = ?", status, message or None, id)
    events.emit(session, EVENTS[status], id, at)


def settle_due(session: SandboxSession) -> None:
    """Close as lost what was not contested in time."""
    due = session.rows(
        "SELECT * FROM dispute WHERE status IN (?, ?) AND due_at <= ? ORDER BY due_at, seq",
        *AWAITING_PLATFORM,
        session.now,
    )
    for row in due:
        end(session, row, DisputeResult.LOST, row["due_at"])


def awaiting(session: SandboxSession, id: str) -> sqlite3.Row:
    """The row of a dispute that awaits the platform. Raises ResourceNotFound, ParamError."""
    row = find(session, id)
    if row["status"] not in AWAITING_PLATFORM:
        raise ParamError({"Status": f"The dispute is {row['status']}: it does not await the platform."})
    return row


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The dispute's row. Raises ResourceNotFound."""
    return documents.find_dispute(session, id)


def present(row: sqlite3.Row) -> Json:
    """A dispute in the provider's format."""

    def money(amount: int | None) -> Json | None:
        return None if amount is None else {"Currency": row["currency"], "Amount": amount}

    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "InitialTransactionId": row["payin_id"],
        "InitialTransactionType": "PAYIN",
        "InitialTransactionNature": "REGULAR",
        "DisputeType": row["type"],
        "ContestDeadlineDate": None if row["type"] == WireDisputeType.NOT_CONTESTABLE else int(row["due_at"]),
        "DisputedFunds": money(row["disputed"]),
        "ContestedFunds": money(row["contested"]),
        "Status": row["status"],
        "StatusMessage": row["status_message"],
        "DisputeReason": {"DisputeReasonType": row["reason"], "DisputeReasonMessage": row["reason_message"]},
        "ResultCode": row["result_code"],
        "ResultMessage": row["result_message"],
        "ClosedDate": row["closed_at"],
        "RepudiationId": row["repudiation_id"],
    }


def describe(session: SandboxSession, id: str) -> Json:
    """A dispute with its documents, for the control plane."""
    rows = session.rows("SELECT * FROM dispute_document WHERE dispute_id = ? ORDER BY seq", id)
    return {**present(find(session, id)), "Documents": [documents.KIND.present(row) for row in rows]}


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /disputes/{id}"""
    return present(find(session, call.path["id"]))


def list_all(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /disputes"""
    return filtered(call).page(session, present)


def list_to_settle(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /disputes/pendingsettlement: lost, and not settled in full"""
    listing = filtered(call)
    listing.where(
        """result_code = 'LOST' AND repudiation_id IS NOT NULL AND disputed > (
               SELECT coalesce(sum(debited - fees), 0) FROM movement
               WHERE parent_id = repudiation_id AND nature = 'SETTLEMENT' AND movement.status = 'SUCCEEDED')"""
    )
    return listing.page(session, present)


def list_of_payin(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /payins/{id}/disputes"""
    listing = filtered(call)
    listing.where("payin_id = ?", movements.find(session, call.path["id"], type="PAYIN")["id"])
    return listing.page(session, present)


def list_of_wallet(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /wallets/{id}/disputes"""
    wallet = session.require_row("SELECT id FROM wallet WHERE id = ?", call.path["id"])
    listing = filtered(call)
    listing.where("payin_id IN (SELECT id FROM movement WHERE credited_wallet_id = ?)", wallet["id"])
    return listing.page(session, present)


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/disputes"""
    user = users.find(session, call.path["id"])
    listing = filtered(call)
    listing.where("payin_id IN (SELECT id FROM movement WHERE author_id = ?)", user["id"])
    return listing.page(session, present)


def list_transactions(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /disputes/{id}/transactions: the repudiation, its return and its settlements"""
    id = find(session, call.path["id"])["repudiation_id"] or ""
    return movements.listing(session, call, "id = ? OR parent_id = ?", id, id)


def filtered(call: HttpCall) -> ListBuilder:
    """Disputes that match the caller's filters."""
    listing = ListBuilder(call, "dispute", "created_at")
    listing.among("status", several(call, "Status", tuple(WireDisputeStatus)))
    listing.among("type", several(call, "DisputeType", tuple(WireDisputeType)))
    return listing


ENDPOINTS = (
    WireEndpoint("GET", "/disputes", list_all),
    WireEndpoint("GET", "/disputes/pendingsettlement", list_to_settle),
    WireEndpoint("GET", "/disputes/{id}", read),
    WireEndpoint("PUT", "/disputes/{id}", update),
    WireEndpoint("PUT", "/disputes/{id}/submit", submit),
    WireEndpoint("PUT", "/disputes/{id}/close", close),
    WireEndpoint("GET", "/disputes/{id}/transactions", list_transactions),
    WireEndpoint("GET", "/payins/{id}/disputes", list_of_payin),
    WireEndpoint("GET", "/wallets/{id}/disputes", list_of_wallet),
    WireEndpoint("GET", "/users/{id}/disputes", list_of_user),
)
