"""Documents that prove something of a user: made, filled with pages, handed in, then validated or refused."""

import json
import sqlite3
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from coffret.sandbox import events, files, levels, users
from coffret.sandbox.database import Session
from coffret.sandbox.wire.bodies import Body, Tag
from coffret.sandbox.wire.endpoints import Call, Empty, Endpoint, Json, Page
from coffret.sandbox.wire.errors import OutOfTurn, ParamError, ResourceNotFound
from coffret.sandbox.wire.paging import Listing, several

MOST_PAGES = 5
VALIDATED_AFTER = 60
"""Seconds after which a document is good that nobody decided over: long enough to be seen waiting, short enough to wait."""


class Type(StrEnum):
    """What a document proves."""

    IDENTITY_PROOF = levels.IDENTITY
    REGISTRATION_PROOF = levels.REGISTRATION
    ARTICLES_OF_ASSOCIATION = levels.ARTICLES
    SHAREHOLDER_DECLARATION = levels.SHAREHOLDERS
    ADDRESS_PROOF = levels.ADDRESS


class Status(StrEnum):
    """Where a document stands."""

    CREATED = "CREATED"
    VALIDATION_ASKED = "VALIDATION_ASKED"
    VALIDATED = "VALIDATED"
    REFUSED = "REFUSED"
    OUT_OF_DATE = "OUT_OF_DATE"


class Reason(StrEnum):
    """Why a document is refused."""

    DOCUMENT_UNREADABLE = "DOCUMENT_UNREADABLE"
    DOCUMENT_NOT_ACCEPTED = "DOCUMENT_NOT_ACCEPTED"
    DOCUMENT_HAS_EXPIRED = "DOCUMENT_HAS_EXPIRED"
    DOCUMENT_INCOMPLETE = "DOCUMENT_INCOMPLETE"
    DOCUMENT_MISSING = "DOCUMENT_MISSING"
    DOCUMENT_DO_NOT_MATCH_USER_DATA = "DOCUMENT_DO_NOT_MATCH_USER_DATA"
    DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA = "DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA"
    DOCUMENT_FALSIFIED = "DOCUMENT_FALSIFIED"
    UNDERAGE_PERSON = "UNDERAGE_PERSON"
    SPECIFIC_CASE = "SPECIFIC_CASE"


class Outcome(StrEnum):
    """What happens to a document."""

    VALIDATE = "validate"
    REFUSE = "refuse"
    OUT_OF_DATE = "out_of_date"


class Decision(BaseModel):
    """What becomes of a document. A refusal has a `reason` and may have a `message`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Outcome
    reason: Reason | None = None
    message: Annotated[str, Field(max_length=255)] | None = None

    @model_validator(mode="after")
    def refusals_have_reasons(self) -> Self:
        """Without a reason nobody could do better the next time."""
        if self.outcome is Outcome.REFUSE and self.reason is None:
            raise ValueError("a refusal needs a reason")
        return self


ENDS = {
    Outcome.VALIDATE: (Status.VALIDATION_ASKED, Status.VALIDATED, "SUCCEEDED"),
    Outcome.REFUSE: (Status.VALIDATION_ASKED, Status.REFUSED, "FAILED"),
    Outcome.OUT_OF_DATE: (Status.VALIDATED, Status.OUT_OF_DATE, "OUTDATED"),
}
"""From where an outcome leads to where, and how its event ends."""
REFUSED_BY_TAG = {
    "refuse_unreadable": Reason.DOCUMENT_UNREADABLE,
    "refuse_not_accepted": Reason.DOCUMENT_NOT_ACCEPTED,
    "refuse_expired": Reason.DOCUMENT_HAS_EXPIRED,
    "refuse_incomplete": Reason.DOCUMENT_INCOMPLETE,
    "refuse_missing": Reason.DOCUMENT_MISSING,
    "refuse_no_user_data_match": Reason.DOCUMENT_DO_NOT_MATCH_USER_DATA,
    "refuse_falsified": Reason.DOCUMENT_FALSIFIED,
    "refuse_underage": Reason.UNDERAGE_PERSON,
    "refuse_specific_case": Reason.SPECIFIC_CASE,
}
BY_TAG = {"accept": Decision(outcome=Outcome.VALIDATE)} | {
    tag: Decision(outcome=Outcome.REFUSE, reason=reason) for tag, reason in REFUSED_BY_TAG.items()
}
"""The provider's own way to choose an outcome in its sandbox: right after the document was handed in."""
MESSAGES = {
    Reason.DOCUMENT_UNREADABLE: "The document can't be read.",
    Reason.DOCUMENT_NOT_ACCEPTED: "The document is of a kind that is not accepted.",
    Reason.DOCUMENT_HAS_EXPIRED: "The document has expired.",
    Reason.DOCUMENT_INCOMPLETE: "A part of the document is missing.",
    Reason.DOCUMENT_MISSING: "The file does not show a document.",
    Reason.DOCUMENT_DO_NOT_MATCH_USER_DATA: "The document says other things than the user.",
    Reason.DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA: "The document says other things than the account.",
    Reason.DOCUMENT_FALSIFIED: "The document seems to be forged.",
    Reason.UNDERAGE_PERSON: "The person is below eighteen years of age.",
    Reason.SPECIFIC_CASE: "A special case: ask the provider's support.",
}
FLAGS = {
    Reason.DOCUMENT_FALSIFIED: ["009000"],
    Reason.DOCUMENT_UNREADABLE: ["009004"],
    Reason.DOCUMENT_NOT_ACCEPTED: ["009019"],
    Reason.UNDERAGE_PERSON: ["009020"],
    Reason.DOCUMENT_HAS_EXPIRED: ["009021"],
}
"""Codes that say more of a refused identity proof; other documents have none."""


class NewDocument(Body):
    """The body of POST /users/{id}/kyc/documents."""

    type: Annotated[Type, Field(strict=False)]
    tag: Tag | None = None


class NewPage(Body):
    """The body of POST /users/{id}/kyc/documents/{document}/pages."""

    file: str


class Submission(Body):
    """The body of PUT /users/{id}/kyc/documents/{document}."""

    status: Literal["VALIDATION_ASKED"]
    tag: Tag | None = None


def create(session: Session, call: Call) -> Json:
    """POST /users/{id}/kyc/documents"""
    user = users.living(session, call.path["id"])
    body = call.json(NewDocument)
    if user["UserCategory"] != "OWNER":
        raise ParamError({"UserId": "The user must be an OWNER to hand documents in."})
    id = session.mint("kyc_")
    session.change(
        "INSERT INTO kyc_document (id, user_id, type, status, tag, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        user["Id"],
        body.type,
        Status.CREATED,
        body.tag,
        int(session.now),
    )
    events.emit(session, "KYC_CREATED", id)
    return present(find(session, id))


def add_page(session: Session, call: Call) -> Empty:
    """POST /users/{id}/kyc/documents/{document}/pages"""
    row = unfinished(session, call)
    received = files.receive(call.json(NewPage).file)
    if len(pages(session, row["id"])) >= MOST_PAGES:
        raise ParamError({"File": f"A document has {MOST_PAGES} pages at most."})
    session.change(
        "INSERT INTO kyc_page (document_id, media_type, size, sha256) VALUES (?, ?, ?, ?)",
        row["id"],
        received.media_type,
        received.size,
        received.sha256,
    )
    return Empty()


def submit(session: Session, call: Call) -> Json:
    """PUT /users/{id}/kyc/documents/{document}"""
    row = unfinished(session, call)
    body = call.json(Submission)
    if not pages(session, row["id"]):
        raise ParamError({"Status": "The document has no page yet."})
    tag = row["tag"] if body.tag is None else body.tag
    plan = BY_TAG.get(tag or "")
    session.change(
        "UPDATE kyc_document SET status = ?, tag = ?, plan = ?, due_at = ? WHERE id = ?",
        Status.VALIDATION_ASKED,
        tag,
        (plan or BY_TAG["accept"]).model_dump_json(),
        session.now if plan else session.now + VALIDATED_AFTER,
        row["id"],
    )
    events.emit(session, "KYC_VALIDATION_ASKED", row["id"])
    return present(find(session, row["id"]))


def unfinished(session: Session, call: Call) -> sqlite3.Row:
    """The document that a call names, of the user that it names, while it can still be changed."""
    row = find(session, call.path["document"])
    if row["user_id"] != users.living(session, call.path["id"])["Id"]:
        raise ResourceNotFound
    if row["status"] != Status.CREATED:
        raise ParamError({"Status": f"The document is {row['status']} and can't be changed: create another one."})
    return row


def find(session: Session, id: str) -> sqlite3.Row:
    """The document's row."""
    return session.found("SELECT * FROM kyc_document WHERE id = ?", id)


def pages(session: Session, id: str) -> list[Json]:
    """What is known of a document's files."""
    rows = session.rows("SELECT media_type, size, sha256 FROM kyc_page WHERE document_id = ? ORDER BY seq", id)
    return [dict(row) for row in rows]


def present(row: sqlite3.Row) -> Json:
    """A document as the provider shows it."""
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "ProcessedDate": row["processed_at"],
        "UserId": row["user_id"],
        "Type": row["type"],
        "Status": row["status"],
        "RefusedReasonType": row["reason"],
        "RefusedReasonMessage": row["message"],
        "Flags": json.loads(row["flags"]),
    }


def told(session: Session, id: str) -> Json:
    """A document with what is known of its files, for the control plane."""
    return {**present(find(session, id)), "Pages": pages(session, id)}


def read(session: Session, call: Call) -> Json:
    """GET /kyc/documents/{id}"""
    return present(find(session, call.path["id"]))


def list_of_user(session: Session, call: Call) -> Page:
    """GET /users/{id}/kyc/documents"""
    listing = narrowed(call)
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    return listing.page(session, present)


def list_all(session: Session, call: Call) -> Page:
    """GET /kyc/documents"""
    return narrowed(call).page(session, present)


def narrowed(call: Call) -> Listing:
    """Documents, narrowed by the caller's filters."""
    listing = Listing(call, "kyc_document", "created_at")
    listing.among("status", several(call, "Status", tuple(Status)))
    listing.among("type", several(call, "Type", tuple(Type)))
    return listing


def decide(session: Session, id: str, decision: Decision, at: float | None = None) -> Json:
    """Validate or refuse a document that was handed in, or let a good one go out of date. Anything else is out of turn."""
    row, moment = find(session, id), session.now if at is None else at
    before, after, ending = ENDS[decision.outcome]
    if row["status"] != before:
        raise OutOfTurn(f"The document is {row['status']}: {decision.outcome} does not follow from that.")
    reason = decision.reason if decision.outcome is Outcome.REFUSE else None
    flags = FLAGS.get(reason, []) if reason and row["type"] == Type.IDENTITY_PROOF else []
    session.change(
        """UPDATE kyc_document SET status = ?, processed_at = ?, reason = ?, message = ?, flags = ?, plan = NULL, due_at = NULL
           WHERE id = ?""",
        after,
        int(moment),
        reason,
        (decision.message or MESSAGES[reason]) if reason else None,
        json.dumps(flags),
        id,
    )
    events.emit(session, f"KYC_{ending}", id, moment)
    if decision.outcome is Outcome.VALIDATE:
        levels.gained(session, row["user_id"], moment)
    elif decision.outcome is Outcome.OUT_OF_DATE:
        levels.lost(session, row["user_id"], moment)
    return told(session, id)


def settle_due(session: Session) -> None:
    """Decide over documents whose time has come."""
    for row in session.rows("SELECT * FROM kyc_document WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        decide(session, row["id"], Decision.model_validate_json(row["plan"]), row["due_at"])


ENDPOINTS = (
    Endpoint("POST", "/users/{id}/kyc/documents", create),
    Endpoint("GET", "/users/{id}/kyc/documents", list_of_user),
    Endpoint("PUT", "/users/{id}/kyc/documents/{document}", submit),
    Endpoint("POST", "/users/{id}/kyc/documents/{document}/pages", add_page),
    Endpoint("GET", "/kyc/documents/{id}", read),
    Endpoint("GET", "/kyc/documents", list_all),
)
