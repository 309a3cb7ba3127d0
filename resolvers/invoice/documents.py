"""The documents of invoices. Each is made once and kept: what is issued never changes."""

from uuid import UUID

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.document import ServedFile, read_document_token, signed_document_url
from schema.invoice.invoice import Invoice
from store.document.cache import disposition
from store.document.invoice.factur_x import render_invoice

FOLDER = "invoices"


@derives(Invoice, "pdf_url")
def _pdf_url(context: Context, id: UUID) -> str:
    return signed_document_url(context.services, FOLDER, [str(id)], "pdf")


async def find_invoice_file(services: Services, token: str) -> ServedFile:
    """The document of a signed address. Raises NotFound for one that is forged or too old."""
    (id,) = read_document_token(services, FOLDER, token)
    made = await render_invoice(services.db, services.files, UUID(id))
    return ServedFile(made.content, "application/pdf", disposition(made.file_name))
