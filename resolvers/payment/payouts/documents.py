"""The documents of payout requests: a statement as PDF, and a spreadsheet. They are made when they are first asked for, and
again when their content has changed. Those with many lines are made by the worker.
"""

import asyncio
import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence

import orjson
from sqlmodel import col, select

from resolvers.core.computed_fields import computes, derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.document import ServedFile, UnfinishedFile, read_document_token, signed_document_url
from resolvers.payment.payouts.document_jobs import ask_for_document, mark_made
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.payment.errors import DocumentNotMade
from schema.payment.payout import GeneratePayoutPdf, GeneratePayoutXls, PayoutDocument, PayoutRequest
from store.document.cache import (
    PDF_END,
    disposition,
    get_or_make,
    get_or_render_document,
    pdf_name,
    read_made,
)
from store.document.payout.digest import WORKBOOK_VERSION, key_of, payout_digest
from store.document.payout.source import PayoutContent, payout_document_source, read_payout_content, read_payout_head
from store.document.payout.spreadsheet import payout_spreadsheet
from store.document.source import DocumentSource
from store.payout.documents import FAILED, PENDING, READY, PayoutDocumentKind, PayoutDocumentRow, lock_document_of
from store.payout.lines import MOST_LINES_AT_ONCE, count_lines
from store.payout.requests import PayoutRequestRow

FOLDER = "payouts"
PDF, XLSX = PayoutDocumentKind.PDF, PayoutDocumentKind.XLSX
MEDIA_TYPES = {PDF: "application/pdf", XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
ENDS = {PDF: PDF_END, XLSX: b"PK\x05\x06"}
"""The last bytes of whole files."""
RETRY_AFTER = 10
"""Seconds after which to ask again for a document that is being made."""
_payout = ById(PayoutRequestRow, "payout request")


@derives(PayoutRequest, "pdf_url")
def _pdf_url(context: Context, id: int, made_on: dt.datetime | None) -> str | None:
    return None if made_on is None else signed_document_url(context.services, FOLDER, [id, PDF], PDF)


@derives(PayoutRequest, "xlsx_url")
def _xlsx_url(context: Context, id: int, made_on: dt.datetime | None) -> str | None:
    return None if made_on is None else signed_document_url(context.services, FOLDER, [id, XLSX], XLSX)


@computes(PayoutRequest, "pdf")
async def pdf_of_payouts(context: Context, ids: Sequence[int]) -> Mapping[int, PayoutDocument]:
    """The statements of payout requests that somebody has asked for."""
    return await _documents(context, ids, PDF)


@computes(PayoutRequest, "xlsx")
async def xlsx_of_payouts(context: Context, ids: Sequence[int]) -> Mapping[int, PayoutDocument]:
    """The spreadsheets of payout requests that somebody has asked for."""
    return await _documents(context, ids, XLSX)


async def _documents(context: Context, ids: Sequence[int], kind: PayoutDocumentKind) -> Mapping[int, PayoutDocument]:
    table = PayoutDocumentRow
    query = select(table).where(col(table.payout_request_id).in_(ids), col(table.kind) == kind)
    async with context.db.read_sessions() as db:
        rows = (await db.exec(query)).all()
    return {row.payout_request_id: _published(context.services, row) for row in rows}


def _published(services: Services, row: PayoutDocumentRow) -> PayoutDocument:
    names = (row.payout_request_id, row.kind)
    url = signed_document_url(services, FOLDER, names, row.kind) if row.state is READY else None
    return PayoutDocument(state=row.state, lines=row.lines, lines_done=row.lines_done, url=url)


async def find_payout(call: Call, input: GeneratePayoutPdf | GeneratePayoutXls) -> PayoutRequestRow:
    """The payout request of an input. Nothing changes about it."""
    async with call.services.db.sessions() as db:
        return await find_visible(db, call.caller, PayoutRequestRow, "payout request", id=input.id)


@operation(Permission.VIEW_PAYOUT, exists=_payout, previews=find_payout)
async def generate_payout_pdf(call: Call, input: GeneratePayoutPdf) -> PayoutRequest:
    """Make the statement of a payout request as PDF; from then on `pdfUrl` is its address. It always shows the present state.
    One of more than 2,000 lines is made by the worker: `pdf` tells how far it is. It prints 500 lines of a section, and has
    all of them attached as CSV. Over REST the file itself is answered, or 202 while it is being made.
    """
    return await _generate(call, input.id, PDF)


@operation(Permission.VIEW_PAYOUT, exists=_payout, previews=find_payout)
async def generate_payout_xls(call: Call, input: GeneratePayoutXls) -> PayoutRequest:
    """Make the spreadsheet of a payout request (.xlsx); from then on `xlsxUrl` is its address. It always shows the present
    state. One of more than 2,000 lines is made by the worker: `xlsx` tells how far it is. Over REST the file itself is
    answered, or 202 while it is being made.
    """
    return await _generate(call, input.id, XLSX)


async def _generate(call: Call, id: int, kind: PayoutDocumentKind) -> PayoutRequestRow:
    payout = await _payout.find(call, id, lock=True)
    now, lines = call.services.clock.now(), await count_lines(call.db, payout.id)
    if lines > MOST_LINES_AT_ONCE:
        digest = await payout_digest(call.db, await read_payout_head(call.db, payout))
        await ask_for_document(call.services, call.db, payout, kind, digest)
        return payout
    row = await lock_document_of(call.db, payout.id, kind)
    row.lines = lines
    row.end(READY, now)
    mark_made(payout, kind, now)
    return payout


async def find_payout_file(services: Services, token: str, kind: str) -> ServedFile | UnfinishedFile:
    """The document of a signed address. Raises NotFound for one that is forged or too old."""
    id, signed_kind = read_document_token(services, FOLDER, token)
    if signed_kind != kind:
        raise NotFound(thing="document")
    async with services.db.sessions() as db:
        payout = await db.get_one(PayoutRequestRow, id)
    return await read_payout_file(services, payout, PayoutDocumentKind(kind))


async def read_payout_file(
    services: Services, payout: PayoutRequestRow, kind: PayoutDocumentKind
) -> ServedFile | UnfinishedFile:
    """The document of a payout request in its present state. One of many lines is what the worker has made, which is asked
    for it if that is missing or outdated. Raises DocumentNotMade if it could not do it a moment ago.
    """
    async with services.db.sessions() as db:
        is_large = await count_lines(db, payout.id) > MOST_LINES_AT_ONCE
        content = await (read_payout_head if is_large else read_payout_content)(db, payout)
        source = await payout_document_source(db, content)
    if is_large:
        made = await _read_large_file(services, content, kind)
        return made if isinstance(made, UnfinishedFile) else _served(kind, content, source, made)
    if kind is PDF:
        return _served(kind, content, source, (await get_or_render_document(source, services.files)).content)
    return _served(kind, content, source, await _workbook(services, content, source))


async def _read_large_file(services: Services, head: PayoutContent, kind: PayoutDocumentKind) -> bytes | UnfinishedFile:
    table, payout = PayoutDocumentRow, head.payout
    query = select(table).where(col(table.payout_request_id) == payout.id, col(table.kind) == kind)
    async with services.db.sessions() as db:
        row = (await db.exec(query)).one_or_none()
        if row is not None and row.state is PENDING:
            return _progress_of(row)
        digest = await payout_digest(db, head)
    made = await read_made(services.files, key_of(payout.id, kind), digest, ENDS[kind])
    if made is not None:
        return made
    async with services.db.sessions() as db, db.begin():
        row = await ask_for_document(services, db, payout, kind)
    if row.state is FAILED:
        raise DocumentNotMade
    return _progress_of(row)


def _progress_of(row: PayoutDocumentRow) -> UnfinishedFile:
    return UnfinishedFile(row.lines, row.lines_done, RETRY_AFTER)


def _served(kind: PayoutDocumentKind, content: PayoutContent, source: DocumentSource, file: bytes) -> ServedFile:
    sheet = source.sheet
    name = pdf_name(source) if kind is PDF else f"{sheet.overline} {content.payout.id} {sheet.look.name}.xlsx"
    return ServedFile(file, MEDIA_TYPES[kind], disposition(name))


async def _workbook(services: Services, content: PayoutContent, source: DocumentSource) -> bytes:
    shown = (WORKBOOK_VERSION, source.sheet.data(), [transfer.status for transfer in content.transfers])
    digest = hashlib.sha256(orjson.dumps(shown)).hexdigest()

    async def make() -> bytes:
        return await asyncio.to_thread(payout_spreadsheet, content)

    return await get_or_make(services.files, key_of(content.payout.id, XLSX), digest, ENDS[XLSX], make)
