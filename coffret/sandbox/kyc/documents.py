"""KYC documents of users: created, filled with pages, submitted, then validated or refused."""

import json
import sqlite3
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc.evidence import DocumentStatus, DocumentSubmission, EvidenceKind
from coffret.sandbox.users import levels, users
from coffret.sandbox.wire.bodies import Body, Tag
from coffret.sandbox.wire.endpoints import Empty, HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import OutOfTurn, ParamError

VALIDATED_AFTER = 60
"""Seconds until a document without a decision is validated: long enough to be seen pending, short enough to wait for.
"""


class Type(StrEnum):
    """What a document proves."""

    IDENTITY_PROOF = levels.IDENTITY
    REGISTRATION_PROOF = levels.REGISTRATION
    ARTICLES_OF_ASSOCIATION = levels.ARTICLES
    SHAREHOLDER_DECLARATION = levels.SHAREHOLDERS
    ADDRESS_PROOF = levels.ADDRESS


class DocumentRefusalReason(StrEnum):
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


class DocumentOutcome(StrEnum):
    VALIDATE = "validate"
    REFUSE = "refuse"
    OUT_OF_DATE = "out_of_date"


class DocumentDecision(BaseModel):
    """A decision on a document. A refusal requires a `reason` and may have a `message`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: DocumentOutcome
    reason: DocumentRefusalReason | None = None
    message: Annotated[str, Field(max_length=255)] | None = None

    @model_validator(mode="after")
    def refusals_have_reasons(self) -> Self:
        """A refusal without a reason would not tell the user what to correct."""
        if self.outcome is DocumentOutcome.REFUSE and self.reason is None:
            raise ValueError("a refusal needs a reason")
        return self


ENDS = {
    DocumentOutcome.VALIDATE: (DocumentStatus.VALIDATION_ASKED, DocumentStatus.VALIDATED, "SUCCEEDED"),
    DocumentOutcome.REFUSE: (DocumentStatus.VALIDATION_ASKED, DocumentStatus.REFUSED, "FAILED"),
    DocumentOutcome.OUT_OF_DATE: (DocumentStatus.VALIDATED, DocumentStatus.OUT_OF_DATE, "OUTDATED"),
}
"""Per outcome: the required status, the new status and the suffix of the event."""
REFUSED_BY_TAG = {
    "refuse_unreadable": DocumentRefusalReason.DOCUMENT_UNREADABLE,
    "refuse_not_accepted": DocumentRefusalReason.DOCUMENT_NOT_ACCEPTED,
    "refuse_expired": DocumentRefusalReason.DOCUMENT_HAS_EXPIRED,
    "refuse_incomplete": DocumentRefusalReason.DOCUMENT_INCOMPLETE,
    "refuse_missing": DocumentRefusalReason.DOCUMENT_MISSING,
    "refuse_no_user_data_match": DocumentRefusalReason.DOCUMENT_DO_NOT_MATCH_USER_DATA,
    "refuse_falsified": DocumentRefusalReason.DOCUMENT_FALSIFIED,
    "refuse_underage": DocumentRefusalReason.UNDERAGE_PERSON,
    "refuse_specific_case": DocumentRefusalReason.SPECIFIC_CASE,
}
BY_TAG = {"accept": DocumentDecision(outcome=DocumentOutcome.VALIDATE)} | {
    tag: DocumentDecision(outcome=DocumentOutcome.REFUSE, reason=reason) for tag, reason in REFUSED_BY_TAG.items()
}
"""The provider's own sandbox convention: the tag selects an outcome, immediately after submission."""
MESSAGES = {
    DocumentRefusalReason.DOCUMENT_UNREADABLE: "The document can't be read.",
    DocumentRefusalReason.DOCUMENT_NOT_ACCEPTED: "The document is of a kind that is not accepted.",
    DocumentRefusalReason.DOCUMENT_HAS_EXPIRED: "The document has expired.",
    DocumentRefusalReason.DOCUMENT_INCOMPLETE: "A part of the document is missing.",
    DocumentRefusalReason.DOCUMENT_MISSING: "The file does not show a document.",
    DocumentRefusalReason.DOCUMENT_DO_NOT_MATCH_USER_DATA: "The document says other things than the user.",
    DocumentRefusalReason.DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA: "The document says other things than the account.",
    DocumentRefusalReason.DOCUMENT_FALSIFIED: "The document seems to be forged.",
    DocumentRefusalReason.UNDERAGE_PERSON: "The person is below eighteen years of age.",
    DocumentRefusalReason.SPECIFIC_CASE: "A special case: ask the provider's support.",
}
FLAGS = {
    DocumentRefusalReason.DOCUMENT_FALSIFIED: ["009000"],
    DocumentRefusalReason.DOCUMENT_UNREADABLE: ["009004"],
    DocumentRefusalReason.DOCUMENT_NOT_ACCEPTED: ["009019"],
    DocumentRefusalReason.UNDERAGE_PERSON: ["009020"],
    DocumentRefusalReason.DOCUMENT_HAS_EXPIRED: ["009021"],
}
"""Codes with details of a refused identity proof. Other documents have none."""


class NewDocument(Body):
    """The body of POST /users/{id}/kyc/documents."""

    type: Annotated[Type, Field(strict=False)]
    tag: Tag | None = None


KIND = EvidenceKind("kyc_document", "kyc_page", "user_id", "UserId", "KYC", "kyc_", tuple(Type))


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/{id}/kyc/documents"""
    user = users.living(session, call.path["id"])
    body = call.json(NewDocument)
    if user["UserCategory"] != "OWNER":
        raise ParamError({"UserId": "The user must be an OWNER to hand documents in."})
    return present(KIND.add(session, user["Id"], body.type, body.tag))


def add_page(session: SandboxSession, call: HttpCall) -> Empty:
    """POST /users/{id}/kyc/documents/{document}/pages"""
    return KIND.add_page(session, unsubmitted_document(session, call), call)


def submit(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /users/{id}/kyc/documents/{document}"""
    row = unsubmitted_document(session, call)
    body = call.json(DocumentSubmission)
    if not KIND.files(session, row["id"]):
        raise ParamError({"Status": "The document has no page yet."})
    tag = row["tag"] if body.tag is None else body.tag
    plan = BY_TAG.get(tag or "")
    session.change(
        "UPDATE kyc_document SET status = ?, tag = ?, plan = ?, due_at = ? WHERE id = ?",
        DocumentStatus.VALIDATION_ASKED,
        tag,
        (plan or BY_TAG["accept"]).model_dump_json(),
        session.now if plan else session.now + VALIDATED_AFTER,
        row["id"],
    )
    events.emit(session, "KYC_VALIDATION_ASKED", row["id"])
    return present(KIND.find(session, row["id"]))


def unsubmitted_document(session: SandboxSession, call: HttpCall) -> sqlite3.Row:
    """The document in the path, if it can be changed. Raises ResourceNotFound, ParamError and UserClosed."""
    users.living(session, call.path["id"])
    return KIND.unsubmitted(session, call)


def present(row: sqlite3.Row) -> Json:
    """A document in the provider's format."""
    return {**KIND.present(row), "Flags": json.loads(row["flags"])}


def describe(session: SandboxSession, id: str) -> Json:
    """A document with the metadata of its files, for the control plane."""
    return {**present(KIND.find(session, id)), "Pages": KIND.files(session, id)}


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /kyc/documents/{id}"""
    return present(KIND.find(session, call.path["id"]))


def read_of_user(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}/kyc/documents/{document}"""
    return present(KIND.of_owner(session, call))


def list_of_user(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /users/{id}/kyc/documents"""
    listing = KIND.listing(call)
    listing.where("user_id = ?", users.find(session, call.path["id"])["id"])
    return listing.page(session, present)


def list_all(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /kyc/documents"""
    return KIND.listing(call).page(session, present)


def decide(session: SandboxSession, id: str, decision: DocumentDecision, at: float | None = None) -> Json:
    """Validate or refuse a submitted document, or outdate a validated one. Raises OutOfTurn for any other status."""
    row, moment = KIND.find(session, id), session.now if at is None else at
    before, after, ending = ENDS[decision.outcome]
    if row["status"] != before:
        raise OutOfTurn(f"The document is {row['status']}: {decision.outcome} does not follow from that.")
    reason = decision.reason if decision.outcome is DocumentOutcome.REFUSE else None
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
    if decision.outcome is DocumentOutcome.VALIDATE:
        levels.upgrade_level(session, row["user_id"], moment)
    elif decision.outcome is DocumentOutcome.OUT_OF_DATE:
        levels.downgrade_level(session, row["user_id"], moment)
    return describe(session, id)


def settle_due(session: SandboxSession) -> None:
    """Decide documents that are due."""
    for row in session.rows("SELECT * FROM kyc_document WHERE due_at <= ? ORDER BY due_at, seq", session.now):
        decide(session, row["id"], DocumentDecision.model_validate_json(row["plan"]), row["due_at"])


ENDPOINTS = (
    WireEndpoint("POST", "/users/{id}/kyc/documents", create),
    WireEndpoint("GET", "/users/{id}/kyc/documents", list_of_user),
    WireEndpoint("GET", "/users/{id}/kyc/documents/{document}", read_of_user),
    WireEndpoint("PUT", "/users/{id}/kyc/documents/{document}", submit),
    WireEndpoint("POST", "/users/{id}/kyc/documents/{document}/pages", add_page),
    WireEndpoint("GET", "/kyc/documents/{id}", read),
    WireEndpoint("POST", "/kyc/documents/{id}/consult", KIND.consult),
    WireEndpoint("GET", "/kyc/documents", list_all),
)
