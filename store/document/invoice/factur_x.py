"""Makes the Factur-X document of an invoice, and keeps it."""

import asyncio
from uuid import UUID

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.files import FileStore
from store.database.db import Database
from store.document.cache import PDF_END, RenderedDocument, get_or_make, read_made, safe_name
from store.document.invoice.source import InvoiceDocument, read_invoice_document
from store.document.invoice.words import KINDS, InvoiceWords
from store.document.invoice.xml import attach_xml, invoice_xml
from store.document.rendering import render_pdf
from store.invoice.invoices import InvoiceRow

LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")


async def render_invoice(database: Database, files: FileStore, id: UUID) -> RenderedDocument:
    """The document of an invoice: PDF/A-3 with its XML attached. Raises RenderingFailed."""
    async with database.sessions() as db:
        invoice = await db.get_one(InvoiceRow, id)

    async def make(db: AsyncSession) -> bytes:
        content = await read_invoice_document(db, invoice)
        pdf = await render_pdf(content.sheet(), {}, invoice.created_on)
        return await asyncio.to_thread(_attach, content, pdf)

    # It names the invoice, not its content: an issued document is not made anew, whatever its template becomes.
    digest = f"{invoice.id.hex}{invoice.sequence_number:032}"
    key = f"documents/invoices/{invoice.id}.pdf"
    made = await read_made(files, key, digest, PDF_END)
    if made is None:
        async with database.sessions() as db, db.begin():
            await (await db.connection()).execute(LOCK, {"key": key})  # several first requests get one document
            made = await get_or_make(files, key, digest, PDF_END, lambda: make(db), lasting=True)
    kind = InvoiceWords(invoice.language).say(KINDS[invoice.kind])
    name = safe_name(f"{kind} {invoice.number} {invoice.issuer_company_name}")
    return RenderedDocument(made, digest, f"{name}.pdf")


def _attach(content: InvoiceDocument, pdf: bytes) -> bytes:
    invoice, names = content.invoice, {line.position: content.name(line) for line in content.lines}
    xml = invoice_xml(invoice, content.lines, names, list(content.notes()), content.preceding)
    return attach_xml(pdf, xml, content.fees_csv() if content.fees else b"", invoice, content.sheet().title)
