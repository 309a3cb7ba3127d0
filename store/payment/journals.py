"""The journals of payments: their pay-in, what their gift cards moved, and their refunds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.ledger.journals import LedgerSubject, journals_of
from store.ledger.rows import LedgerJournalRow
from store.payment.disputes import DisputeRow
from store.payment.payments import RefundRow


async def journals_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, list[LedgerJournalRow]]:
    """The journals of payments by the id of the payment, oldest first."""
    subjects = await subjects_of_payments(db, ids)
    return await journals_of(db, subjects)


async def subjects_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, LedgerSubject]:
    """What the journals of payments are about: the payments, their refunds and their disputes."""
    sources: dict[UUID, list[tuple[str, str]]] = defaultdict(list)
    for kind, table in (("refund", RefundRow), ("dispute", DisputeRow)):
        query = select(col(table.payment_id), col(table.id)).where(col(table.payment_id).in_(ids))
        for payment_id, id in (await db.exec(query)).all():
            sources[payment_id].append((kind, str(id)))
    # A payment of a checkout has the id of its attempt.
    return {id: LedgerSubject((("payment", str(id)), ("checkout_attempt", str(id)), *sources[id])) for id in ids}
