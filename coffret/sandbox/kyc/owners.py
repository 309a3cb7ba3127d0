"""The sessions of a business's owners and representatives: each proves their identity on a page of their own."""

import sqlite3
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import levels, users
from coffret.sandbox.wire.bodies import Body, Email, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import OutOfTurn, ParamError, ResourceNotFound
from coffret.sandbox.wire.paging import ListBuilder

OPEN_FOR = 7 * 24 * 3600
"""Seconds until a session is rejected that its person has not submitted."""
KINDS = ("BUSINESS", "ORGANIZATION", "PARTNERSHIP")
"""The legal persons whose owners prove their identity one by one."""


class OwnerStatus(StrEnum):
    PENDING_VALIDATION = "PENDING_VALIDATION"
    VALIDATED = "VALIDATED"
    REJECTED = "REJECTED"
    ABANDONED = "ABANDONED"


EVENTS = {status: f"IDENTITY_VERIFICATION_PSC_{status.removesuffix('_VALIDATION')}" for status in OwnerStatus}


class DeclaredOwner(BaseModel):
    """An owner that the business declares."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    first_name: Annotated[str, Field(min_length=1, max_length=100)]
    last_name: Annotated[str, Field(min_length=1, max_length=100)]
    email: Annotated[str, Field(max_length=255)] = ""


class OwnerDecision(BaseModel):
    """How an owner's session ends: done by the person, or withdrawn by the provider (`abandon`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Literal["validate", "reject", "abandon"]


ENDS = {
    "validate": OwnerStatus.VALIDATED,
    "reject": OwnerStatus.REJECTED,
    "abandon": OwnerStatus.ABANDONED,
}


class Retry(Body):
    """The body of PUT /identity-verifications/{id}/pscs/{psc}/retry. Omitted fields are unchanged."""

    first_name: Text | None = None
    last_name: Text | None = None
    email: Email | None = None
    date_of_birth: Text | None = None


def declare(session: SandboxSession, verification: sqlite3.Row, owners: Sequence[DeclaredOwner], at: float) -> None:
    """Open a session for each owner of a validated business."""
    for owner in owners:
        id = session.mint("psc_")
        session.change(
            """INSERT INTO owner_session (id, verification_id, user_id, token, first_name, last_name, email, status,
                                          created_at, updated_at, due_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            id,
            verification["id"],
            verification["user_id"],
            session.secret(),
            owner.first_name,
            owner.last_name,
            owner.email or None,
            OwnerStatus.PENDING_VALIDATION,
            int(at),
            int(at),
            at + OPEN_FOR,
        )
        events.emit(session, EVENTS[OwnerStatus.PENDING_VALIDATION], id, at)
    events.emit(session, "IDENTITY_VERIFICATION_PENDING_PSC_ACTION", verification["id"], at)


def of_verification(session: SandboxSession, verification_id: str) -> list[Json]:
    """The owners' sessions of a business's session, in the provider's format."""
    rows = session.rows("SELECT * FROM owner_session WHERE verification_id = ? ORDER BY seq", verification_id)
    return [present(session, row) for row in rows]


def of_token(session: SandboxSession, token: str) -> sqlite3.Row | None:
    """The session with a page token."""
    return session.row("SELECT * FROM owner_session WHERE token = ?", token)


def decide(session: SandboxSession, id: str, decision: OwnerDecision, at: float | None = None) -> Json:
    """End a pending session. The business becomes REGULAR with its last owner. Raises OutOfTurn for any other one."""
    row, moment = find(session, id), session.now if at is None else at
    if row["status"] != OwnerStatus.PENDING_VALIDATION:
        raise OutOfTurn(f"The session is {row['status']}: {decision.outcome} does not follow from that.")
    move(session, id, ENDS[decision.outcome], moment, due_at=None)
    if decision.outcome != "reject":
        levels.upgrade_level(session, row["user_id"], moment)
    return present(session, find(session, id))


def move(session: SandboxSession, id: str, status: OwnerStatus, at: float, *, due_at: float | None) -> None:
    """Change a session's status and emit the event."""
    session.change(
        """UPDATE owner_session SET status = ?, updated_at = ?, due_at = ?,
                  validated_at = CASE WHEN ? THEN ? END WHERE id = ?""",
        status,
        int(at),
        due_at,
        status is OwnerStatus.VALIDATED,
        int(at),
        id,
    )
    events.emit(session, EVENTS[status], id, at)


def retry(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /identity-verifications/{id}/pscs/{psc}/retry: a pending session keeps its page"""
    session.require_row("SELECT id FROM identity_verification WHERE id = ?", call.path["id"])
    row, body = find(session, call.path["psc"]), call.json(Retry)
    if row["verification_id"] != call.path["id"]:
        raise ResourceNotFound
    if row["status"] == OwnerStatus.ABANDONED:
        raise ParamError({"PscId": "The PSC is ABANDONED and can't be retried."})
    session.change(
        """UPDATE owner_session SET first_name = coalesce(?, first_name), last_name = coalesce(?, last_name),
                  email = coalesce(?, email), birth = coalesce(?, birth) WHERE id = ?""",
        body.first_name,
        body.last_name,
        body.email,
        body.date_of_birth,
        row["id"],
    )
    if row["status"] != OwnerStatus.PENDING_VALIDATION:
        session.change("UPDATE owner_session SET token = ? WHERE id = ?", session.secret(), row["id"])
        move(session, row["id"], OwnerStatus.PENDING_VALIDATION, session.now, due_at=session.now + OPEN_FOR)
    return present(session, find(session, row["id"]))


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The session's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM owner_session WHERE id = ?", id)


def describe(session: SandboxSession, id: str) -> Json:
    return present(session, find(session, id))


def present(session: SandboxSession, row: sqlite3.Row) -> Json:
    """A session in the provider's format. Only a pending one has a page."""
    pending = row["status"] == OwnerStatus.PENDING_VALIDATION
    return {
        "Id": row["id"],
        "FirstName": row["first_name"],
        "LastName": row["last_name"],
        "Email": row["email"],
        "DateOfBirth": row["birth"],
        "PscType": "UBO",
        "Status": row["status"],
        "CreationDate": row["created_at"],
        "LastUpdate": row["updated_at"],
        "ValidationDate": row["validated_at"],
        "HostedUrl": f"{session.settings.root}/identity/{row['token']}" if pending else None,
        "MainSessionId": row["verification_id"],
        "Data": [],
    }


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/pscs"""
    listing = ListBuilder(call, "owner_session", "created_at")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    return listing.page(session, lambda row: present(session, row))


def settle_due(session: SandboxSession) -> None:
    """Reject the sessions that were not submitted in time."""
    for row in session.rows("SELECT * FROM owner_session WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        decide(session, row["id"], OwnerDecision(outcome="reject"), row["due_at"])


ENDPOINTS = (
    WireEndpoint("PUT", "/identity-verifications/{id}/pscs/{psc}/retry", retry),
    WireEndpoint("GET", "/users/{id}/pscs", list_of_user),
)
