"""What documents of users and of disputes have in common: they are created, filled with pages, submitted and decided."""

import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc import files
from coffret.sandbox.wire.bodies import Body, Tag
from coffret.sandbox.wire.endpoints import Empty, HttpCall, Json, WirePage
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound
from coffret.sandbox.wire.paging import ListBuilder, several

MOST_PAGES = 5
READABLE_FOR = 30 * 60
"""Seconds that the addresses of a document's files are valid for."""


class DocumentStatus(StrEnum):
    CREATED = "CREATED"
    VALIDATION_ASKED = "VALIDATION_ASKED"
    VALIDATED = "VALIDATED"
    REFUSED = "REFUSED"
    OUT_OF_DATE = "OUT_OF_DATE"


class NewPage(Body):
    """The body of POST …/documents/{document}/pages."""

    file: str


class DocumentSubmission(Body):
    """The body of PUT …/documents/{document}."""

    status: Literal["VALIDATION_ASKED"]
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class EvidenceKind:
    """A kind of document: its tables, the column and the field of whom it belongs to, its events and ids."""

    table: str
    pages: str
    owner: str
    field: str
    event: str
    prefix: str
    types: tuple[str, ...]

    def add(self, session: SandboxSession, owner_id: str, type: str, tag: str | None) -> sqlite3.Row:
        """Create a document."""
        id = session.mint(self.prefix)
        session.change(
            f"INSERT INTO {self.table} (id, {self.owner}, type, status, tag, created_at) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own tables
            id,
            owner_id,
            type,
            DocumentStatus.CREATED,
            tag,
            int(session.now),
        )
        events.emit(session, f"{self.event}_CREATED", id)
        return self.find(session, id)

    def find(self, session: SandboxSession, id: str) -> sqlite3.Row:
        """The document's row. Raises ResourceNotFound."""
        return session.require_row(f"SELECT * FROM {self.table} WHERE id = ?", id)  # noqa: S608 - our own tables

    def of_owner(self, session: SandboxSession, call: HttpCall) -> sqlite3.Row:
        """The document in the path, if it belongs to the owner in the path. Raises ResourceNotFound."""
        row = self.find(session, call.path["document"])
        if row[self.owner] != call.path["id"]:
            raise ResourceNotFound
        return row

    def unsubmitted(self, session: SandboxSession, call: HttpCall) -> sqlite3.Row:
        """The document in the path, if it is not submitted. Raises ResourceNotFound and ParamError."""
        row = self.of_owner(session, call)
        if row["status"] != DocumentStatus.CREATED:
            raise ParamError({"Status": f"The document is {row['status']} and can't be changed: create another one."})
        return row

    def add_page(self, session: SandboxSession, row: sqlite3.Row, call: HttpCall) -> Empty:
        """Take a file. Its content is not kept."""
        received = files.receive(call.json(NewPage).file)
        if len(self.files(session, row["id"])) >= MOST_PAGES:
            raise ParamError({"File": f"A document has {MOST_PAGES} pages at most."})
        session.change(
            f"INSERT INTO {self.pages} (document_id, media_type, size, sha256) VALUES (?, ?, ?, ?)",  # noqa: S608 - our own tables
            row["id"],
            received.media_type,
            received.size,
            received.sha256,
        )
        return Empty()

    def files(self, session: SandboxSession, id: str) -> list[Json]:
        """The metadata of a document's files."""
        rows = session.rows(
            f"SELECT media_type, size, sha256 FROM {self.pages} WHERE document_id = ? ORDER BY seq",  # noqa: S608 - our own tables
            id,
        )
        return [dict(row) for row in rows]

    def consult(self, session: SandboxSession, call: HttpCall) -> WirePage:
        """Handles a POST that asks for the addresses of the document's files."""
        until = int(session.now) + READABLE_FOR
        found = [
            {"Url": f"{session.settings.root}/documents/{file['sha256']}", "ExpirationDate": until}
            for file in self.files(session, self.find(session, call.path["id"])["id"])
        ]
        return WirePage(found, len(found), 1, max(1, len(found)))

    def present(self, row: sqlite3.Row) -> Json:
        """A document in the provider's format."""
        return {
            "Id": row["id"],
            "Tag": row["tag"],
            "CreationDate": row["created_at"],
            "ProcessedDate": row["processed_at"],
            self.field: row[self.owner],
            "Type": row["type"],
            "Status": row["status"],
            "RefusedReasonType": row["reason"],
            "RefusedReasonMessage": row["message"],
        }

    def listing(self, call: HttpCall) -> ListBuilder:
        """Documents that match the caller's filters."""
        listing = ListBuilder(call, self.table, "created_at")
        listing.among("status", several(call, "Status", tuple(DocumentStatus)))
        listing.among("type", several(call, "Type", self.types))
        return listing


def description(sha256: str) -> str:
    """What is told of a file instead of its content."""
    return f"The sandbox keeps no files. This one had the SHA-256 hash {sha256}."
