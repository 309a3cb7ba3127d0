"""The documents with which a platform contests a dispute. Their files are hashed and not stored."""

import sqlite3
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc.evidence import DocumentStatus, DocumentSubmission, EvidenceKind
from coffret.sandbox.wire.bodies import Body, Tag
from coffret.sandbox.wire.endpoints import Empty, HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError

AWAITING_PLATFORM = ("PENDING_CLIENT_ACTION", "REOPENED_PENDING_CLIENT_ACTION")
"""The statuses of a dispute in which documents are taken."""


class EvidenceType(StrEnum):
    """What a document shows. The spelling is the provider's."""

    DELIVERY_PROOF = "DELIVERY_PROOF"
    INVOICE = "INVOICE"
    REFUND_PROOF = "REFUND_PROOF"
    USER_CORRESPONDANCE = "USER_CORRESPONDANCE"
    USER_ACCEPTANCE_PROOF = "USER_ACCEPTANCE_PROOF"
    PRODUCT_REPLACEMENT_PROOF = "PRODUCT_REPLACEMENT_PROOF"
    OTHER = "OTHER"


class NewDisputeDocument(Body):
    """The body of POST /disputes/{id}/documents."""

    type: Annotated[EvidenceType, Field(strict=False)]
    tag: Tag | None = None


KIND = EvidenceKind(
    "dispute_document",
    "dispute_page",
    "dispute_id",
    "DisputeId",
    "DISPUTE_DOCUMENT",
    "dispdoc_m_",
    tuple(EvidenceType),
)


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /disputes/{id}/documents"""
    dispute = find_dispute(session, call.path["id"])
    body = call.json(NewDisputeDocument)
    if dispute["status"] not in AWAITING_PLATFORM:
        raise ParamError({"DisputeId": f"The dispute is {dispute['status']}: it takes no documents."})
    return KIND.present(KIND.add(session, dispute["id"], body.type, body.tag))


def add_page(session: SandboxSession, call: HttpCall) -> Empty:
    """POST /disputes/{id}/documents/{document}/pages"""
    return KIND.add_page(session, KIND.unsubmitted(session, call), call)


def submit(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /disputes/{id}/documents/{document}"""
    row, body = KIND.unsubmitted(session, call), call.json(DocumentSubmission)
    session.change(
        "UPDATE dispute_document SET status = ?, tag = coalesce(?, tag) WHERE id = ?",
        body.status,
        body.tag,
        row["id"],
    )
    events.emit(session, "DISPUTE_DOCUMENT_VALIDATION_ASKED", row["id"])
    return KIND.present(KIND.find(session, row["id"]))


def decide(session: SandboxSession, dispute_id: str, *, accepted: bool, message: str, at: float) -> None:
    """The provider's decision on all submitted documents of a dispute."""
    rows = session.rows(
        "SELECT id FROM dispute_document WHERE dispute_id = ? AND status = ? ORDER BY seq",
        dispute_id,
        DocumentStatus.VALIDATION_ASKED,
    )
    for row in rows:
        session.change(
            "UPDATE dispute_document SET status = ?, reason = ?, message = ?, processed_at = ? WHERE id = ?",
            DocumentStatus.VALIDATED if accepted else DocumentStatus.REFUSED,
            None if accepted else "DOCUMENT_NOT_ACCEPTED",
            None if accepted else message,
            int(at),
            row["id"],
        )
        events.emit(session, f"DISPUTE_DOCUMENT_{'SUCCEEDED' if accepted else 'FAILED'}", row["id"], at)


def find_dispute(session: SandboxSession, id: str) -> sqlite3.Row:
    """The dispute's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM dispute WHERE id = ?", id)


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /dispute-documents/{id}"""
    return KIND.present(KIND.find(session, call.path["id"]))


def list_of_dispute(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /disputes/{id}/documents"""
    listing = KIND.listing(call)
    listing.where("dispute_id = ?", find_dispute(session, call.path["id"])["id"])
    return listing.page(session, KIND.present)


def list_all(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /dispute-documents"""
    return KIND.listing(call).page(session, KIND.present)


ENDPOINTS = (
    WireEndpoint("POST", "/disputes/{id}/documents", create),
    WireEndpoint("GET", "/disputes/{id}/documents", list_of_dispute),
    WireEndpoint("PUT", "/disputes/{id}/documents/{document}", submit),
    WireEndpoint("POST", "/disputes/{id}/documents/{document}/pages", add_page),
    WireEndpoint("GET", "/dispute-documents", list_all),
    WireEndpoint("GET", "/dispute-documents/{id}", read),
    WireEndpoint("POST", "/dispute-documents/{id}/consult", KIND.consult),
)
