"""Movements of money of all kinds: pay-ins, transfers, conversions, payouts and refunds."""

import json
import sqlite3
from dataclasses import dataclass

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import ledger, results
from coffret.sandbox.wire.endpoints import HttpCall, Json, WirePage
from coffret.sandbox.wire.errors import ResourceNotFound
from coffret.sandbox.wire.paging import ListBuilder, several

KEPT_FOR = 396 * 24 * 3600
"""The provider deletes movements after 13 months."""
STATUSES = ("CREATED", "SUCCEEDED", "FAILED")
TYPES = ("PAYIN", "TRANSFER", "PAYOUT", "CONVERSION")
NATURES = ("REGULAR", "REFUND", "REPUDIATION", "SETTLEMENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMovement:
    """A movement to create. Amounts are in the currency's smallest unit. `body` contains the fields of its kind."""

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


def create(session: SandboxSession, new: NewMovement) -> None:
    """Create a movement and emit the event."""
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


def finish(session: SandboxSession, id: str, code: str, at: float | None = None) -> bool:
    """Finish an open movement; success posts it to the ledger.

    Returns False if it has already ended, and changes nothing then.
    """
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
        for currency, amounts in entries(row).items():
            ledger.post(session, id, currency, amounts)
    events.emit(session, event_type(row, status), id, moment)
    return True


def entries(row: sqlite3.Row) -> dict[str, dict[str, int]]:
    """The postings of a successful movement by currency: the debited side pays the credited side and the fees, which
    may be negative. A conversion pays into the exchange in one currency, and out of it in the other.
    """
    shown = present(row)
    source, target = ledger.account(shown["DebitedWalletId"]), ledger.account(shown["CreditedWalletId"])
    credited, currency = shown["CreditedFunds"], row["currency"]
    converted = credited["Currency"] != currency
    amounts = {source: -row["debited"]}
    amounts[ledger.exchange(currency) if converted else target] = row["debited"] - row["fees"]
    if row["fees"]:
        amounts[ledger.FEES] = amounts.get(ledger.FEES, 0) + row["fees"]
    if not converted:
        return {currency: amounts}
    paid_out = {ledger.exchange(credited["Currency"]): -credited["Amount"], target: credited["Amount"]}
    return {currency: amounts, credited["Currency"]: paid_out}


def available(session: SandboxSession, wallet_id: str, currency: str) -> int:
    """What may be taken out of a wallet, in the currency's smallest unit: its balance without what open payouts hold."""
    held = session.integer(
        """SELECT sum(debited) FROM movement JOIN payout_end ON payout_id = id
           WHERE coalesce(debited_wallet_id, json_extract(body, '$.DebitedWalletId')) = ? AND holds""",
        wallet_id,
    )
    return ledger.balance(session, ledger.account(wallet_id), currency) - held


def event_type(row: sqlite3.Row, outcome: str) -> str:
    """For example `PAYIN_NORMAL_SUCCEEDED`. A refund and a repudiation are named after the movement they follow."""
    if row["type"] == "CONVERSION":
        return f"{'QUOTED' if json.loads(row['body'])['QuoteId'] else 'INSTANT'}_CONVERSION_{outcome}"
    if row["nature"] in {"REFUND", "REPUDIATION"}:
        return f"{json.loads(row['body'])['InitialTransactionType']}_{row['nature']}_{outcome}"
    return f"{row['type']}_{'NORMAL' if row['nature'] == 'REGULAR' else row['nature']}_{outcome}"


def find(session: SandboxSession, id: str, *, type: str | None = None, nature: str | None = None) -> sqlite3.Row:
    """The row of a movement of this type and nature, not older than 13 months. Raises ResourceNotFound."""
    row = session.row("SELECT * FROM movement WHERE id = ? AND created_at > ?", id, session.now - KEPT_FOR)
    if row is None or type not in {None, row["type"]} or nature not in {None, row["nature"]}:
        raise ResourceNotFound
    return row


def read(session: SandboxSession, id: str, *, type: str | None = None, nature: str | None = None) -> Json:
    """A movement of this type and nature in the provider's format. Raises ResourceNotFound."""
    return present(find(session, id, type=type, nature=nature))


def initial_fields(row: sqlite3.Row) -> Json:
    """The fields by which a movement that follows this one names it."""
    return {
        "InitialTransactionId": row["id"],
        "InitialTransactionType": row["type"],
        "InitialTransactionNature": row["nature"],
    }


def present(row: sqlite3.Row) -> Json:
    """A movement in the provider's format."""

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


def listing(session: SandboxSession, call: HttpCall, condition: str, *values: str) -> WirePage:
    """Movements that match the condition and the caller's filters."""
    found = ListBuilder(call, "movement", "created_at")
    found.where(condition, *values)
    found.where("created_at > ?", session.now - KEPT_FOR)
    found.among("status", several(call, "Status", STATUSES))
    found.among("type", several(call, "Type", TYPES))
    found.among("nature", several(call, "Nature", NATURES))
    found.among("result_code", several(call, "ResultCode"))
    return found.page(session, present)
