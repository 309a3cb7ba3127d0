"""Usages of networks in payouts: what is in a validated payout request stays there."""

import datetime as dt
from collections.abc import Sequence
from typing import TypeAlias

from sqlmodel import col, select, update
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.network.errors import UsageInPayout
from schema.validation.dates import moment_in
from store.ledger.journals import LedgerSubject, journals_of
from store.ledger.payables import move_payable_items
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherUsageRow
from store.partner.checks import check_freezing
from store.partner.partners import PartnerRow
from store.payment.journals import journals_of_payments
from store.payment.payments import PaymentRow
from store.payout.contents import ids_in_payouts
from store.payout.gathering import drop_moved_items, lock_payouts_with
from store.payout.requests import OPEN, PayoutRequestRow
from store.voucher.payment import zone_of

NetworkUsageRow: TypeAlias = NetworkGiftCardUsageRow | NetworkVoucherUsageRow


async def lock_open_payouts(db: AsyncSession, usage: NetworkUsageRow) -> Sequence[PayoutRequestRow]:
    """Lock the payout requests that a locked usage is in. Raises UsageInPayout if one of them is validated."""
    payouts = await lock_payouts_with(db, await _journals(db, usage))
    if any(payout.status is not OPEN for payout in payouts):
        raise UsageInPayout
    return payouts


async def _journals(db: AsyncSession, usage: NetworkUsageRow) -> Sequence[int]:
    subject = LedgerSubject(((usage.__tablename__, str(usage.id)),))
    return [journal.id for journal in (await journals_of(db, {usage.id: subject}))[usage.id]]


async def chosen_date(db: AsyncSession, partner_id: int, moment: dt.datetime | None) -> dt.datetime | None:
    """The date that decides about a payout, in UTC. Raises InvalidInput if the partner may not choose one."""
    check_freezing(await db.get_one(PartnerRow, partner_id), moment)
    return moment_in(await zone_of(db, partner_id), moment)


async def move_usage(db: AsyncSession, usage: NetworkUsageRow, date: dt.datetime | None) -> None:
    """Have a locked usage count for payouts on another date; None: when it was used. What was cancelled stays as it is.

    Raises UsageInPayout.
    """
    await lock_open_payouts(db, usage)
    if usage.is_active:
        usage.freeze_payout_date = date
        await _move(db, await _journals(db, usage), date or usage.used_on)


async def move_payment(db: AsyncSession, payment: PaymentRow) -> None:
    """Have a payment count for payouts on its date, and with it its usages. What is in a validated payout request stays there.
    Its cards must be locked.
    """
    table = NetworkGiftCardUsageRow
    ids = (await db.exec(select(table.id).where(col(table.payment_id) == payment.id))).all()
    movable = set(ids) - await ids_in_payouts(db, table.__tablename__, ids)
    await db.exec(update(table).where(col(table.id).in_(movable)).values(freeze_payout_date=payment.freeze_payout_date))
    journals = (await journals_of_payments(db, [payment.id]))[payment.id]
    await _move(db, [journal.id for journal in journals], payment.freeze_payout_date)


async def _move(db: AsyncSession, journal_ids: Sequence[int], payable_at: dt.datetime | None) -> None:
    payouts = [payout for payout in await lock_payouts_with(db, journal_ids) if payout.status is OPEN]
    await move_payable_items(db, journal_ids, payable_at)
    await drop_moved_items(db, payouts, journal_ids)
