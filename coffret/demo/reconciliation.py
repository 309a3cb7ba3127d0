"""Creates the demo reconciliation: what last night's run has found, in every state."""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.payment.payment import PaymentTransactionStatus, PaymentTransactionType
from schema.reconciliation import ReconciliationFindingKind as Kind
from schema.reconciliation import ReconciliationFindingState as State
from schema.reconciliation import ReconciliationRunState
from store.partner.partners import MarketplaceRow
from store.payment.payments import PaymentTransactionRow
from store.reconciliation.rows import ReconciliationFindingRow, ReconciliationRunRow

DAY, PERIOD = dt.timedelta(days=1), dt.timedelta(days=10)
TOOK = dt.timedelta(minutes=7)
NIGHT = dt.time(1, 23, tzinfo=dt.UTC)


async def add_findings(services: Services, marketplace_id: int) -> None:
    """Last night's run, and findings as runs and people leave them. The next run resolves the one that is open: a payment
    whose notification was late.
    """
    now = services.clock.now()
    until = dt.datetime.combine(now.date(), NIGHT) - (DAY if now.time() < NIGHT.replace(tzinfo=None) else DAY * 0)
    async with services.db.sessions() as db, db.begin():
        late = await _newest_payin(db)
        currency = (await db.get_one(MarketplaceRow, marketplace_id)).currency
        payin: dict[str, Any] = {"subject": late.provider_id, "provider_amount": late.transaction_amount}
        notice = "It has succeeded there, and is not recorded as done."
        taken = "The wallet of fees."
        by_hand = "A transfer that nothing here tells of."
        common: dict[str, Any] = {"currency": currency, "marketplace_id": marketplace_id}
        db.add_all(
            [
                ReconciliationRunRow(
                    state=ReconciliationRunState.DONE,
                    since=until - PERIOD,
                    until=until,
                    sent_at=until,
                    finished_on=until + TOOK,
                    movements=19,
                ),
                ReconciliationFindingRow(
                    kind=Kind.MISSING_HERE,
                    state=State.RESOLVED,
                    subject="xfer_by_hand",
                    provider_amount=Decimal("25.00"),
                    detail=by_hand,
                    first_seen_on=until - 3 * DAY,
                    last_seen_on=until - 3 * DAY,
                    closed_on=until - 2 * DAY,
                    **common,
                ),
                ReconciliationFindingRow(
                    kind=Kind.BALANCE,
                    state=State.EXPLAINED,
                    subject=f"FEES_{currency}",
                    provider_amount=Decimal("102.40"),
                    own_amount=Decimal("111.40"),
                    detail=taken,
                    reason="The payment provider has taken its monthly invoice.",
                    first_seen_on=until - 2 * DAY,
                    last_seen_on=until - 2 * DAY,
                    closed_on=until - 2 * DAY + TOOK,
                    currency=currency,
                ),
                ReconciliationFindingRow(
                    kind=Kind.DIFFERS,
                    own_amount=late.transaction_amount,
                    detail=notice,
                    first_seen_on=until + TOOK,
                    last_seen_on=until + TOOK,
                    **payin,
                    **common,
                ),
            ]
        )


async def _newest_payin(db: AsyncSession) -> PaymentTransactionRow:
    table = PaymentTransactionRow
    done = (
        col(table.type) == PaymentTransactionType.PAYIN,
        col(table.status) == PaymentTransactionStatus.OK,
        col(table.provider_id) != "",
    )
    return (await db.exec(select(table).where(*done).order_by(col(table.id).desc()).limit(1))).one()
