"""The journals of payments: their pay-in, what their gift cards moved, and their refunds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournal
from store.ledger.journals import LedgerSubject, journals_of
from store.payment.disputes import DisputeRow
from store.payment.payments import RefundRow


async def journals_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, list[LedgerJournal]]:
    """The journals of payments by the id of the payment, oldest first."""
    refunds = select(col(RefundRow.payment_id), col(RefundRow.id)).where(col(RefundRow.payment_id).in_(ids))
    sources: dict[UUID, list[tuple[str, str]]] = defaultdict(list)
    for payment_id, refund_id in (await db.exec(refunds)).all():
        sources[payment_id].append(("refund", str(refund_id)))
    disputes = select(col(DisputeRow.payment_id), col(DisputeRow.id)).where(col(DisputeRow.payment_id).in_(ids))
    for payment_id, dispute_id in (await db.exec(disputes)).all():
        sources[payment_id].append(("dispute", str(dispute_id)))
    # A payment of a checkout has the id of its attempt.
    subjects = {id: LedgerSubject((("payment", str(id)), ("checkout_attempt", str(id)), *sources[id])) for id in ids}
    return {id: list(rows) for id, rows in (await journals_of(db, subjects)).items()}
