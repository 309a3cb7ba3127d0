"""The payments whose fees are on invoices."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, func, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.payment.payments import PaymentRow

PAYMENTS = text("""
    SELECT DISTINCT l.invoice_id, coalesce(p.id, t.payment_id, g.payment_id) AS payment_id
    FROM invoice_line l JOIN invoiced_fee f ON f.invoice_line_id = l.id JOIN ledger_journal j ON j.id = f.journal_id
    LEFT JOIN payment p ON p.id = CASE WHEN j.source_kind = 'payment' THEN j.source_id::uuid END
    LEFT JOIN payment_transaction t ON t.id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END
    LEFT JOIN network_gift_card_usage g ON g.id = CASE j.source_kind WHEN 'network_gift_card_usage' THEN j.source_id::int END
    WHERE l.invoice_id = ANY(CAST(:ids AS uuid[]))
""")


async def payments_of(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, list[PaymentRow]]:
    """The payments of invoices, newest first, by the invoice's id. Usages of gift cards that are no part of a payment have
    none.
    """
    rows = (await (await db.connection()).execute(PAYMENTS, {"ids": list(ids)})).all()
    invoices_of: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for row in rows:
        if row.payment_id is not None:
            invoices_of[row.payment_id].append(row.invoice_id)
    is_theirs = col(PaymentRow.id) == func.any(bindparam("ids", list(invoices_of), type_=ARRAY(Uuid)))
    query = select(PaymentRow).where(is_theirs)
    found: defaultdict[UUID, list[PaymentRow]] = defaultdict(list)
    for payment in (await db.exec(query.order_by(col(PaymentRow.created_on).desc(), col(PaymentRow.id).desc()))).all():
        for invoice_id in invoices_of[payment.id]:
            found[invoice_id].append(payment)
    return found
