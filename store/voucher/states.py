"""How vouchers go from state to state, and what each move takes."""

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from schema.voucher.voucher import VoucherState
from store.voucher.activation import pay
from store.voucher.events import tell_of_state
from store.voucher.rules import ALIVE
from store.voucher.vouchers import VoucherRow

DRAFT, PAID, ERROR = VoucherState.DRAFT, VoucherState.PAID, VoucherState.ERROR
USING, USED, EXPIRED = VoucherState.USING, VoucherState.USED, VoucherState.EXPIRED
USE, UPDATE, REOPEN = Permission.USE_VOUCHER, Permission.UPDATE_VOUCHER, Permission.REOPEN_VOUCHER

MOVES: Mapping[tuple[VoucherState, VoucherState], Permission] = MappingProxyType(
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
"""From which state to which, with the permission that whoever moves it needs. There is no other move."""


def permission_for(old: VoucherState, new: VoucherState) -> Permission | None:
    """What a move takes; None for the same state again, which is no move. InvalidTransition where there is none."""
    if old is new:
        return None
    if (old, new) not in MOVES:
        raise InvalidTransition(thing="A voucher", old=old, new=new)
    return MOVES[old, new]


async def move(db: AsyncSession, voucher: VoucherRow, new: VoucherState, now: dt.datetime) -> bool:
    """Move a voucher, which the session has locked, and tell of it; False for the same state again, which changes nothing.

    Becoming paid for the first time lets it work; being used sets the day, and coming back from there clears it. Who may is
    not asked here. InvalidTransition where there is no such move.
    """
    old = voucher.state
    if permission_for(old, new) is None:
        return False
    voucher.state = new
    voucher.used_on = now if new is USED else None
    if new is PAID:
        await pay(db, [voucher], now)
    await db.flush()
    await tell_of_state(db, voucher, old)
    return True


async def expire_due(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire vouchers whose time is over, so many at most, the longest over first; answers how many.

    One that somebody else holds at the moment is left alone.
    """
    due = (
        select(VoucherRow)
        .where(col(VoucherRow.state).in_(ALIVE), col(VoucherRow.expires_on) <= now)
        .order_by(col(VoucherRow.expires_on), col(VoucherRow.id))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    rows = (await db.exec(due)).all()
    for row in rows:
        await move(db, row, EXPIRED, now)
    return len(rows)
