"""Notes that vouchers have expired, in their states: who asks whether one can be used is told so by its day already."""

import structlog
from sqlmodel import col, select

from resolvers.context import Services
from schema.voucher import VoucherState
from store.voucher_rules import ALIVE
from store.voucher_states import move
from store.vouchers import VoucherRow

log = structlog.get_logger(__name__)
AT_ONCE = 200
"""Vouchers moved in one transaction, so that none is locked for long."""


async def expire_vouchers(services: Services) -> int:
    """Expire the vouchers whose time is over; answers how many.

    Days end when they end at the marketplace: that is in `expires_on`. It may run at any time and any number of times, also at
    once: whoever holds a voucher at the moment is left alone, and seen to the next time.
    """
    now, count = services.clock.now(), 0
    due = (
        select(VoucherRow)
        .where(col(VoucherRow.state).in_(ALIVE), col(VoucherRow.expires_on) <= now)
        .order_by(col(VoucherRow.expires_on), col(VoucherRow.id))
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    while True:
        async with services.db.sessions() as db, db.begin():
            rows = (await db.exec(due)).all()
            for row in rows:
                await move(db, row, VoucherState.EXPIRED, now)
        count += len(rows)
        if len(rows) < AT_ONCE:
            break
    if count:
        log.info("vouchers have expired", count=count)
    return count
