"""Hosted identity verification: a user proves its identity on the provider's page within seven days."""

import json
import re
import sqlite3
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from coffret.sandbox import events, switches
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc import checks, owners
from coffret.sandbox.kyc.checks import CheckFindings, CheckRefusalReason
from coffret.sandbox.kyc.owners import DeclaredOwner
from coffret.sandbox.users import levels, users
from coffret.sandbox.wire.bodies import Body, Tag, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ForbiddenResource, OutOfTurn, ParamError
from coffret.sandbox.wire.paging import ListBuilder, several

OPEN_FOR = 7 * 24 * 3600
"""Seconds until a session expires that nobody has submitted."""
REVIEWED_AFTER = 60
"""Duration in seconds of a review with a planned end: long enough to be seen, short enough to wait for."""


class VerificationStatus(StrEnum):
    PENDING = "PENDING"
    REVIEW = "REVIEW"
    VALIDATED = "VALIDATED"
    REFUSED = "REFUSED"
    EXPIRED = "EXPIRED"
    OUT_OF_DATE = "OUT_OF_DATE"


EVENTS = {
    VerificationStatus.PENDING: "PENDING",
    VerificationStatus.REVIEW: "INCONCLUSIVE",
    VerificationStatus.VALIDATED: "VALIDATED",
    VerificationStatus.REFUSED: "FAILED",
    VerificationStatus.EXPIRED: "EXPIRED",
    VerificationStatus.OUT_OF_DATE: "OUTDATED",
}


class VerificationOutcome(StrEnum):
    """A decision on a session."""

    VALIDATE = "validate"
    REFUSE = "refuse"
    REVIEW = "review"
    """A human review, until another outcome is decided."""
    REVIEW_VALIDATE = "review_validate"
    """A human review that validates after a minute."""
    REVIEW_REFUSE = "review_refuse"
    """A human review that refuses after a minute."""
    EXPIRE = "expire"
    """The session expires without a submission, as after seven days."""
    OUT_OF_DATE = "out_of_date"
    """The provider no longer accepts a validated session."""


FROM = {
    VerificationOutcome.VALIDATE: {VerificationStatus.PENDING, VerificationStatus.REVIEW},
    VerificationOutcome.REFUSE: {VerificationStatus.PENDING, VerificationStatus.REVIEW},
    VerificationOutcome.REVIEW: {VerificationStatus.PENDING},
    VerificationOutcome.REVIEW_VALIDATE: {VerificationStatus.PENDING},
    VerificationOutcome.REVIEW_REFUSE: {VerificationStatus.PENDING},
    VerificationOutcome.EXPIRE: {VerificationStatus.PENDING},
    VerificationOutcome.OUT_OF_DATE: {VerificationStatus.VALIDATED},
}
REVIEWS = {
    VerificationOutcome.REVIEW: None,
    VerificationOutcome.REVIEW_VALIDATE: VerificationOutcome.VALIDATE,
    VerificationOutcome.REVIEW_REFUSE: VerificationOutcome.REFUSE,
}


class VerificationDecision(BaseModel):
    """A decision on a session.

    A refusal requires a `reason` and may have a `comment`. `data` overrides the user's declared values, by the names of
    verified data. `owners` are those of a validated business, who prove their own identities next.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: VerificationOutcome
    reason: CheckRefusalReason | None = None
    comment: Annotated[str, Field(max_length=255)] = ""
    data: dict[str, Annotated[str, Field(min_length=1, max_length=255)]] = {}
    owners: Annotated[list[DeclaredOwner], Field(max_length=20)] = []

    @model_validator(mode="after")
    def complete(self) -> Self:
        """Refusals require a reason, and birth dates must be timestamps."""
        if self.outcome in {VerificationOutcome.REFUSE, VerificationOutcome.REVIEW_REFUSE} and self.reason is None:
            raise ValueError("a refusal needs a reason")
        for name, value in self.data.items():
            if name.endswith("BIRTHDATE") and not re.fullmatch("-?[0-9]{1,11}", value):
                raise ValueError(f"{name} is a number of seconds since 1970")
        if self.owners and self.outcome is not VerificationOutcome.VALIDATE:
            raise ValueError("owners are declared when a session is validated")
        return self


class NewVerification(Body):
    """The body of POST /users/{id}/identity-verifications."""

    return_url: Annotated[Url, Field(max_length=50)]
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/identity-verifications"""
    user = users.living(session, call.path["id"])
    body = call.json(NewVerification)
    if not switches.read(session).identity_verification:
        raise ForbiddenResource("The feature is not activated for this platform.")
    if user["UserCategory"] != "OWNER":
        raise ParamError({"UserId": "The user must be an OWNER to prove an identity."})
    if levels.kind(user) not in checks.CHECKS_BY_KIND:
        raise ParamError({"UserId": f"A {levels.kind(user)} can't prove its identity in a hosted session."})
    id = session.mint("idnver_")
    session.change(
        """INSERT INTO identity_verification (id, token, user_id, status, return_url, tag, created_at, updated_at, due_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        id,
        session.secret(),
        user["Id"],
        VerificationStatus.PENDING,
        body.return_url,
        body.tag,
        int(session.now),
        int(session.now),
        session.now + OPEN_FOR,
    )
    events.emit(session, f"IDENTITY_VERIFICATION_{EVENTS[VerificationStatus.PENDING]}", id)
    return describe(session, id)


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The session's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM identity_verification WHERE id = ?", id)


def of_token(session: SandboxSession, token: str) -> sqlite3.Row | None:
    """The session with a page token."""
    return session.row("SELECT * FROM identity_verification WHERE token = ?", token)


def present(session: SandboxSession, row: sqlite3.Row) -> Json:
    """A session in the provider's format."""
    return {
        **brief(row),
        "HostedUrl": f"{session.settings.root}/identity/{row['token']}",
        "ReturnUrl": row["return_url"],
        "Checks": json.loads(row["checks"]),
        "PSCs": owners.of_verification(session, row["id"]),
    }


def brief(row: sqlite3.Row) -> Json:
    """A session in the provider's list format: without its page's URL and its checks."""
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "LastUpdate": row["updated_at"],
        "Status": row["status"],
        "UserId": row["user_id"],
    }


def describe(session: SandboxSession, id: str) -> Json:
    return present(session, find(session, id))


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /identity-verifications/{id}"""
    return describe(session, call.path["id"])


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/identity-verifications"""
    listing = ListBuilder(call, "identity_verification", "created_at")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    listing.among("status", several(call, "Status", tuple(VerificationStatus)))
    return listing.page(session, brief)


def decide(session: SandboxSession, id: str, decision: VerificationDecision, at: float | None = None) -> Json:
    """Apply a decision to a session. Raises OutOfTurn if its status does not allow it, and changes nothing then."""
    row, moment = find(session, id), session.now if at is None else at
    if VerificationStatus(row["status"]) not in FROM[decision.outcome]:
        raise OutOfTurn(f"The session is {row['status']}: {decision.outcome} does not follow from that.")
    user = users.present(session, row["user_id"])
    if unknown := sorted(set(decision.data) - set(checks.data_of(user))):
        raise OutOfTurn(f"A check of this user does not verify {', '.join(unknown)}.")
    if decision.owners and levels.kind(user) not in owners.KINDS:
        raise OutOfTurn(f"A {levels.kind(user)} declares no owners.")
    if decision.outcome in REVIEWS:
        review(session, row, user, decision, moment)
    elif decision.outcome is VerificationOutcome.EXPIRE:
        move(session, row, VerificationStatus.EXPIRED, moment)
    elif decision.outcome is VerificationOutcome.OUT_OF_DATE:
        move(session, row, VerificationStatus.OUT_OF_DATE, moment)
        levels.downgrade_level(session, user["Id"], moment)
    else:
        conclude(session, row, user, decision, moment)
    return describe(session, id)


def review(session: SandboxSession, row: sqlite3.Row, user: Json, decision: VerificationDecision, at: float) -> None:
    """Start a human review. Raises OutOfTurn for natural users."""
    if user["PersonType"] == users.NATURAL:
        raise OutOfTurn("Only the sessions of legal users are reviewed.")
    found = CheckFindings(session, user, checks.verified_data(user, decision.data), at).checks_under_review()
    then = REVIEWS[decision.outcome]
    plan = decision.model_copy(update={"outcome": then}).model_dump_json() if then else None
    move(session, row, VerificationStatus.REVIEW, at, found, plan=plan, due_at=at + REVIEWED_AFTER if then else None)


def conclude(session: SandboxSession, row: sqlite3.Row, user: Json, decision: VerificationDecision, at: float) -> None:
    """Validate or refuse. Verified data replace the user's, and the user becomes REGULAR, a business with its owners."""
    data = checks.verified_data(user, decision.data)
    findings = CheckFindings(session, user, data, at, json.loads(row["checks"]))
    if decision.outcome is VerificationOutcome.VALIDATE:
        move(session, row, VerificationStatus.VALIDATED, at, findings.passed_checks())
        checks.overwrite(session, user, data)
        if decision.owners:
            owners.declare(session, row, decision.owners, at)
        levels.upgrade_level(session, user["Id"], at)
    elif decision.reason is not None:
        move(session, row, VerificationStatus.REFUSED, at, findings.failed_checks(decision.reason, decision.comment))


def move(
    session: SandboxSession,
    row: sqlite3.Row,
    status: VerificationStatus,
    at: float,
    reasons: list[Json] | None = None,
    *,
    plan: str | None = None,
    due_at: float | None = None,
) -> None:
    """Change a session's status and emit the event."""
    session.change(
        "UPDATE identity_verification SET status = ?, updated_at = ?, checks = coalesce(?, checks), plan = ?, due_at = ? WHERE id = ?",
        status,
        int(at),
        None if reasons is None else json.dumps(reasons),
        plan,
        due_at,
        row["id"],
    )
    events.emit(session, f"IDENTITY_VERIFICATION_{EVENTS[status]}", row["id"], at)


def settle_due(session: SandboxSession) -> None:
    """Expire sessions that were not submitted, and end reviews with a planned end."""
    for row in session.rows("SELECT * FROM identity_verification WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        plan = (
            VerificationDecision.model_validate_json(row["plan"])
            if row["plan"]
            else VerificationDecision(outcome=VerificationOutcome.EXPIRE)
        )
        decide(session, row["id"], plan, row["due_at"])


ENDPOINTS = (
    WireEndpoint("POST", "/users/{id}/identity-verifications", create),
    WireEndpoint("GET", "/users/{id}/identity-verifications", list_of_user),
    WireEndpoint("GET", "/identity-verifications/{id}", read),
)
