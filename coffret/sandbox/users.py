"""Natural and legal users, payers and owners: what is kept of them, how it changes, and how they are read."""

import json
import sqlite3
from typing import Any, Literal

from coffret.sandbox import events
from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Call, Endpoint, Json, Page
from coffret.sandbox.wire.errors import ForbiddenResource, ParamError, ResourceNotFound, UserClosed
from coffret.sandbox.wire.paging import Listing

NATURAL, LEGAL = "NATURAL", "LEGAL"
ACTIVE, PENDING, CLOSED = "ACTIVE", "PENDING_USER_ACTION", "CLOSED"
LEGAL_PROOFS = ("ProofOfRegistration", "ShareholderDeclaration", "Statute")
"""Left of how documents used to be shown; always null."""
BYPASS = "accept"
"""Whoever has this word in the e-mail never authenticates: the provider's own way around it in its sandbox."""

Status = Literal["ACTIVE", "PENDING_USER_ACTION", "CLOSED"]
Level = Literal["LIGHT", "REGULAR"]


def add(session: Session, id: str, person_type: str, name: str, written: dict[str, Any]) -> None:
    """Write a user under an id."""
    session.change(
        "INSERT INTO user (id, person_type, category, name, body) VALUES (?, ?, ?, ?, ?)",
        id,
        person_type,
        written["UserCategory"],
        name,
        json.dumps(written),
    )


def rewrite(session: Session, id: str, changes: Json, name: str | None = None) -> None:
    """Change fields of a user, and the name that pages show."""
    body = {key: value for key, value in present(session, id).items() if key not in {"Id", "PersonType"}} | changes
    session.change(
        "UPDATE user SET category = ?, name = coalesce(?, name), body = ? WHERE id = ?",
        body["UserCategory"],
        name,
        json.dumps(body),
        id,
    )


def find(session: Session, id: str, person_type: str | None = None) -> sqlite3.Row:
    """The user's row, if there is one of this person type."""
    row = session.row("SELECT * FROM user WHERE id = ?", id)
    if row is None or person_type not in {None, row["person_type"]}:
        raise ResourceNotFound
    return row


def present(session: Session, id: str, person_type: str | None = None) -> Json:
    """A user as the provider shows it, if there is one of this person type."""
    return shown(find(session, id, person_type))


def shown(row: sqlite3.Row) -> Json:
    """A user as the provider shows it."""
    more = dict.fromkeys(LEGAL_PROOFS) if row["person_type"] == LEGAL else {}
    return {"Id": row["id"], "PersonType": row["person_type"], **more, **json.loads(row["body"])}


def known(session: Session, field: str, id: str) -> str:
    """The name of a user that a body refers to. It must not be closed."""
    row = session.row("SELECT * FROM user WHERE id = ?", id)
    if row is None:
        raise ParamError({field: f"The value {id} is invalid: there is no such user."})
    if shown(row)["UserStatus"] == CLOSED:
        raise UserClosed
    return str(row["name"])


def name(session: Session, id: str) -> str:
    """How pages call a user."""
    return str(find(session, id)["name"])


def acting(session: Session, id: str) -> Json:
    """A user that does something: refused while it has to authenticate first, and for good once it is closed."""
    user = living(session, id)
    if user["UserStatus"] == PENDING:
        raise ForbiddenResource("The user has to authenticate first: UserStatus is PENDING_USER_ACTION.")
    return user


def living(session: Session, id: str, person_type: str | None = None) -> Json:
    """A user that is not closed."""
    user = present(session, id, person_type)
    if user["UserStatus"] == CLOSED:
        raise UserClosed
    return user


def email(user: Json) -> str:
    """The address of who acts for the user."""
    person = user["LegalRepresentative"] if user["PersonType"] == LEGAL else user
    return str(person["Email"] or user["Email"])


def authenticates(user: Json) -> bool:
    """Whether strong authentication is asked of this user: of owners, unless the e-mail goes around it."""
    return user["UserCategory"] == "OWNER" and BYPASS not in email(user)


def identify(session: Session, id: str, level: Level, at: float | None = None) -> bool:
    """Set how far a user is identified, and tell of it; answers whether that is news."""
    if present(session, id)["KYCLevel"] == level:
        return False
    rewrite(session, id, {"KYCLevel": level})
    events.emit(session, f"USER_KYC_{level}", id, at)
    return True


def read(session: Session, call: Call) -> Json:
    """GET /sca/users/{id} and GET /users/{id}"""
    return present(session, call.path["id"])


def read_natural(session: Session, call: Call) -> Json:
    """GET /sca/users/natural/{id}"""
    return present(session, call.path["id"], NATURAL)


def read_legal(session: Session, call: Call) -> Json:
    """GET /sca/users/legal/{id}"""
    return present(session, call.path["id"], LEGAL)


def list_users(session: Session, call: Call) -> Page:
    """GET /users"""
    return Listing(call, "user", "json_extract(body, '$.CreationDate')").page(session, shown)


ENDPOINTS = (
    Endpoint("GET", "/sca/users/natural/{id}", read_natural),
    Endpoint("GET", "/sca/users/legal/{id}", read_legal),
    Endpoint("GET", "/sca/users/{id}", read),
    Endpoint("GET", "/users", list_users),
    Endpoint("GET", "/users/natural/{id}", read_natural),
    Endpoint("GET", "/users/legal/{id}", read_legal),
    Endpoint("GET", "/users/{id}", read),
)
