"""Mail that brings invoices and credit notes to partners."""

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from store.invoice.invoices import InvoiceRow
from store.mail.content import InvoiceContent
from store.mail.outbox import enqueue_mail
from store.partner.partners import PartnerRow


async def queue_invoice_mail(db: AsyncSession, invoice: InvoiceRow) -> None:
    """Queue the mail of a new invoice to its partner, in the transaction that issues it."""
    partner = await db.get_one(PartnerRow, invoice.partner_id)
    about = InvoiceContent(
        invoice_id=invoice.id,
        number=invoice.number,
        kind=invoice.kind,
        issuer=invoice.issuer_company_name,
        reason=invoice.reason,
        total=abs(invoice.total_amount),
        currency=invoice.currency,
        first_day=invoice.first_day,
        last_day=invoice.last_day,
    )
    await enqueue_mail(
        db,
        MailKind.INVOICE,
        to=partner.agency_email,
        language=invoice.language,
        partner_id=partner.id,
        about=about.model_dump(),
        unique_key=str(invoice.id),
    )
