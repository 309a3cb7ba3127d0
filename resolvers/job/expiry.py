"""Expires vouchers, gift cards, holds and payment requests. Checks compare the expiry time themselves, so they do not depend on these
jobs.
"""

import datetime as dt
from collections.abc import Awaitable, Callable
from functools import partial

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from resolvers.payment.requests import states as request_states
from store.gift_card import holds
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import network_vouchers
from store.voucher import states

log = structlog.get_logger(__name__)
BATCH_SIZE = 200
"""Rows per transaction, so that none is locked for long."""


async def expire_vouchers(services: Services) -> int:
    """Expire the vouchers of partners and of networks that are due; returns their number. An expiry day ends at midnight in
    the marketplace's time zone.
    """
    own = await _run_in_batches(services, states.expire_vouchers, "vouchers have expired")
    return own + await _run_in_batches(services, network_vouchers.expire, "network vouchers have expired")


async def expire_gift_cards(services: Services) -> int:
    """Expire the gift cards of partners and of networks that are due; returns their number."""
    own = await _run_in_batches(services, holds.expire_cards, "gift cards have expired")
    return own + await _run_in_batches(services, network_gift_cards.expire, "network gift cards have expired")


async def expire_gift_card_holds(services: Services) -> int:
    """Release the gift card holds that have expired; returns their number."""
    return await _run_in_batches(services, holds.expire_holds, "holds of gift cards have expired")


async def expire_payment_requests(services: Services) -> int:
    """Expire the payment requests that were not paid in time; returns their number."""
    return await _run_in_batches(services, request_states.expire_requests, "payment requests have expired")


async def remind_customers(services: Services) -> int:
    """Queue the reminders of payment requests that are due; returns their number."""
    remind = partial(request_states.remind_customers, settings=services.settings)
    return await _run_in_batches(services, remind, "customers are reminded of payment requests")


async def _run_in_batches(
    services: Services, work: Callable[[AsyncSession, dt.datetime, int], Awaitable[int]], said: str
) -> int:
    """Safe to run at any time and concurrently: locked rows are skipped and handled by the next run."""
    now, count, batch = services.clock.now(), 0, BATCH_SIZE
    while batch == BATCH_SIZE:
        async with services.db.sessions() as db, db.begin():
            batch = await work(db, now, BATCH_SIZE)
        count += batch
    if count:
        log.info(said, count=count)
    return count
