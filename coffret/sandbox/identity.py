"""Hosted identity verification: sessions in which somebody proves an identity on the provider's page, within seven days."""

import json
import re
import sqlite3
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from coffret.sandbox import checks, events, levels, switches, users
from coffret.sandbox.checks import Findings, Reason
from coffret.sandbox.database import Session
from coffret.sandbox.wire.bodies import Body, Tag, Url
from coffret.sandbox.wire.endpoints import Call, Endpoint, Json, Page
from coffret.sandbox.wire.errors import ForbiddenResource, OutOfTurn, ParamError
from coffret.sandbox.wire.paging import Listing, several

OPEN_FOR = 7 * 24 * 3600
"""Seconds in which a session has to be handed in."""
REVIEWED_AFTER = 60
"""Seconds that a review takes whose end was chosen beforehand: long enough to be seen, short enough to be waited for."""


class Status(StrEnum):
    """Where a session stands."""

    PENDING = "PENDING"
    REVIEW = "REVIEW"
    VALIDATED = "VALIDATED"
    REFUSED = "REFUSED"
    EXPIRED = "EXPIRED"
    OUT_OF_DATE = "OUT_OF_DATE"


EVENTS = {
    Status.PENDING: "PENDING",
    Status.REVIEW: "INCONCLUSIVE",
    Status.VALIDATED: "VALIDATED",
    Status.REFUSED: "FAILED",
    Status.EXPIRED: "EXPIRED",
    Status.OUT_OF_DATE: "OUTDATED",
}


class Outcome(StrEnum):
    """What happens to a session."""

    VALIDATE = "validate"
    REFUSE = "refuse"
    REVIEW = "review"
    """A person has to look, until another outcome is told."""
    REVIEW_VALIDATE = "review_validate"
    """A person looks for a minute, and validates."""
    REVIEW_REFUSE = "review_refuse"
    """A person looks for a minute, and refuses."""
    EXPIRE = "expire"
    """Nobody handed it in, as if its seven days were over."""
    OUT_OF_DATE = "out_of_date"
    """It was good once, and the provider no longer trusts it."""


FROM = {
    Outcome.VALIDATE: {Status.PENDING, Status.REVIEW},
    Outcome.REFUSE: {Status.PENDING, Status.REVIEW},
    Outcome.REVIEW: {Status.PENDING},
    Outcome.REVIEW_VALIDATE: {Status.PENDING},
    Outcome.REVIEW_REFUSE: {Status.PENDING},
    Outcome.EXPIRE: {Status.PENDING},
    Outcome.OUT_OF_DATE: {Status.VALIDATED},
}
REVIEWS = {
    Outcome.REVIEW: None,
    Outcome.REVIEW_VALIDATE: Outcome.VALIDATE,
    Outcome.REVIEW_REFUSE: Outcome.REFUSE,
}


class Decision(BaseModel):
    """How a session goes on. A refusal has a `reason` and may have a `comment`; `data` is what the document says instead
    of what the user declared, by the names of verified data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Outcome
    reason: Reason | None = None
    comment: Annotated[str, Field(max_length=255)] = ""
    data: dict[str, Annotated[str, Field(min_length=1, max_length=255)]] = {}

    @model_validator(mode="after")
    def complete(self) -> Self:
        """Without a reason nobody could do better the next time; dates are timestamps here too."""
        if self.outcome in {Outcome.REFUSE, Outcome.REVIEW_REFUSE} and self.reason is None:
            raise ValueError("a refusal needs a reason")
        for name, value in self.data.items():
            if name.endswith("BIRTHDATE") and not re.fullmatch("-?[0-9]{1,11}", value):
                raise ValueError(f"{name} is a number of seconds since 1970")
        return self


class NewVerification(Body):
    """The body of POST /users/{id}/identity-verifications."""

    return_url: Annotated[Url, Field(max_length=50)]
    tag: Tag | None = None


def create(session: Session, call: Call) -> Json:
    """POST /users/{id}/identity-verifications"""
    user = users.living(session, call.path["id"])
    body = call.json(NewVerification)
    if not switches.read(session).identity_verification:
        raise ForbiddenResource("The feature is not activated for this platform.")
    if user["UserCategory"] != "OWNER":
        raise ParamError({"UserId": "The user must be an OWNER to prove an identity."})
    if levels.kind(user) not in checks.MADE:
        raise ParamError({"UserId": f"A {levels.kind(user)} can't prove its identity in a hosted session."})
    id = session.mint("idnver_")
    session.change(
        """INSERT INTO identity_verification (id, token, user_id, status, return_url, tag, created_at, updated_at, due_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        id,
        session.secret(),
        user["Id"],
        Status.PENDING,
        body.return_url,
        body.tag,
        int(session.now),
        int(session.now),
        session.now + OPEN_FOR,
    )
    events.emit(session, f"IDENTITY_VERIFICATION_{EVENTS[Status.PENDING]}", id)
    return told(session, id)


def find(session: Session, id: str) -> sqlite3.Row:
    """The session's row."""
    return session.found("SELECT * FROM identity_verification WHERE id = ?", id)


def of_token(session: Session, token: str) -> sqlite3.Row | None:
    """The session that a page's address leads to."""
    return session.row("SELECT * FROM identity_verification WHERE token = ?", token)


def present(session: Session, row: sqlite3.Row) -> Json:
    """A session as the provider shows it by its id."""
    return {
        **brief(row),
        "HostedUrl": f"{session.settings.root}/identity/{row['token']}",
        "ReturnUrl": row["return_url"],
        "Checks": json.loads(row["checks"]),
    }


def brief(row: sqlite3.Row) -> Json:
    """A session as it stands in a list, where its page's address and its checks are missing."""
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "LastUpdate": row["updated_at"],
        "Status": row["status"],
        "UserId": row["user_id"],
    }


def told(session: Session, id: str) -> Json:
    """A session by its id."""
    return present(session, find(session, id))


def read(session: Session, call: Call) -> Json:
    """GET /identity-verifications/{id}"""
    return told(session, call.path["id"])


def list_of_user(session: Session, call: Call) -> Page:
    """GET /users/{id}/identity-verifications"""
    listing = Listing(call, "identity_verification", "created_at")
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    listing.among("status", several(call, "Status", tuple(Status)))
    return listing.page(session, brief)


def decide(session: Session, id: str, decision: Decision, at: float | None = None) -> Json:
    """Let a session go on as decided. What does not follow from where it stands is refused and changes nothing."""
    row, moment = find(session, id), session.now if at is None else at
    if Status(row["status"]) not in FROM[decision.outcome]:
        raise OutOfTurn(f"The session is {row['status']}: {decision.outcome} does not follow from that.")
    user = users.present(session, row["user_id"])
    if unknown := sorted(set(decision.data) - set(checks.data_of(user))):
        raise OutOfTurn(f"A check of this user does not verify {', '.join(unknown)}.")
    if decision.outcome in REVIEWS:
        review(session, row, user, decision, moment)
    elif decision.outcome is Outcome.EXPIRE:
        move(session, row, Status.EXPIRED, moment)
    elif decision.outcome is Outcome.OUT_OF_DATE:
        move(session, row, Status.OUT_OF_DATE, moment)
        levels.lost(session, user["Id"], moment)
    else:
        conclude(session, row, user, decision, moment)
    return told(session, id)


def review(session: Session, row: sqlite3.Row, user: Json, decision: Decision, at: float) -> None:
    """Give a session to somebody who looks at it; nobody looks at those of natural users."""
    if user["PersonType"] == users.NATURAL:
        raise OutOfTurn("Only the sessions of legal users are reviewed.")
    found = Findings(session, user, checks.verified(user, decision.data), at).undecided()
    then = REVIEWS[decision.outcome]
    plan = decision.model_copy(update={"outcome": then}).model_dump_json() if then else None
    move(session, row, Status.REVIEW, at, found, plan=plan, due_at=at + REVIEWED_AFTER if then else None)


def conclude(session: Session, row: sqlite3.Row, user: Json, decision: Decision, at: float) -> None:
    """Validate or refuse: good data overwrite the user's, and the user becomes REGULAR."""
    data = checks.verified(user, decision.data)
    findings = Findings(session, user, data, at, json.loads(row["checks"]))
    if decision.outcome is Outcome.VALIDATE:
        move(session, row, Status.VALIDATED, at, findings.passed())
        checks.overwrite(session, user, data)
        levels.gained(session, user["Id"], at)
    elif decision.reason is not None:
        move(session, row, Status.REFUSED, at, findings.failed(decision.reason, decision.comment))


def move(
    session: Session,
    row: sqlite3.Row,
    status: Status,
    at: float,
    found: list[Json] | None = None,
    *,
    plan: str | None = None,
    due_at: float | None = None,
) -> None:
    """Write where a session stands now, and tell of it."""
    session.change(
        "UPDATE identity_verification SET status = ?, updated_at = ?, checks = coalesce(?, checks), plan = ?, due_at = ? WHERE id = ?",
        status,
        int(at),
        None if found is None else json.dumps(found),
        plan,
        due_at,
        row["id"],
    )
    events.emit(session, f"IDENTITY_VERIFICATION_{EVENTS[status]}", row["id"], at)


def settle_due(session: Session) -> None:
    """Expire sessions that nobody handed in, and end reviews whose end was chosen."""
    for row in session.rows("SELECT * FROM identity_verification WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        plan = Decision.model_validate_json(row["plan"]) if row["plan"] else Decision(outcome=Outcome.EXPIRE)
        decide(session, row["id"], plan, row["due_at"])


ENDPOINTS = (
    Endpoint("POST", "/users/{id}/identity-verifications", create),
    Endpoint("GET", "/users/{id}/identity-verifications", list_of_user),
    Endpoint("GET", "/identity-verifications/{id}", read),
)
