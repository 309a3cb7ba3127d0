"""Natural and legal users, payers and owners: storage, changes and reading."""

import json
import sqlite3
from typing import Any, Literal

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError, ResourceNotFound, UserClosed

NATURAL, LEGAL = "NATURAL", "LEGAL"
ACTIVE, PENDING, CLOSED = "ACTIVE", "PENDING_USER_ACTION", "CLOSED"
LEGAL_PROOFS = ("ProofOfRegistration", "ShareholderDeclaration", "Statute")
"""Fields from an earlier format of documents; always null."""
BYPASS = "accept"
"""An owner whose e-mail address contains this word never authenticates: the provider's own sandbox convention."""

Status = Literal["ACTIVE", "PENDING_USER_ACTION", "CLOSED"]
Level = Literal["LIGHT", "REGULAR"]


def add(session: SandboxSession, id: str, person_type: str, name: str, written: dict[str, Any]) -> None:
    session.change(
        "INSERT INTO user (id, person_type, category, name, body) VALUES (?, ?, ?, ?, ?)",
        id,
        person_type,
        written["UserCategory"],
        name,
        json.dumps(written),
    )


def rewrite(session: SandboxSession, id: str, changes: Json, name: str | None = None) -> None:
    """Change fields of a user, and its display name."""
    body = json.loads(find(session, id)["body"]) | changes
    session.change(
        "UPDATE user SET category = ?, name = coalesce(?, name), body = ? WHERE id = ?",
        body["UserCategory"],
        name,
        json.dumps(body),
        id,
    )


def find(session: SandboxSession, id: str, person_type: str | None = None) -> sqlite3.Row:
    """The user's row. Raises ResourceNotFound, also for another person type."""
    row = session.row("SELECT * FROM user WHERE id = ?", id)
    if row is None or person_type not in {None, row["person_type"]}:
        raise ResourceNotFound
    return row


def present(session: SandboxSession, id: str, person_type: str | None = None) -> Json:
    """A user in the provider's format. Raises ResourceNotFound, also for another person type."""
    return present_row(find(session, id, person_type))


def present_row(row: sqlite3.Row) -> Json:
    more = dict.fromkeys(LEGAL_PROOFS) if row["person_type"] == LEGAL else {}
    return {"Id": row["id"], "PersonType": row["person_type"], **more, **json.loads(row["body"])}


def require_user_name(session: SandboxSession, field: str, id: str) -> str:
    """The name of a user that a body refers to. Raises ParamError if it does not exist, UserClosed if it is closed."""
    row = session.row("SELECT * FROM user WHERE id = ?", id)
    if row is None:
        raise ParamError({field: f"The value {id} is invalid: there is no such user."})
    if present_row(row)["UserStatus"] == CLOSED:
        raise UserClosed
    return str(row["name"])


def name(session: SandboxSession, id: str) -> str:
    """The display name of a user."""
    return str(find(session, id)["name"])


def acting(session: SandboxSession, id: str) -> Json:
    """A user that may act. Raises ForbiddenResource while it must authenticate, and UserClosed once it is closed."""
    user = living(session, id)
    if user["UserStatus"] == PENDING:
        raise ForbiddenResource("The user has to authenticate first: UserStatus is PENDING_USER_ACTION.")
    return user


def living(session: SandboxSession, id: str, person_type: str | None = None) -> Json:
    """A user that is not closed. Raises UserClosed."""
    user = present(session, id, person_type)
    if user["UserStatus"] == CLOSED:
        raise UserClosed
    return user


def email(user: Json) -> str:
    """The e-mail address of the person who acts for the user."""
    person = user["LegalRepresentative"] if user["PersonType"] == LEGAL else user
    return str(person["Email"] or user["Email"])


def authenticates(session: SandboxSession, user: Json) -> bool:
    """True if this user must authenticate: an owner that is not exempt, neither by itself nor by its e-mail address."""
    return user["UserCategory"] == "OWNER" and not bypasses(user) and not is_exempt(session, user["Id"])


def bypasses(user: Json) -> bool:
    """True if the user's e-mail address passes every authentication by."""
    return BYPASS in email(user)


def exempt(session: SandboxSession, id: str) -> None:
    """Exempt a user from authentication: one that was created by the calls from before it."""
    session.change("INSERT INTO exemption VALUES (?) ON CONFLICT DO NOTHING", id)


def is_exempt(session: SandboxSession, id: str) -> bool:
    """True until the user has enrolled."""
    return session.row("SELECT 1 FROM exemption WHERE user_id = ?", id) is not None


def end_exemption(session: SandboxSession, id: str) -> None:
    """End a user's exemption."""
    session.change("DELETE FROM exemption WHERE user_id = ?", id)


def identify(session: SandboxSession, id: str, level: Level, at: float | None = None) -> bool:
    """Set a user's KYC level and emit the event. Returns False if it is unchanged."""
    if present(session, id)["KYCLevel"] == level:
        return False
    rewrite(session, id, {"KYCLevel": level})
    events.emit(session, f"USER_KYC_{level}", id, at)
    return True


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /sca/users/{id}"""
    return present(session, call.path["id"])


def read_natural(session: SandboxSession, call: HttpCall) -> Json:
    """GET /sca/users/natural/{id}"""
    return present(session, call.path["id"], NATURAL)


def read_legal(session: SandboxSession, call: HttpCall) -> Json:
    """GET /sca/users/legal/{id}"""
    return present(session, call.path["id"], LEGAL)


ENDPOINTS = (
    WireEndpoint("GET", "/sca/users/natural/{id}", read_natural),
    WireEndpoint("GET", "/sca/users/legal/{id}", read_legal),
    WireEndpoint("GET", "/sca/users/{id}", read),
)
