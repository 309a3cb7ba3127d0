"""Emits the events about invoices. `schema.event_payments` documents their data."""

from collections.abc import Iterable

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from store.event.data import money_data
from store.event.events import NewEvent, emit
from store.invoice.invoices import InvoiceRow


async def emit_invoice_events(db: AsyncSession, invoices: Iterable[InvoiceRow]) -> None:
    """Emit the event of each new invoice, in the transaction that issues it."""
    await emit(db, *(_event(invoice) for invoice in invoices))


def _event(invoice: InvoiceRow) -> NewEvent:
    data = {
        "id": str(invoice.id),
        "number": invoice.number,
        "kind": invoice.kind.value,
        "corrects": None if invoice.corrects_id is None else str(invoice.corrects_id),
        "invoicing_date": invoice.invoicing_date.isoformat(),
        "first_day": invoice.first_day.isoformat(),
        "last_day": invoice.last_day.isoformat(),
        "net": money_data(invoice.net_amount, invoice.currency),
        "vat": money_data(invoice.vat_amount, invoice.currency),
        "total": money_data(invoice.total_amount, invoice.currency),
    }
    return NewEvent(EventType.INVOICE_ISSUED, partner_id=invoice.partner_id, subject=str(invoice.id), data=data)
