"""The journals of payments: their pay-in, what their gift cards moved, and their refunds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournal
from store.ledger.rows import LedgerJournalRow

OF_PAYMENTS = text("""
    SELECT s.payment_id, j.id FROM (
        SELECT id AS payment_id, 'payment' AS kind, id::text AS first, id::text || '!' AS last
        FROM payment WHERE id = ANY(:ids)
        UNION ALL
        SELECT payment_id, 'refund', id::text || ':', id::text || ';' FROM refund WHERE payment_id = ANY(:ids)
        UNION ALL
        SELECT id, 'payment', id::text || ':', id::text || ';' FROM payment WHERE id = ANY(:ids)
        UNION ALL
        SELECT id, 'checkout_attempt', attempt_id::text || ':', attempt_id::text || ';'
        FROM payment WHERE id = ANY(:ids) AND attempt_id IS NOT NULL
    ) s JOIN ledger_journal j ON j.source_kind = s.kind AND j.source_id COLLATE "C" >= s.first COLLATE "C"
        AND j.source_id COLLATE "C" < s.last COLLATE "C"
    ORDER BY j.recorded_on, j.id
""")


async def journals_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, list[LedgerJournal]]:
    """The journals of payments by the id of the payment, oldest first."""
    found = (await (await db.connection()).execute(OF_PAYMENTS, {"ids": list(ids)})).all()
    query = select(LedgerJournalRow).where(col(LedgerJournalRow.id).in_([row.id for row in found]))
    rows = {row.id: row for row in (await db.exec(query)).all()}
    journals: dict[UUID, list[LedgerJournal]] = defaultdict(list)
    for row in found:
        journals[row.payment_id].append(rows[row.id])
    return journals
