"""Documents of payout requests with many lines, which the worker makes.

One worker at a time holds a document, and says how far it is. When it dies, its hold ends, and the sweep lets another one
begin anew: nothing is left of it but a file that nobody reads.
"""

import contextlib
import datetime as dt
from dataclasses import dataclass
from uuid import uuid4

import structlog
from sqlalchemy import update
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.payment.payout import PayoutDocumentState
from store.core.provider_process import due_rows
from store.core.retries import RunAgain
from store.document.cache import keep_made, render_source
from store.document.payout.digest import key_of, payout_digest
from store.document.payout.line_list import LineList
from store.document.payout.source import MOST_PRINTED, PayoutContent, payout_document_source, read_payout_head
from store.document.payout.spreadsheet import SpreadsheetFailed, spreadsheet_process, workbook_head, workbook_line
from store.document.rendering import RenderingFailed
from store.document.source import DocumentSource
from store.job.jobs import JobKind, enqueue_job
from store.payout.documents import (
    FAILED,
    PENDING,
    READY,
    PayoutDocumentKind,
    PayoutDocumentRow,
    lock_document,
    lock_document_of,
    lock_with_payout,
)
from store.payout.lines import count_lines, statement_lines
from store.payout.requests import PayoutRequestRow

log = structlog.get_logger(__name__)
HOLD = dt.timedelta(minutes=2)
"""How long a worker has a document after its last sign of life. No step between two of them takes as long."""
REST = dt.timedelta(minutes=10)
"""After this time a document that could not be made is tried again, if it is asked for."""
MOST_TRIES = 5
"""Workers that begin with a document before it counts as the cause of their ends."""
SIGN_INTERVAL = dt.timedelta(seconds=1)
"""Between two signs of life while lines are read."""
WAIT = dt.timedelta(seconds=5)
"""Until a process that makes a document looks after the next one."""
SWEEP_BATCH = 200
_made_here: set[int] = set()
"""The document that this process makes: one after the other, since each takes a core and memory."""


class TakenOver(Exception):
    """Another worker makes the document."""


async def ask_for_document(
    services: Services, db: AsyncSession, payout: PayoutRequestRow, kind: PayoutDocumentKind, digest: str | None = None
) -> PayoutDocumentRow:
    """Have the worker make a document, unless it is at it, has just failed, or has made that of this digest."""
    row, now = await lock_document_of(db, payout.id, kind), services.clock.now()
    is_made = row.state is READY and row.digest == digest
    rests = row.failed_on is not None and now < row.failed_on + REST
    if row.state is not PENDING and not is_made and not rests:
        row.ask(await count_lines(db, payout.id), now)
        await enqueue_job(db, JobKind.MAKE_PAYOUT_DOCUMENT, {"id": row.id}, unique_key=str(row.id))
    return row


async def make_next(services: Services, id: int) -> None:
    """Job: make a document. Raises RunAgain while this process makes another one."""
    if _made_here:
        raise RunAgain(WAIT)
    _made_here.add(id)
    try:
        await make_document(services, id)
    finally:
        _made_here.discard(id)


async def make_document(services: Services, id: int) -> None:
    """Make a document, unless another worker has it or it is made. If database or file store fail, the job is repeated."""
    held = await _take(services, id)
    if held is None:
        return
    maker = DocumentMaker(services, held, services.clock.now() + SIGN_INTERVAL)
    try:
        await maker.make()
    except TakenOver:
        log.info("another worker makes the document of a payout", document=id)
    except (RenderingFailed, SpreadsheetFailed):
        log.exception("the document of a payout could not be made", document=id, kind=held.kind)
        await maker.end(FAILED, held.digest)
    except Exception:
        await maker.release()
        raise


async def sweep(services: Services) -> int:
    """Enqueue the documents whose worker died, or whose job was lost; returns their number."""
    async with services.db.sessions() as db, db.begin():
        rows = await due_rows(db, PayoutDocumentRow, services.clock.now(), SWEEP_BATCH)
        for row in rows:
            await enqueue_job(db, JobKind.MAKE_PAYOUT_DOCUMENT, {"id": row.id}, unique_key=str(row.id))
        return len(rows)


async def _take(services: Services, id: int) -> PayoutDocumentRow | None:
    """Take a document in hand, if that is due."""
    async with services.db.sessions() as db, db.begin():
        row, now = await lock_document(db, id), services.clock.now()
        if row.check_on is None or now < row.check_on:
            return None
        if row.tries >= MOST_TRIES:
            log.error("the document of a payout is given up", document=id, kind=row.kind, tries=row.tries)
            row.end(FAILED, now)
            return None
        row.maker, row.tries, row.check_on = uuid4(), row.tries + 1, now + HOLD
        row.lines, row.lines_done = await count_lines(db, row.payout_request_id), 0
        return row


@dataclass
class DocumentMaker:
    """Makes one document that it holds."""

    services: Services
    held: PayoutDocumentRow
    next_sign: dt.datetime
    lines_done: int = 0

    async def make(self) -> None:
        """Make it and store it. Raises TakenOver."""
        digest, file = await self._build()
        await self.tell()
        await keep_made(self.services.files, key_of(self.held.payout_request_id, self.held.kind), digest, file)
        await self.end(READY, digest)

    async def _build(self) -> tuple[str, bytes]:
        """It and its digest, of what the database has at one moment."""
        async with self.services.db.sessions() as db:
            await db.connection(execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})
            payout = await db.get_one(PayoutRequestRow, self.held.payout_request_id)
            content = await read_payout_head(db, payout)
            digest = await payout_digest(db, content)
            if self.held.kind is PayoutDocumentKind.XLSX:
                return digest, await self._spreadsheet(db, content)
            source = await self._statement(db, content)
        await self.tell()
        return digest, await render_source(source, self.services.files)

    async def _spreadsheet(self, db: AsyncSession, content: PayoutContent) -> bytes:
        async with spreadsheet_process() as book, contextlib.aclosing(statement_lines(db, content.payout)) as lines:
            await book.send(workbook_head(content))
            async for line in lines:
                await book.send(workbook_line(content, line))
                await self._step()
            return await book.finish()

    async def _statement(self, db: AsyncSession, content: PayoutContent) -> DocumentSource:
        everything = LineList(content.payout.currency)
        async with contextlib.aclosing(statement_lines(db, content.payout)) as lines:
            async for line in lines:
                everything.add(line)
                content.add(line, MOST_PRINTED)
                await self._step()
        return await payout_document_source(db, content, everything.text)

    async def _step(self) -> None:
        """One more line is done."""
        self.lines_done += 1
        if self.services.clock.now() >= self.next_sign:
            await self.tell()

    async def tell(self) -> None:
        """Store how far it is, and hold it for longer. Raises TakenOver."""
        table, now = PayoutDocumentRow, self.services.clock.now()
        sign = (
            update(table)
            .where(col(table.id) == self.held.id, col(table.maker) == self.held.maker)
            .values(lines_done=min(self.lines_done, self.held.lines), check_on=now + HOLD)
        )
        async with self.services.db.sessions() as db, db.begin():
            if not (await db.exec(sign)).rowcount:
                raise TakenOver
        self.next_sign = now + SIGN_INTERVAL

    async def release(self) -> None:
        """Let the next one begin at once: this try does not count."""
        table = PayoutDocumentRow
        freed = {"check_on": self.services.clock.now(), "maker": None, "tries": col(table.tries) - 1}
        is_held = (col(table.id) == self.held.id, col(table.maker) == self.held.maker)
        async with self.services.db.sessions() as db, db.begin():
            await db.exec(update(table).where(*is_held).values(**freed))

    async def end(self, state: PayoutDocumentState, digest: str) -> None:
        """Record how it ended, unless another worker has it. The payout request tells when it was made first."""
        async with self.services.db.sessions() as db, db.begin():
            (payout, row), now = await lock_with_payout(db, self.held), self.services.clock.now()
            if row.maker != self.held.maker:
                return
            row.end(state, now)
            row.digest = digest
            if state is READY:
                mark_made(payout, self.held.kind, now)


def mark_made(payout: PayoutRequestRow, kind: PayoutDocumentKind, now: dt.datetime) -> None:
    """The address of a document works from now on."""
    if kind is PayoutDocumentKind.PDF:
        payout.pdf_made_on = payout.pdf_made_on or now
    else:
        payout.xlsx_made_on = payout.xlsx_made_on or now
