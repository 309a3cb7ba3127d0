"""Gathers what is due to partners when their periods are over, and validates what is validated automatically."""

import datetime as dt
from zoneinfo import ZoneInfo

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from resolvers.payment.payouts.validation import validate_payout
from schema.core.errors import AppError
from schema.event import EventType
from schema.partner.parts import PayoutFrequency
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.events import emit_payout_events
from store.payout.gathering import ClosedPeriod, claim_partners, gather, lowered_payouts, refresh
from store.payout.periods import last_day_before
from store.payout.requests import OPEN, PayoutRequestRow, lock_payout

log = structlog.get_logger(__name__)
BATCH = 500
"""How many partners are gathered in one transaction."""


async def gather_payouts(services: Services) -> int:
    """Gather what is due to all partners whose period is over, take off open payout requests what was taken back, and validate
    those of partners that have theirs validated automatically; returns the number of new payout requests.
    """
    count = 0
    while True:
        async with services.db.sessions() as db, db.begin():
            due = await claim_partners(db, await _closed_periods(db, services.clock.now()), BATCH)
            payouts = await gather(db, due)
            await emit_payout_events(db, EventType.PAYOUT_REQUEST_CREATED, payouts)
        count += len(payouts)
        if len(due) < BATCH:
            break
    await _lower_open(services)
    await _validate_automatically(services)
    return count


async def _closed_periods(db: AsyncSession, now: dt.datetime) -> list[ClosedPeriod]:
    marketplaces = (await db.exec(select(MarketplaceRow.id, MarketplaceRow.time_zone))).all()
    return [
        ClosedPeriod(id, frequency, last_day_before(frequency, now.astimezone(ZoneInfo(zone)).date()))
        for id, zone in marketplaces
        for frequency in PayoutFrequency
    ]


async def _lower_open(services: Services) -> None:
    """Take off open payout requests what was taken back since, such as by refunds."""
    async with services.db.sessions() as db:
        ids = await lowered_payouts(db)
    for id in ids:
        async with services.db.sessions() as db, db.begin():
            payout = await lock_payout(db, id)
            if payout.status is OPEN:
                await refresh(db, payout)


async def _validate_automatically(services: Services) -> None:
    query = (
        select(PayoutRequestRow.id)
        .join(PartnerRow, col(PartnerRow.id) == col(PayoutRequestRow.partner_id))
        .where(
            col(PayoutRequestRow.status) == OPEN,
            col(PartnerRow.auto_validate_payout),
            col(PartnerRow.block_payout_validation).is_(False),
        )
        .order_by(col(PayoutRequestRow.id))
    )
    async with services.db.sessions() as db:
        ids = (await db.exec(query)).all()
    for id in ids:
        await _try_to_validate(services, id)


async def _try_to_validate(services: Services, id: int) -> None:
    try:
        async with services.db.sessions() as db, db.begin():
            payout = await lock_payout(db, id)
            if payout.status is OPEN:
                await validate_payout(services, db, payout)
    except AppError as refused:
        log.info("a payout request is not validated automatically", payout_request=id, reason=str(refused))
        await _keep_detail(services, id, str(refused))


async def _keep_detail(services: Services, id: int, detail: str) -> None:
    """Tell why an open payout request is not validated."""
    async with services.db.sessions() as db, db.begin():
        payout = await lock_payout(db, id)
        if payout.status is OPEN:
            payout.detail = detail[:300]
