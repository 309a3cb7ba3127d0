"""The documents of payout requests: a statement as PDF, and a spreadsheet. They are made when they are first asked for, and
again when their content has changed.
"""

import asyncio
import datetime as dt
import hashlib

import orjson

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.document import ServedFile, read_document_token, signed_document_url
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.payment.payout import GeneratePayoutPdf, GeneratePayoutXls, PayoutRequest
from store.document.cache import RenderedDocument, disposition, get_or_make, get_or_render_document
from store.document.payout.source import PayoutContent, payout_document_source, read_payout_content
from store.document.payout.spreadsheet import payout_spreadsheet
from store.document.source import DocumentSource
from store.payout.requests import PayoutRequestRow

FOLDER = "payouts"
PDF, XLSX = "pdf", "xlsx"
MEDIA_TYPES = {PDF: "application/pdf", XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
ZIP_END = b"PK\x05\x06"
WORKBOOK_VERSION = 2
"""Raise it when the spreadsheet of the same payout changes."""
_payout = ById(PayoutRequestRow, "payout request")


@derives(PayoutRequest, "pdf_url")
def _pdf_url(context: Context, id: int, made_on: dt.datetime | None) -> str | None:
    return None if made_on is None else signed_document_url(context.services, FOLDER, [id, PDF], PDF)


@derives(PayoutRequest, "xlsx_url")
def _xlsx_url(context: Context, id: int, made_on: dt.datetime | None) -> str | None:
    return None if made_on is None else signed_document_url(context.services, FOLDER, [id, XLSX], XLSX)


async def find_payout(call: Call, input: GeneratePayoutPdf | GeneratePayoutXls) -> PayoutRequestRow:
    """The payout request of an input. Nothing changes about it."""
    async with call.services.db.sessions() as db:
        return await find_visible(db, call.caller, PayoutRequestRow, "payout request", id=input.id)


@operation(Permission.VIEW_PAYOUT, exists=_payout, previews=find_payout)
async def generate_payout_pdf(call: Call, input: GeneratePayoutPdf) -> PayoutRequest:
    """Make the statement of a payout request as PDF; from then on `pdfUrl` is its address. It always shows the present state.
    Over REST the file itself is answered.
    """
    payout = await _payout.find(call, input.id, lock=True)
    payout.pdf_made_on = payout.pdf_made_on or call.services.clock.now()
    return payout


@operation(Permission.VIEW_PAYOUT, exists=_payout, previews=find_payout)
async def generate_payout_xls(call: Call, input: GeneratePayoutXls) -> PayoutRequest:
    """Make the spreadsheet of a payout request (.xlsx); from then on `xlsxUrl` is its address. It always shows the present
    state. Over REST the file itself is answered.
    """
    payout = await _payout.find(call, input.id, lock=True)
    payout.xlsx_made_on = payout.xlsx_made_on or call.services.clock.now()
    return payout


async def find_payout_file(services: Services, token: str, kind: str) -> ServedFile:
    """The document of a signed address. Raises NotFound for one that is forged or too old."""
    id, signed_kind = read_document_token(services, FOLDER, token)
    if signed_kind != kind:
        raise NotFound(thing="document")
    async with services.db.sessions() as db:
        payout = await db.get_one(PayoutRequestRow, id)
    return await read_payout_file(services, payout, kind)


async def read_payout_file(services: Services, payout: PayoutRequestRow, kind: str) -> ServedFile:
    """The document of a payout request in its present state."""
    async with services.db.sessions() as db:
        content = await read_payout_content(db, payout)
        source = await payout_document_source(db, content)
    make = get_or_render_document(source, services.files) if kind == PDF else _workbook(services, content, source)
    made = await make
    return ServedFile(made.content, MEDIA_TYPES[kind], disposition(made.file_name))


async def _workbook(services: Services, content: PayoutContent, source: DocumentSource) -> RenderedDocument:
    shown = (WORKBOOK_VERSION, source.sheet.data(), [transfer.status for transfer in content.transfers])
    digest = hashlib.sha256(orjson.dumps(shown)).hexdigest()

    async def make() -> bytes:
        return await asyncio.to_thread(payout_spreadsheet, content)

    key = f"documents/payouts/{content.payout.id}.xlsx"
    made = await get_or_make(services.files, key, digest, ZIP_END, make)
    name = f"{source.sheet.overline} {content.payout.id} {source.sheet.look.name}.xlsx"
    return RenderedDocument(made, digest, name)
