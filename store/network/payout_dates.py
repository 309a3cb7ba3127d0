"""The dates that decide about the payout of usages and payments, while they are in no payout."""

import datetime as dt
from collections.abc import Iterable
from typing import TypeAlias

from sqlmodel import col, select, update
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.network.errors import UsageInPayout
from schema.validation.dates import moment_in
from store.ledger.journals import LedgerSubject, journals_of
from store.ledger.payables import move_payable_items
from store.ledger.rows import LedgerJournalRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherUsageRow
from store.partner.checks import check_freezing
from store.partner.partners import PartnerRow
from store.payment.journals import journals_of_payments
from store.payment.payments import PaymentRow
from store.voucher.payment import zone_of

NetworkUsageRow: TypeAlias = NetworkGiftCardUsageRow | NetworkVoucherUsageRow


async def chosen_date(db: AsyncSession, partner_id: int, moment: dt.datetime | None) -> dt.datetime | None:
    """The date that decides about a payout, in UTC. Raises InvalidInput if the partner may not choose one."""
    check_freezing(await db.get_one(PartnerRow, partner_id), moment)
    return moment_in(await zone_of(db, partner_id), moment)


async def move_usage(db: AsyncSession, usage: NetworkUsageRow, date: dt.datetime | None) -> None:
    """Have a locked usage count for payouts on another date; None: when it was used. What was cancelled stays as it is.

    Raises UsageInPayout.
    """
    if usage.payout_request_id is not None:
        raise UsageInPayout
    if usage.is_active:
        usage.freeze_payout_date = date
        subject = LedgerSubject(((usage.__tablename__, str(usage.id)),))
        await _move(db, (await journals_of(db, {usage.id: subject}))[usage.id], date or usage.used_on)


async def move_payment(db: AsyncSession, payment: PaymentRow) -> None:
    """Have a payment count for payouts on its date, and with it its usages that are in no payout. Its cards must be locked."""
    table = NetworkGiftCardUsageRow
    paid_out = select(table.id).where(col(table.payment_id) == payment.id, col(table.payout_request_id).is_not(None))
    fixed = {(table.__tablename__, str(id)) for id in await db.exec(paid_out)}
    moved = update(table).where(col(table.payment_id) == payment.id, col(table.payout_request_id).is_(None))
    await db.exec(moved.values(freeze_payout_date=payment.freeze_payout_date))
    journals = (await journals_of_payments(db, [payment.id]))[payment.id]
    movable = (journal for journal in journals if (journal.source_kind, journal.source_id) not in fixed)
    await _move(db, movable, payment.freeze_payout_date)


async def _move(db: AsyncSession, journals: Iterable[LedgerJournalRow], payable_at: dt.datetime | None) -> None:
    await move_payable_items(db, [journal.id for journal in journals], payable_at)
