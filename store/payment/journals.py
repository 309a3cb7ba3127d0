"""The journals of payments: their pay-in, what their gift cards moved, and their refunds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.ledger.journals import LedgerSubject, journals_of
from store.ledger.rows import LedgerJournalRow
from store.payment.disputes import DisputeRow
from store.payment.payments import RefundRow

USAGES = text(
    "SELECT payment_id, id FROM network_gift_card_usage WHERE payment_id = ANY(CAST(:ids AS uuid[])) ORDER BY id"
)
"""The usages of networks' gift cards that are parts of payments."""


async def journals_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, list[LedgerJournalRow]]:
    """The journals of payments by the id of the payment, oldest first."""
    subjects = await subjects_of_payments(db, ids)
    return await journals_of(db, subjects)


async def subjects_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, LedgerSubject]:
    """What the journals of payments are about: the payments, their usages of networks' gift cards, their refunds and their
    disputes.
    """
    sources: dict[UUID, list[tuple[str, str]]] = defaultdict(list)
    for kind, table in (("refund", RefundRow), ("dispute", DisputeRow)):
        query = select(col(table.payment_id), col(table.id)).where(col(table.payment_id).in_(ids))
        for payment_id, id in (await db.exec(query)).all():
            sources[payment_id].append((kind, str(id)))
    for payment_id, id in (await (await db.connection()).execute(USAGES, {"ids": list(ids)})).all():
        sources[payment_id].append(("network_gift_card_usage", str(id)))
    # A payment of a checkout has the id of its attempt.
    return {id: LedgerSubject((("payment", str(id)), ("checkout_attempt", str(id)), *sources[id])) for id in ids}
