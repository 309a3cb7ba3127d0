"""State transitions of vouchers, and the permission that each one needs."""

import datetime as dt
from collections.abc import Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import FrozenByDispute
from schema.core.permission import Permission
from schema.payment.errors import VoucherRefunded
from schema.voucher.voucher import VoucherState
from store.core.state_machine import StateMachine
from store.voucher.events import emit_voucher_state_changed
from store.voucher.payment import activate_vouchers
from store.voucher.rules import REDEEMABLE
from store.voucher.vouchers import VoucherRow

DRAFT, PAID, ERROR = VoucherState.DRAFT, VoucherState.PAID, VoucherState.ERROR
USING, USED, EXPIRED = VoucherState.USING, VoucherState.USED, VoucherState.EXPIRED
USE, UPDATE, REOPEN = Permission.USE_VOUCHER, Permission.UPDATE_VOUCHER, Permission.REOPEN_VOUCHER

TRANSITIONS = StateMachine(
    "A voucher",
    {
        DRAFT: {PAID: UPDATE, ERROR: UPDATE},
        ERROR: {DRAFT: UPDATE, PAID: UPDATE},
        PAID: {USING: USE, USED: USE, EXPIRED: UPDATE, ERROR: UPDATE},
        USING: {USED: USE, PAID: UPDATE, EXPIRED: UPDATE},
        USED: {USING: REOPEN, PAID: REOPEN},
        EXPIRED: {PAID: REOPEN},
    },
    asked_for=True,
)
OF_VALUE = (PAID, USING, USED)
"""The states of a voucher that can be used, or was. One that was refunded enters none of them."""


def transition_permission(old: VoucherState, new: VoucherState) -> Permission | None:
    """The permission of a transition; None if the state stays the same. Raises InvalidTransition."""
    return None if old is new else TRANSITIONS.permission(old, TRANSITIONS.require(old, new))


async def transition(db: AsyncSession, voucher: VoucherRow, new: VoucherState, now: dt.datetime) -> bool:
    """Change the state of a locked voucher and emit the event. Returns False, without change, if it has that state.

    The first change to PAID activates the voucher. A change to USED sets `used_on`; any other change clears it. The
    caller checks the permission. Raises InvalidTransition, FrozenByDispute for a use of a frozen voucher, and
    VoucherRefunded if a refunded one would become usable, or be used.
    """
    old = voucher.state
    if old is new:
        return False
    if TRANSITIONS.permission(old, new) is USE and voucher.frozen_on is not None:
        raise FrozenByDispute
    if new in OF_VALUE and voucher.refunded_on is not None:
        raise VoucherRefunded
    voucher.state = TRANSITIONS.require(old, new)
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


async def lock_vouchers_of_order(db: AsyncSession, order_id: int) -> Sequence[VoucherRow]:
    """Lock the vouchers that were sold with an order, by ascending id."""
    query = select(VoucherRow).where(col(VoucherRow.order_id) == order_id).order_by(col(VoucherRow.id))
    return (await db.exec(query.with_for_update().execution_options(populate_existing=True))).all()
