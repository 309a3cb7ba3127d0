"""Registered cards: reading, deactivation, validation, and the movements of a card."""

import json
import sqlite3
from typing import Any, Literal

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, results
from coffret.sandbox.payments.browser import BrowserFields
from coffret.sandbox.payments.cards import BY_NUMBER, Card
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Id, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import NotModelled, ParamError
from coffret.sandbox.wire.paging import ListBuilder

WITH_HOLDERS = "card LEFT JOIN card_holder ON card_id = id"


class ChangedCard(Body):
    """The body of PUT /cards/{id}: a card can only be deactivated."""

    active: Literal[False]


class NewCardValidation(BrowserFields):
    """The body of POST /cards/{id}/validation."""

    author_id: Id
    tag: Tag | None = None


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The card's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM card LEFT JOIN card_holder ON card_id = id WHERE id = ?", id)


def require_card(session: SandboxSession, field: str, id: str) -> sqlite3.Row:
    """The card that a body refers to. Raises ParamError."""
    row = session.row("SELECT * FROM card WHERE id = ?", id)
    if row is None:
        raise ParamError({field: f"The value {id} is invalid: there is no such card."})
    return row


def require_own_card(session: SandboxSession, id: str, user_id: str) -> sqlite3.Row:
    """The author's card that a body refers to. Raises ParamError."""
    row = require_card(session, "CardId", id)
    if row["user_id"] != user_id:
        raise ParamError({"CardId": "The card belongs to another user than the AuthorId."})
    return row


def unusable(row: sqlite3.Row) -> str | None:
    """The code with which a card fails that was deactivated; None for others."""
    return None if row["active"] else results.CARD_INACTIVE


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /cards/{id}"""
    return present(find(session, call.path["id"]))


def deactivate(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /cards/{id}: permanent"""
    row = find(session, call.path["id"])
    call.json(ChangedCard)
    session.change("UPDATE card SET active = 0 WHERE id = ?", row["id"])
    return present(find(session, row["id"]))


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/cards: all, or only active or inactive ones"""
    listing = ListBuilder(call, WITH_HOLDERS, "created_at")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    active = (call.one("Active") or "").lower()
    if active in {"true", "false"}:
        listing.where("active = ?", int(active == "true"))
    return listing.page(session, present)


def list_of_fingerprint(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /cards/fingerprints/{fingerprint}"""
    listing = ListBuilder(call, WITH_HOLDERS, "created_at")
    listing.where("fingerprint = ?", call.path["fingerprint"])
    return listing.page(session, present)


def transactions(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /cards/{id}/transactions"""
    id = find(session, call.path["id"])["id"]
    return movements.listing(session, call, "json_extract(body, '$.CardId') = ?", id)


def transactions_of_fingerprint(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /cards/fingerprints/{fingerprint}/transactions"""
    return movements.listing(
        session,
        call,
        "json_extract(body, '$.CardId') IN (SELECT id FROM card WHERE fingerprint = ?)",
        call.path["fingerprint"],
    )


def validate(session: SandboxSession, call: HttpCall) -> Json:
    """POST /cards/{id}/validation: asks the bank without moving money, and notes the card's validity"""
    row, body = find(session, call.path["id"]), call.json(NewCardValidation)
    if body.author_id != row["user_id"]:
        raise ParamError({"AuthorId": "The AuthorId must be the user of the card."})
    card = BY_NUMBER[row["number"]]
    if card.challenge:
        raise NotModelled("The sandbox does not model the validation of a card whose bank asks for a challenge.")
    id, code = session.mint("cardval_m_"), call.fail_with or card.result
    session.change(
        "INSERT INTO card_validation (id, card_id, result_code, created_at, tag, body) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        row["id"],
        code,
        int(session.now),
        body.tag,
        json.dumps({**body.to_wire(), "CardInfo": info(card)}),
    )
    note_validity(session, row["id"], code)
    return present_validation(session, find_validation(session, row["id"], id))


def find_validation(session: SandboxSession, card_id: str, id: str) -> sqlite3.Row:
    """The row of a card's validation. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM card_validation WHERE id = ? AND card_id = ?", id, card_id)


def read_validation(session: SandboxSession, call: HttpCall) -> Json:
    """GET /cards/{id}/validation/{validation}"""
    return present_validation(session, find_validation(session, call.path["id"], call.path["validation"]))


def present_validation(session: SandboxSession, row: sqlite3.Row) -> Json:
    """A validation in the provider's format."""
    succeeded = row["result_code"] == results.SUCCESS
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "AuthorizationDate": row["created_at"] if succeeded else None,
        "Type": "CARD_VALIDATION",
        "Validity": find(session, row["card_id"])["validity"],
        "Status": "SUCCEEDED" if succeeded else "FAILED",
        "ResultCode": row["result_code"],
        "ResultMessage": results.message(row["result_code"]),
        "SecureModeNeeded": False,
        "SecureModeRedirectURL": None,
        **json.loads(row["body"]),
    }


def present(row: sqlite3.Row) -> Json:
    """A card in the provider's format."""
    card = BY_NUMBER[row["number"]]
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "UserId": row["user_id"],
        "ExpirationDate": row["expiry"],
        "Alias": card.alias,
        "CardProvider": card.network,
        "CardType": row["card_type"],
        "Country": "FRA",
        "Product": None,
        "BankCode": None,
        "CardHolderName": row["name"],
        "Active": bool(row["active"]),
        "Currency": row["currency"],
        "Validity": row["validity"],
        "Fingerprint": row["fingerprint"],
    }


def note_validity(session: SandboxSession, id: str, code: str) -> None:
    """Note what the bank's answer to a validation or an authorisation tells of a card."""
    session.change("UPDATE card SET validity = ? WHERE id = ?", "VALID" if code == results.SUCCESS else "INVALID", id)


def secured(card: Card, challenge_url: str | None = None) -> Json:
    """The fields in which a payment tells of its card, and of its challenge if there is one."""
    return {
        "SecureModeNeeded": challenge_url is not None,
        "SecureModeRedirectURL": challenge_url,
        "Applied3DSVersion": "V2_1",
        "SecurityInfo": {"AVSResult": "NO_CHECK"},
        "CardInfo": info(card),
    }


def info(card: Card) -> dict[str, Any]:
    """What a payment tells of its card."""
    return {
        "BIN": card.number[:6],
        "IssuingBank": "SANDBOX BANK",
        "IssuerCountryCode": "FR",
        "Type": "CREDIT",
        "Brand": card.network,
        "SubType": None,
    }


ENDPOINTS = (
    WireEndpoint("GET", "/cards/fingerprints/{fingerprint}", list_of_fingerprint),
    WireEndpoint("GET", "/cards/fingerprints/{fingerprint}/transactions", transactions_of_fingerprint),
    WireEndpoint("GET", "/cards/{id}", read),
    WireEndpoint("PUT", "/cards/{id}", deactivate),
    WireEndpoint("GET", "/cards/{id}/transactions", transactions),
    WireEndpoint("POST", "/cards/{id}/validation", validate),
    WireEndpoint("GET", "/cards/{id}/validation/{validation}", read_validation),
    WireEndpoint("GET", "/users/{id}/cards", list_of_user),
)
