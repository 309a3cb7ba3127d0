"""What payout requests contain: payments, pay-ins and refunds, and transfers."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, bindparam, func, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.payout import PayoutReference, PayoutRequestStatus
from store.payment.payments import PaymentRow, PaymentTransactionRow
from store.payment.transfers import TransferRow

ITEMS = """(
    SELECT i.payout_request_id AS request_id, i.* FROM payable_item i WHERE i.payout_request_id = ANY(CAST(:ids AS int[]))
    UNION ALL
    SELECT f.payout_request_id, i.* FROM former_payout_item f JOIN payable_item i ON i.id = f.payable_item_id
    WHERE f.payout_request_id = ANY(CAST(:ids AS int[]))
)"""
"""SQL: the items of requests; of those that were cancelled or have failed, the ones that they had."""
EARNED = "(j.kind = 'payment' AND j.source_kind = 'payment' OR j.kind = 'capture' AND j.source_kind = 'network_gift_card_usage')"
PAYMENT_ID = """CASE j.source_kind WHEN 'payment' THEN CAST(j.source_id AS uuid)
    ELSE (SELECT u.payment_id FROM network_gift_card_usage u WHERE u.id = CAST(j.source_id AS int)) END"""
PAYMENTS = text(f"""
    SELECT DISTINCT i.request_id, {PAYMENT_ID} AS payment_id FROM {ITEMS} i JOIN ledger_journal j ON j.id = i.journal_id
    WHERE {EARNED}
""")  # noqa: S608 - of SQL in this file
TRANSACTIONS = text(f"""
    SELECT i.request_id, t.id FROM {ITEMS} i JOIN ledger_journal j ON j.id = i.journal_id
    JOIN payment_transaction t ON t.payment_id = {PAYMENT_ID} AND t.type = 'payin' AND t.status = 'ok'
    WHERE {EARNED}
    UNION
    SELECT i.request_id, CAST(split_part(j.source_id, ':', 2) AS int) FROM {ITEMS} i
    JOIN ledger_journal j ON j.id = i.journal_id WHERE j.source_kind = 'refund'
""")  # noqa: S608 - of SQL in this file
OF_PAYMENTS = text("""
    SELECT DISTINCT ON (g.payment_id) g.payment_id, r.id, r.status, r.created_on, r.validated_on
    FROM (
        SELECT id AS payment_id, 'payment' AS source_kind, id::text AS source_id, 'payment' AS kind
        FROM unnest(CAST(:ids AS uuid[])) AS p (id)
        UNION ALL
        SELECT u.payment_id, 'network_gift_card_usage', u.id::text, 'capture' FROM network_gift_card_usage u
        WHERE u.payment_id = ANY(CAST(:ids AS uuid[]))
    ) g
    JOIN ledger_journal j ON (j.source_kind, j.source_id, j.kind) = (g.source_kind, g.source_id, g.kind)
    JOIN payable_item i ON i.journal_id = j.id
    JOIN payout_request r ON r.id = i.payout_request_id
    ORDER BY g.payment_id, r.id
""")
OF_SOURCES = text("""
    SELECT DISTINCT j.source_id FROM unnest(CAST(:ids AS text[])) AS g (id)
    JOIN ledger_journal j ON (j.source_kind, j.source_id) = (:kind, g.id)
    JOIN payable_item i ON i.journal_id = j.id
    JOIN payout_request r ON r.id = i.payout_request_id AND r.status <> 'to be validated'
""")

PAID_OUT_UNTIL = text("""
    SELECT max(least(r.created_on, (r.last_day + 1)::timestamp AT TIME ZONE m.time_zone))
    FROM payout_request r JOIN partner p ON p.id = r.partner_id JOIN marketplace m ON m.id = p.marketplace_id
    WHERE r.partner_id = :id AND r.status IN ('validated', 'paid')
""")


async def payments_of(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, list[PaymentRow]]:
    """The payments that payout requests pay out, newest first."""
    found = [(row.request_id, row.payment_id) for row in await _rows(db, PAYMENTS, ids) if row.payment_id]
    return _grouped(found, await _newest_first(db, PaymentRow, found))


async def transactions_of(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, list[PaymentTransactionRow]]:
    """The pay-ins of the payments of payout requests, and the parts of refunds that they take back, newest first."""
    found = [(row.request_id, row.id) for row in await _rows(db, TRANSACTIONS, ids)]
    return _grouped(found, await _newest_first(db, PaymentTransactionRow, found))


async def transfers_of(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, list[TransferRow]]:
    """The transfers that were made for payout requests, newest first."""
    query = select(TransferRow).where(col(TransferRow.payout_request_id).in_(ids)).order_by(col(TransferRow.id).desc())
    rows = (await db.exec(query)).all()
    return _grouped([(row.payout_request_id, row.id) for row in rows if row.payout_request_id is not None], rows)


async def payouts_of_payments(db: AsyncSession, ids: Sequence[UUID]) -> Mapping[UUID, PayoutReference]:
    """The payout requests that payments are in, by the payment's id."""
    return {
        row.payment_id: PayoutReference(
            id=row.id,
            status=PayoutRequestStatus(row.status),
            created_on=row.created_on,
            validated_on=row.validated_on,
        )
        for row in await _rows(db, OF_PAYMENTS, ids)
    }


async def ids_in_payouts(db: AsyncSession, source_kind: str, ids: Sequence[int]) -> set[int]:
    """Those of these usages that are in a payout request which is validated."""
    values = {"kind": source_kind, "ids": [str(id) for id in ids]}
    return {int(id) for id in (await (await db.connection()).execute(OF_SOURCES, values)).scalars()}


async def paid_out_until(db: AsyncSession, partner_id: int) -> dt.datetime | None:
    """When the last payout request of a partner that was validated had gathered what it pays out; None if there is none."""
    found: dt.datetime | None = (await (await db.connection()).execute(PAID_OUT_UNTIL, {"id": partner_id})).scalar_one()
    return found


async def _rows(db: AsyncSession, statement: Any, ids: Sequence[Any]) -> Sequence[Any]:
    return (await (await db.connection()).execute(statement, {"ids": list(ids)})).all()


async def _newest_first(db: AsyncSession, table: Any, pairs: Sequence[tuple[int, Any]]) -> Sequence[Any]:
    """The rows that were found for requests. Their ids are one parameter: more of them than PostgreSQL takes are possible."""
    ids = bindparam("ids", list({id for _, id in pairs}), type_=ARRAY(table.__table__.c.id.type))
    query = select(table).where(table.id == func.any(ids))
    return (await db.exec(query.order_by(table.created_on.desc(), table.id.desc()))).all()


def _grouped(pairs: Sequence[tuple[int, Any]], rows: Sequence[Any]) -> dict[int, list[Any]]:
    """Rows, in their order, by the request that they were found for."""
    requests: dict[Any, list[int]] = defaultdict(list)
    for request_id, id in pairs:
        requests[id].append(request_id)
    grouped: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        for request_id in requests[row.id]:
            grouped[request_id].append(row)
    return grouped
