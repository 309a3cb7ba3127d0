"""Movements of money, whatever their kind: how they are written, end, are shown and listed."""

import json
import sqlite3
from dataclasses import dataclass

from coffret.sandbox import events, ledger, results
from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Call, Json, Page
from coffret.sandbox.wire.errors import ResourceNotFound
from coffret.sandbox.wire.paging import Listing, several

KEPT_FOR = 396 * 24 * 3600
"""The provider forgets movements after 13 months."""
STATUSES = ("CREATED", "SUCCEEDED", "FAILED")
TYPES = ("PAYIN", "TRANSFER", "PAYOUT")
NATURES = ("REGULAR", "REFUND", "REPUDIATION", "SETTLEMENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMovement:
    """A movement before anything has moved. Amounts are in the currency's smallest unit; `body` is what its kind adds."""

    id: str
    type: str
    nature: str
    author_id: str
    credited_user_id: str
    currency: str
    debited: int
    fees: int
    body: Json
    tag: str | None = None
    debited_wallet_id: str | None = None
    credited_wallet_id: str | None = None
    parent_id: str | None = None


def create(session: Session, new: NewMovement) -> None:
    """Write a movement and tell of it."""
    session.change(
        """INSERT INTO movement (id, type, nature, author_id, credited_user_id, debited_wallet_id, credited_wallet_id,
                                 parent_id, currency, debited, fees, created_at, tag, body)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        new.id,
        new.type,
        new.nature,
        new.author_id,
        new.credited_user_id,
        new.debited_wallet_id,
        new.credited_wallet_id,
        new.parent_id,
        new.currency,
        new.debited,
        new.fees,
        int(session.now),
        new.tag,
        json.dumps(new.body),
    )
    events.emit(session, event_type(find(session, new.id), "CREATED"), new.id)


def finish(session: Session, id: str, code: str, at: float | None = None) -> bool:
    """End a movement that is open: success enters it in the ledger. One that has ended stays as it is; answers whether it moved."""
    moment = session.now if at is None else at
    status = "SUCCEEDED" if code == results.SUCCESS else "FAILED"
    executed = int(moment) if status == "SUCCEEDED" else None
    moved = session.change(
        "UPDATE movement SET status = ?, result_code = ?, executed_at = ? WHERE id = ? AND status = 'CREATED'",
        status,
        code,
        executed,
        id,
    )
    if not moved:
        return False
    row = find(session, id)
    if status == "SUCCEEDED":
        ledger.post(session, id, row["currency"], entries(row))
    events.emit(session, event_type(row, status), id, moment)
    return True


def entries(row: sqlite3.Row) -> dict[str, int]:
    """What a successful movement does to accounts: the debited side pays the credited side and the fees, which may be negative."""
    source = ledger.wallet(row["debited_wallet_id"]) if row["debited_wallet_id"] else ledger.OUTSIDE
    target = ledger.wallet(row["credited_wallet_id"]) if row["credited_wallet_id"] else ledger.OUTSIDE
    amounts = {source: -row["debited"], target: row["debited"] - row["fees"]}
    return amounts | {ledger.FEES: row["fees"]} if row["fees"] else amounts


def event_type(row: sqlite3.Row, outcome: str) -> str:
    """`PAYIN_NORMAL_SUCCEEDED`. A refund is named after what it gives back."""
    if row["nature"] == "REFUND":
        return f"{json.loads(row['body'])['InitialTransactionType']}_REFUND_{outcome}"
    return f"{row['type']}_NORMAL_{outcome}"


def find(session: Session, id: str, *, type: str | None = None, nature: str | None = None) -> sqlite3.Row:
    """The movement's row, if it is of this type and nature and not older than the provider remembers."""
    row = session.row("SELECT * FROM movement WHERE id = ? AND created_at > ?", id, session.now - KEPT_FOR)
    if row is None or type not in {None, row["type"]} or nature not in {None, row["nature"]}:
        raise ResourceNotFound
    return row


def present(row: sqlite3.Row) -> Json:
    """A movement as the provider shows it."""

    def money(amount: int) -> Json:
        return {"Currency": row["currency"], "Amount": amount}

    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "AuthorId": row["author_id"],
        "CreditedUserId": row["credited_user_id"],
        "DebitedFunds": money(row["debited"]),
        "CreditedFunds": money(row["debited"] - row["fees"]),
        "Fees": money(row["fees"]),
        "Status": row["status"],
        "ResultCode": row["result_code"],
        "ResultMessage": results.message(row["result_code"]),
        "ExecutionDate": row["executed_at"],
        "Type": row["type"],
        "Nature": row["nature"],
        "DebitedWalletId": row["debited_wallet_id"],
        "CreditedWalletId": row["credited_wallet_id"],
        **json.loads(row["body"]),
    }


def listing(session: Session, call: Call, condition: str, *values: str) -> Page:
    """The movements that meet a condition, narrowed by the caller's filters."""
    found = Listing(call, "movement", "created_at")
    found.where(condition, *values)
    found.where("created_at > ?", session.now - KEPT_FOR)
    found.among("status", several(call, "Status", STATUSES))
    found.among("type", several(call, "Type", TYPES))
    found.among("nature", several(call, "Nature", NATURES))
    found.among("result_code", several(call, "ResultCode"))
    return found.page(session, present)
