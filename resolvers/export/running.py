"""The worker writes exports: page by page to a file on its disk, which then goes to the file store.

One worker at a time holds an export, and says how far it is. When it dies, its hold ends, and the sweep lets another one
begin anew: nothing is left of the first but a file on its disk.
"""

import asyncio
import dataclasses
import datetime as dt
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import structlog

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.list_reader import ListColumn, ListPageRequest
from resolvers.core.lists.listing import LARGEST_PAGE
from resolvers.core.services import Services
from resolvers.export.cells import CellWriter
from resolvers.export.checks import NO_SUCH_COLUMN, NO_SUCH_LIST
from schema.core.errors import AppError, Forbidden, InvalidInput, Unauthenticated, Unavailable
from schema.export import ExportState
from store.core.provider_process import due_rows
from store.core.retries import RunAgain
from store.export.exports import (
    FILE_LIFE,
    HOLD,
    MOST_TRIES,
    ExportRow,
    lock_export,
    record_progress,
)
from store.export.files import CONTENT_TYPES, ExportFile, SheetFull, open_export_file
from store.job.jobs import JobKind, enqueue_job

log = structlog.get_logger(__name__)
SIGN_INTERVAL = dt.timedelta(seconds=1)
"""Between two signs of life."""
MOST_AT_ONCE = 2
"""Exports that a process writes at the same time: each takes a part of a core."""
WAIT = dt.timedelta(seconds=5)
"""Until a process that writes enough exports looks after the next one."""
LARGEST_FILE = 1024**3
"""Bytes of a file."""
SWEEP_BATCH = 200
SHEET_FULL = "A spreadsheet has no room for so many rows. Export them as CSV, or narrow the filter."
TOO_LARGE = "The file would be larger than 1 GiB. Choose fewer columns, or narrow the filter."
NO_LONGER_ALLOWED = "Its user may no longer log in, or works for somebody else."
GIVEN_UP = (
    "It could not be written. Try again later; if that fails too, ask the operator, who finds the cause in the log."
)
_running: set[int] = set()
"""The exports that this process writes."""


class ExportTakenOver(Exception):
    """The export was cancelled, or another worker writes it."""


class ExportTooLarge(Exception):
    """The file is too large."""


async def write_next(services: Services, payload: Mapping[str, Any]) -> None:
    """Job: write an export. Raises RunAgain while this process writes enough others."""
    id = payload["id"]
    if id in _running or len(_running) >= MOST_AT_ONCE:
        raise RunAgain(WAIT)
    _running.add(id)
    try:
        await write_export(services, id)
    finally:
        _running.discard(id)


async def write_export(services: Services, id: int) -> None:
    """Write an export, unless another worker has it or it has ended. If database or file store fail, the job is repeated."""
    export = await _take(services, id)
    if export is None:
        return
    writer = ExportWriter(services, export)
    try:
        await writer.write()
    except ExportTakenOver:
        log.info("an export was cancelled, or another worker writes it", export=id)
    except SheetFull:
        await writer.fail(SHEET_FULL)
    except ExportTooLarge:
        await writer.fail(TOO_LARGE)
    except Unauthenticated:
        await writer.fail(NO_LONGER_ALLOWED)
    except AppError as error:
        if isinstance(error, Unavailable):
            await writer.release()
            raise
        await writer.fail(_message_of(error))
    except Exception:
        await writer.release()
        raise


async def give_up(services: Services, payload: Mapping[str, Any]) -> None:
    """The last try has failed."""
    async with services.db.sessions() as db, db.begin():
        export = await lock_export(db, payload["id"])
        if export is not None and export.check_on is not None:
            export.error = GIVEN_UP
            export.end(ExportState.FAILED, services.clock.now())


async def sweep(services: Services) -> int:
    """Enqueue the exports whose worker died, or whose job was lost; returns their number."""
    async with services.db.sessions() as db, db.begin():
        rows = await due_rows(db, ExportRow, services.clock.now(), SWEEP_BATCH)
        for row in rows:
            await enqueue_job(db, JobKind.WRITE_EXPORT, {"id": row.id}, unique_key=str(row.id))
        return len(rows)


async def _take(services: Services, id: int) -> ExportRow | None:
    """Take an export in hand, if that is due."""
    async with services.db.sessions() as db, db.begin():
        row, now = await lock_export(db, id), services.clock.now()
        if row is None or row.check_on is None or now < row.check_on:
            return None
        if row.tries >= MOST_TRIES:
            log.error("an export is given up", export=id, tries=row.tries)
            row.error = GIVEN_UP
            row.end(ExportState.FAILED, now)
            return None
        row.state, row.started_on, row.rows_done = ExportState.RUNNING, now, 0
        row.runner, row.tries, row.check_on = uuid4(), row.tries + 1, now + HOLD
        return row


@dataclass
class ExportWriter:
    """Writes one export that it holds."""

    services: Services
    export: ExportRow
    rows_done: int = 0
    rows_expected: int = 0
    next_sign: dt.datetime = field(init=False)

    async def write(self) -> None:
        """Write its file and store it. Raises ExportTakenOver, SheetFull, and what the list raises."""
        with tempfile.TemporaryDirectory(prefix="coffret-export-") as folder:
            path = pathlib.Path(folder, f"export.{self.export.format.value}")
            await self._fill(path)
            if (size := await asyncio.to_thread(_size_of, path.parent)) > LARGEST_FILE:
                raise ExportTooLarge
            await self._caller()  # a user who was deactivated meanwhile gets nothing
            await self.sign()
            await self.services.files.put_file(self.export.file_key, path, CONTENT_TYPES[self.export.format])
            await self._complete(size)

    async def _fill(self, path: pathlib.Path) -> None:
        titles = [column["title"] for column in self.export.columns]
        file = open_export_file(self.export.format, path, titles, self.export.list)
        try:
            await self._write_rows(file, path)
        finally:
            await asyncio.to_thread(file.close)

    async def _write_rows(self, file: ExportFile, path: pathlib.Path) -> None:
        caller = await self._caller()
        columns = self._columns(caller)
        cells = CellWriter(ZoneInfo(caller.time_zone), self.export.language, self.export.include_codes)
        self.rows_expected = await self.services.lists.count(
            self.services, caller, self.export.list, self.export.filter
        )
        await self.sign()
        cursor: str | None = None
        while True:
            page = await self.services.lists.read(self.services, caller, self._request(columns, cursor))
            rows = [list(map(cells.cell, columns, values)) for values in page.rows]
            await asyncio.to_thread(file.add, rows)
            self.rows_done += len(rows)
            cursor = page.cursor
            if cursor is None:
                return
            if self.services.clock.now() >= self.next_sign:
                await self.sign()
                caller = await self._caller()
                if await asyncio.to_thread(_size_of, path.parent) > LARGEST_FILE:
                    raise ExportTooLarge

    def _request(self, columns: Sequence[ListColumn], cursor: str | None) -> ListPageRequest:
        export = self.export
        paths = [column.path for column in columns]
        return ListPageRequest(export.list, paths, export.filter, export.order_by, LARGEST_PAGE, cursor)

    def _columns(self, caller: Caller) -> Sequence[ListColumn]:
        """The columns as the list has them now. Raises Forbidden if whole codes are no longer the user's to have."""
        columns = []
        for each in self.export.columns:
            column = self.services.lists.column(self.export.list, each["path"])
            if column is None:
                raise InvalidInput.at("columns", NO_SUCH_COLUMN)
            if self.export.include_codes and column.code_permission and not caller.may(column.code_permission):
                raise Forbidden(permission=f"permissions.{column.code_permission}")
            columns.append(column)
        return columns

    async def _caller(self) -> Caller:
        """The user as it is now. Raises Unauthenticated if the user is inactive, or works for somebody else by now, and
        Forbidden if the list is no longer the user's to read.
        """
        caller = await self._user()
        access = self.services.lists.access(self.export.list)
        if access is None:
            raise InvalidInput.at("list", NO_SUCH_LIST)
        Context(self.services, caller).require(access)
        return caller

    async def _user(self) -> Caller:
        export = self.export
        caller = await self.services.authenticator.caller_of_user(export.user_id)
        if (caller.role, caller.partner_id, caller.marketplace_id) == (
            export.role,
            export.partner_id,
            export.marketplace_id,
        ):
            return caller
        limited = export.role == Role.PARTNER and caller.role is not Role.PARTNER
        if limited and caller.sees(export.partner_id, export.marketplace_id):  # it was asked for on behalf of a partner
            return dataclasses.replace(
                caller, role=Role.PARTNER, partner_id=export.partner_id, marketplace_id=export.marketplace_id
            )
        raise Unauthenticated

    async def sign(self) -> None:
        """Store how far it is, and hold it for longer. Raises ExportTakenOver."""
        now = self.services.clock.now()
        async with self.services.db.sessions() as db, db.begin():
            if not await record_progress(db, self.export, now, self.rows_done, self.rows_expected):
                raise ExportTakenOver
        self.next_sign = now + SIGN_INTERVAL

    async def release(self) -> None:
        """Let the next one begin at once: this try does not count."""
        async with self.services.db.sessions() as db, db.begin():
            row = await lock_export(db, self.export.id)
            if row is not None and row.runner == self.export.runner:
                row.check_on, row.runner, row.tries = self.services.clock.now(), None, row.tries - 1

    async def fail(self, why: str) -> None:
        """Record that it cannot be written, unless another worker has it."""
        log.info("an export has failed", export=self.export.id, why=why)
        async with self.services.db.sessions() as db, db.begin():
            row = await lock_export(db, self.export.id)
            if row is not None and row.runner == self.export.runner:
                row.error = why[:500]
                row.end(ExportState.FAILED, self.services.clock.now())

    async def _complete(self, size: int) -> None:
        """Record the file. That of an export which was cancelled meanwhile is deleted."""
        async with self.services.db.sessions() as db, db.begin():
            row, now = await lock_export(db, self.export.id), self.services.clock.now()
            if row is not None and row.runner == self.export.runner:
                row.rows_done, row.size, row.expires_on = self.rows_done, size, now + FILE_LIFE
                row.end(ExportState.COMPLETED, now)
            elif row is None or row.state is ExportState.CANCELLED:
                await self.services.files.delete(self.export.file_key)


def _size_of(folder: pathlib.Path) -> int:
    """Bytes of all files in a folder: spreadsheets are collected in several."""
    return sum(file.stat().st_size for file in folder.iterdir())


def _message_of(error: AppError) -> str:
    return " ".join(str(problem.message) for problem in error.problems) or str(error.message)
