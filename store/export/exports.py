"""The table of exports: who asked for which list, and how far the worker is."""

import datetime as dt
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, Index, func, text, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.export import Export, ExportState
from store.core.provider_process import CheckedRow
from store.core.row import CreatedOn

FOLDER = "exports"
"""The folder in the file store."""
FILE_LIFE = dt.timedelta(days=7)
"""How long the file of an export is stored."""
ROW_LIFE = dt.timedelta(days=90)
"""How long an export is listed after it has ended."""
HOLD = dt.timedelta(minutes=2)
"""How long a worker has an export after its last sign of life. No step between two of them takes as long."""
MOST_TRIES = 5
"""Workers that begin with an export before it counts as the cause of their ends."""
UNFINISHED = (ExportState.QUEUED, ExportState.RUNNING)


class ExportRow(CheckedRow, CreatedOn, Export, table=True):
    """An export. While it is unfinished, `check_on` is when a worker may take it: at once, or when the hold of the one that
    has it is over.
    """

    __tablename__ = "export"
    __table_args__ = (
        Index("export_user_list_idx", "user_id", "id"),
        Index("export_partner_list_idx", "partner_id", "id"),
        Index("export_marketplace_list_idx", "marketplace_id", "id"),
        Index("export_due_idx", "check_on", postgresql_where=text("check_on IS NOT NULL")),
        Index("export_expires_on_idx", "expires_on", postgresql_where=text("state = 'completed'")),
        CheckConstraint("(state IN ('queued', 'running')) = (check_on IS NOT NULL)", name="is_worked_on"),
        CheckConstraint("(state IN ('queued', 'running')) = (ended_on IS NULL)", name="has_ended"),
        CheckConstraint("rows_done >= 0", name="progress"),
    )
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    """Names its file, which nobody can guess."""
    user_id: int = Field(foreign_key="app_user.id")
    role: str = Field(max_length=20)
    """The role in which it was asked for."""
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id")
    columns: list[dict[str, Any]] = Field(sa_type=JSONB)
    """The path and the title of each column."""
    language: str = Field(default="", max_length=2)
    runner: UUID | None = None
    """The worker that writes it; another value means that another one has taken over."""
    tries: int = 0
    """How many workers have begun with it."""

    @property
    def file_key(self) -> str:
        """Where its file is in the file store."""
        return f"{FOLDER}/{self.uuid}.{self.format.value}"

    def end(self, state: ExportState, now: dt.datetime) -> None:
        """Nobody works on it any more."""
        self.state, self.ended_on = state, now
        self.check_on = self.runner = None


async def count_unfinished(db: AsyncSession, user_id: int) -> int:
    """Number of a user's exports that wait or are being written."""
    query = select(func.count()).where(col(ExportRow.user_id) == user_id, col(ExportRow.state).in_(UNFINISHED))
    return (await db.exec(query)).one()


async def lock_export(db: AsyncSession, id: int) -> ExportRow | None:
    """The locked row of an export; None if it was deleted."""
    query = select(ExportRow).where(col(ExportRow.id) == id)
    return (await db.exec(query.with_for_update().execution_options(populate_existing=True))).one_or_none()


async def record_progress(db: AsyncSession, export: ExportRow, now: dt.datetime, rows: int, expected: int) -> bool:
    """Store how many rows of how many are written, and hold the export for longer; False if it was cancelled or taken over."""
    table = ExportRow
    held = col(table.id) == export.id, col(table.runner) == export.runner
    sign = update(table).where(*held).values(rows_done=rows, rows_expected=expected, check_on=now + HOLD)
    return bool((await db.exec(sign)).rowcount)


async def expired_exports(db: AsyncSession, now: dt.datetime, most: int) -> Sequence[ExportRow]:
    """Completed exports whose files are due to be deleted, locked. Those locked by another worker are skipped."""
    table = ExportRow
    due = col(table.state) == ExportState.COMPLETED, col(table.expires_on) <= now
    query = select(table).where(*due).order_by(col(table.expires_on)).limit(most)
    return (await db.exec(query.with_for_update(skip_locked=True))).all()


async def old_exports(db: AsyncSession, ended_before: dt.datetime, most: int) -> Sequence[ExportRow]:
    """Exports without files that ended before a moment, locked."""
    table = ExportRow
    over = col(table.state) != ExportState.COMPLETED, col(table.ended_on) < ended_before
    query = select(table).where(*over).order_by(col(table.id)).limit(most)
    return (await db.exec(query.with_for_update(skip_locked=True))).all()


async def files_in_use(db: AsyncSession, uuids: Sequence[UUID]) -> set[UUID]:
    """Those of the ids whose export has a file or is being written."""
    alive = (*UNFINISHED, ExportState.COMPLETED)
    query = select(col(ExportRow.uuid)).where(col(ExportRow.uuid).in_(uuids), col(ExportRow.state).in_(alive))
    return set((await db.exec(query)).all())
