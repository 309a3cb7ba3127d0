"""Notes that vouchers have expired, in their states: who asks whether one can be used is told so by its day already."""

import structlog

from resolvers.context import Services
from store.voucher_states import expire_due

log = structlog.get_logger(__name__)
AT_ONCE = 200
"""Vouchers moved in one transaction, so that none is locked for long."""


async def expire_vouchers(services: Services) -> int:
    """Expire the vouchers whose time is over; answers how many.

    Days end when they end at the marketplace: that is in `expires_on`. It may run at any time and any number of times, also at
    once: whoever holds a voucher at the moment is left alone, and seen to the next time.
    """
    now, count, found = services.clock.now(), 0, AT_ONCE
    while found == AT_ONCE:
        async with services.db.sessions() as db, db.begin():
            found = await expire_due(db, now, AT_ONCE)
        count += found
    if count:
        log.info("vouchers have expired", count=count)
    return count
