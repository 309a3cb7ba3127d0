"""The documents with which a platform contests a dispute. Their files are hashed and not stored."""

import sqlite3
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc import files
from coffret.sandbox.kyc.documents import DocumentStatus, NewPage
from coffret.sandbox.wire.bodies import Body, Tag
from coffret.sandbox.wire.endpoints import Empty, HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound
from coffret.sandbox.wire.paging import ListBuilder, several

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


class DocumentSubmission(Body):
    """The body of PUT /disputes/{id}/documents/{document}."""

    status: Literal["VALIDATION_ASKED"]
    tag: Tag | None = None


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /disputes/{id}/documents"""
    dispute = find_dispute(session, call.path["id"])
    body = call.json(NewDisputeDocument)
    if dispute["status"] not in AWAITING_PLATFORM:
        raise ParamError({"DisputeId": f"The dispute is {dispute['status']}: it takes no documents."})
    id = session.mint("dispdoc_m_")
    session.change(
        "INSERT INTO dispute_document (id, dispute_id, type, status, tag, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        dispute["id"],
        body.type,
        DocumentStatus.CREATED,
        body.tag,
        int(session.now),
    )
    events.emit(session, "DISPUTE_DOCUMENT_CREATED", id)
    return present(find(session, id))


def add_page(session: SandboxSession, call: HttpCall) -> Empty:
    """POST /disputes/{id}/documents/{document}/pages"""
    row = unsubmitted(session, call)
    received = files.receive(call.json(NewPage).file)
    session.change(
        "INSERT INTO dispute_page (document_id, media_type, size, sha256) VALUES (?, ?, ?, ?)",
        row["id"],
        received.media_type,
        received.size,
        received.sha256,
    )
    return Empty()


def submit(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /disputes/{id}/documents/{document}"""
    row, body = unsubmitted(session, call), call.json(DocumentSubmission)
    session.change(
        "UPDATE dispute_document SET status = ?, tag = coalesce(?, tag) WHERE id = ?",
        body.status,
        body.tag,
        row["id"],
    )
    events.emit(session, "DISPUTE_DOCUMENT_VALIDATION_ASKED", row["id"])
    return present(find(session, row["id"]))


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


def find(session: SandboxSession, id: str) -> sqlite3.Row:
    """The document's row. Raises ResourceNotFound."""
    return session.require_row("SELECT * FROM dispute_document WHERE id = ?", id)


def unsubmitted(session: SandboxSession, call: HttpCall) -> sqlite3.Row:
    """The document in the path, if it is of the dispute in the path and is not submitted.

    Raises ResourceNotFound, ParamError.
    """
    row = find(session, call.path["document"])
    if row["dispute_id"] != find_dispute(session, call.path["id"])["id"]:
        raise ResourceNotFound
    if row["status"] != DocumentStatus.CREATED:
        raise ParamError({"Status": f"The document is {row['status']} and can't be changed: create another one."})
    return row


def present(row: sqlite3.Row) -> Json:
    """A document in the provider's format."""
    return {
        "Id": row["id"],
        "Tag": row["tag"],
        "CreationDate": row["created_at"],
        "ProcessedDate": row["processed_at"],
        "DisputeId": row["dispute_id"],
        "Type": row["type"],
        "Status": row["status"],
        "RefusedReasonType": row["reason"],
        "RefusedReasonMessage": row["message"],
    }


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /dispute-documents/{id}"""
    return present(find(session, call.path["id"]))


def list_of_dispute(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /disputes/{id}/documents"""
    listing = filtered(call)
    listing.where("dispute_id = ?", find_dispute(session, call.path["id"])["id"])
    return listing.page(session, present)


def list_all(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /dispute-documents"""
    return filtered(call).page(session, present)


def filtered(call: HttpCall) -> ListBuilder:
    """Documents that match the caller's filters."""
    listing = ListBuilder(call, "dispute_document", "created_at")
    listing.among("status", several(call, "Status", tuple(DocumentStatus)))
    listing.among("type", several(call, "Type", tuple(EvidenceType)))
    return listing


ENDPOINTS = (
    WireEndpoint("POST", "/disputes/{id}/documents", create),
    WireEndpoint("GET", "/disputes/{id}/documents", list_of_dispute),
    WireEndpoint("PUT", "/disputes/{id}/documents/{document}", submit),
    WireEndpoint("POST", "/disputes/{id}/documents/{document}/pages", add_page),
    WireEndpoint("GET", "/dispute-documents", list_all),
    WireEndpoint("GET", "/dispute-documents/{id}", read),
)
