"""What is over: vouchers, gift cards and holds. Whoever asks whether one can be used is told so by its day already."""

import datetime as dt
from collections.abc import Awaitable, Callable

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Services
from store.gift_card import holds
from store.voucher import states

log = structlog.get_logger(__name__)
AT_ONCE = 200
"""Rows moved in one transaction, so that none is locked for long."""


async def expire_vouchers(services: Services) -> int:
    """Expire the vouchers whose time is over; answers how many. Days end when they end at the marketplace."""
    return await _all(services, states.expire_due, "vouchers have expired")


async def expire_gift_cards(services: Services) -> int:
    """Expire the gift cards whose time is over; answers how many."""
    return await _all(services, holds.expire_cards, "gift cards have expired")


async def expire_gift_card_holds(services: Services) -> int:
    """Put back what was held too long; answers how many holds."""
    return await _all(services, holds.expire_holds, "holds of gift cards have expired")


async def _all(
    services: Services, expire: Callable[[AsyncSession, dt.datetime, int], Awaitable[int]], said: str
) -> int:
    """Safe to run at any time, and at once: what somebody holds at the moment is left alone, and seen to the next time."""
    now, count, found = services.clock.now(), 0, AT_ONCE
    while found == AT_ONCE:
        async with services.db.sessions() as db, db.begin():
            found = await expire(db, now, AT_ONCE)
        count += found
    if count:
        log.info(said, count=count)
    return count
