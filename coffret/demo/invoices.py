"""Creates the demo invoices: those of last month, and a credit note that corrects one."""

from sqlmodel import col, delete, select

from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.invoice.issuing import create_credit_note, issue_invoices
from schema.invoice.input import CreateCreditNote
from schema.invoice.invoice import InvoiceKind
from schema.mail import MailKind
from store.invoice.invoices import InvoiceRow
from store.mail.rows import MailRow

REASON = "The management fee of your first month was agreed to be waived."


async def add_invoices(services: Services, marketplace: Context) -> None:
    """Issue the invoices of last month, and correct the smallest one. Nobody gets mail about them."""
    await issue_invoices(services)
    smallest = select(InvoiceRow).where(InvoiceRow.kind == InvoiceKind.INVOICE).order_by(col(InvoiceRow.total_amount))
    async with services.db.sessions() as db:
        invoice = (await db.exec(smallest.limit(1))).one()
    await create_credit_note(marketplace, CreateCreditNote(invoice_id=invoice.id, reason=REASON))
    async with services.db.sessions() as db, db.begin():  # each would have its document made at the first start
        await db.exec(delete(MailRow).where(col(MailRow.kind) == MailKind.INVOICE))
