"""State transitions of vouchers, and the permission that each one needs."""

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from schema.voucher.voucher import VoucherState
from store.voucher.events import emit_voucher_state_changed
from store.voucher.payment import activate_vouchers
from store.voucher.rules import REDEEMABLE
from store.voucher.vouchers import VoucherRow

DRAFT, PAID, ERROR = VoucherState.DRAFT, VoucherState.PAID, VoucherState.ERROR
USING, USED, EXPIRED = VoucherState.USING, VoucherState.USED, VoucherState.EXPIRED
USE, UPDATE, REOPEN = Permission.USE_VOUCHER, Permission.UPDATE_VOUCHER, Permission.REOPEN_VOUCHER

TRANSITIONS: Mapping[tuple[VoucherState, VoucherState], Permission] = MappingProxyType(
    {
        (DRAFT, PAID): UPDATE,
        (DRAFT, ERROR): UPDATE,
        (ERROR, DRAFT): UPDATE,
        (ERROR, PAID): UPDATE,
        (PAID, USING): USE,
        (PAID, USED): USE,
        (PAID, EXPIRED): UPDATE,
        (PAID, ERROR): UPDATE,
        (USING, USED): USE,
        (USING, PAID): UPDATE,
        (USING, EXPIRED): UPDATE,
        (USED, USING): REOPEN,
        (USED, PAID): REOPEN,
        (EXPIRED, PAID): REOPEN,
    }
)
"""The allowed transitions as (from, to) -> the permission that the caller needs."""


def transition_permission(old: VoucherState, new: VoucherState) -> Permission | None:
    """The permission of a transition; None if the state stays the same. Raises InvalidTransition."""
    if old is new:
        return None
    if (old, new) not in TRANSITIONS:
        raise InvalidTransition(thing="A voucher", old=old, new=new)
    return TRANSITIONS[old, new]


async def transition(db: AsyncSession, voucher: VoucherRow, new: VoucherState, now: dt.datetime) -> bool:
    """Change the state of a locked voucher and emit the event. Returns False, without change, if it has that state.

    The first change to PAID activates the voucher. A change to USED sets `used_on`; any other change clears it. The
    caller checks the permission. Raises InvalidTransition.
    """
    old = voucher.state
    if transition_permission(old, new) is None:
        return False
    voucher.state = new
    voucher.used_on = now if new is USED else None
    if new is PAID:
        await activate_vouchers(db, [voucher], now)
    await db.flush()
    await emit_voucher_state_changed(db, voucher, old)
    return True


async def expire_vouchers(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire at most `most` vouchers that are due, oldest first; returns their number. Locked rows are skipped."""
    due = (
        select(VoucherRow)
        .where(col(VoucherRow.state).in_(REDEEMABLE), col(VoucherRow.expires_on) <= now)
        .order_by(col(VoucherRow.expires_on), col(VoucherRow.id))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    rows = (await db.exec(due)).all()
    for row in rows:
        await transition(db, row, EXPIRED, now)
    return len(rows)
