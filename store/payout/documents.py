"""The table of the documents of payout requests: whether they are made, and how far the worker is with large ones."""

import datetime as dt
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column, enum_column
from schema.payment.payout import PayoutDocumentState
from store.core.provider_process import CheckedRow
from store.payout.requests import PayoutRequestRow


class PayoutDocumentKind(StrEnum):
    """The documents of a payout request, by the ends of their names."""

    PDF = "pdf"
    """The statement."""
    XLSX = "xlsx"
    """The spreadsheet."""


PENDING, READY, FAILED = PayoutDocumentState.PENDING, PayoutDocumentState.READY, PayoutDocumentState.FAILED


class PayoutDocumentRow(CheckedRow, table=True):
    """A document of a payout request that somebody has asked for. While it is pending, `check_on` is when a worker may take
    it: at once, or when the hold of the one that has it is over.
    """

    __tablename__ = "payout_document"
    __table_args__ = (
        UniqueConstraint("payout_request_id", "kind"),
        Index("payout_document_due_idx", "check_on", postgresql_where=text("check_on IS NOT NULL")),
        CheckConstraint("(state = 'pending') = (check_on IS NOT NULL)", name="is_worked_on"),
        CheckConstraint("(state = 'failed') = (failed_on IS NOT NULL)", name="has_failed"),
        CheckConstraint("lines_done BETWEEN 0 AND lines", name="progress"),
    )
    id: int = Field(default=None, primary_key=True)
    payout_request_id: int = Field(foreign_key="payout_request.id")
    kind: PayoutDocumentKind = enum_column(PayoutDocumentKind, "Which of its documents.", length=10)
    state: PayoutDocumentState = enum_column(PayoutDocumentState, "Whether it is made.", default=PENDING, length=10)
    lines: int = 0
    lines_done: int = 0
    digest: str = Field(default="", max_length=64)
    """Of the content that is being made, or was; empty before the first, and of what is made within a request."""
    maker: UUID | None = None
    """The worker that makes it; another value means that another one has taken over."""
    tries: int = 0
    """How many workers have begun since it was asked for."""
    failed_on: dt.datetime | None = datetime_column("When the last try failed for good.", default=None, nullable=True)

    def ask(self, lines: int, now: dt.datetime) -> None:
        """Have the worker make it, again if it was made before."""
        self.state, self.check_on, self.failed_on = PENDING, now, None
        self.lines, self.lines_done, self.tries, self.maker = lines, 0, 0, None

    def end(self, state: PayoutDocumentState, now: dt.datetime) -> None:
        """Nobody works on it any more."""
        self.state, self.check_on, self.maker = state, None, None
        self.failed_on = now if state is FAILED else None
        self.lines_done = self.lines if state is READY else self.lines_done


async def lock_document_of(db: AsyncSession, payout_id: int, kind: PayoutDocumentKind) -> PayoutDocumentRow:
    """The locked row of a document, which is made if it is missing, ready of no content. Its payout request is locked before."""
    await db.exec(select(PayoutRequestRow.id).where(col(PayoutRequestRow.id) == payout_id).with_for_update())
    new = {"payout_request_id": payout_id, "kind": kind, "state": READY, "lines": 0, "lines_done": 0, "tries": 0}
    await (await db.connection()).execute(insert(PayoutDocumentRow).values(**new, digest="").on_conflict_do_nothing())
    query = select(PayoutDocumentRow).where(
        col(PayoutDocumentRow.payout_request_id) == payout_id, col(PayoutDocumentRow.kind) == kind
    )
    return (await db.exec(query.with_for_update().execution_options(populate_existing=True))).one()


async def lock_document(db: AsyncSession, id: int) -> PayoutDocumentRow:
    """The locked row of a document by its id."""
    query = select(PayoutDocumentRow).where(col(PayoutDocumentRow.id) == id)
    return (await db.exec(query.with_for_update().execution_options(populate_existing=True))).one()


async def lock_with_payout(db: AsyncSession, document: PayoutDocumentRow) -> tuple[PayoutRequestRow, PayoutDocumentRow]:
    """The locked row of a document and, before it, that of its payout request."""
    query = select(PayoutRequestRow).where(col(PayoutRequestRow.id) == document.payout_request_id).with_for_update()
    payout = (await db.exec(query)).one()
    return payout, await lock_document(db, document.id)
