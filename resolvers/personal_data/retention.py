"""The scheduled erasure of personal data: of orders and the audit log by a setting, of checkouts that failed always."""

import datetime as dt

import structlog

from resolvers.core.auditing import audit_program
from resolvers.core.services import Services
from store.job.cursors import advance_cursor, read_until
from store.personal_data.audit_log import erase_old_from_log
from store.personal_data.retention import checkouts_to_erase, erase_checkout, erase_order, orders_to_erase

log = structlog.get_logger(__name__)
BATCH = 200
LOG_CURSOR = "personal_data_of_audit_log"


async def erase_old_data(services: Services) -> None:
    """Erase the personal data of checkouts that never became orders after `COFFRET_CHECKOUT_DAYS`, and those of orders and
    of the audit log after `COFFRET_PERSONAL_DATA_DAYS`, if that is set. One entry of the audit log tells how many.
    """
    now, settings = services.clock.now(), services.settings
    done = {"checkouts": await _erase_checkouts(services, now - dt.timedelta(days=settings.checkout_days))}
    if settings.personal_data_days is not None:
        before = now - dt.timedelta(days=settings.personal_data_days)
        done["orders"] = await _erase_orders(services, before)
        await _erase_log(services, before)
    if any(done.values()):
        log.info("old personal data were erased", **done)
        async with services.db.sessions() as db, db.begin():
            await audit_program(db, "erase_old_personal_data", done)


async def _erase_orders(services: Services, before: dt.datetime) -> int:
    """Returns the number of erased orders. Those that cannot be erased yet are passed over."""
    last, erased = 0, 0
    while True:
        async with services.db.sessions() as db:
            ids = await orders_to_erase(db, before, last, BATCH)
        for id in ids:
            async with services.db.sessions() as db, db.begin():
                documents = await erase_order(db, id, services.clock.now())
            if documents is not None:
                await services.files.delete(*documents)
                erased += 1
        if len(ids) < BATCH:
            return erased
        last = ids[-1]


async def _erase_checkouts(services: Services, before: dt.datetime) -> int:
    """Returns the number of erased checkouts. If a whole batch is being changed, the rest waits for the next day."""
    erased = 0
    while True:
        async with services.db.sessions() as db:
            ids = await checkouts_to_erase(db, before, BATCH)
        in_batch = 0
        for id in ids:
            async with services.db.sessions() as db, db.begin():
                documents = await erase_checkout(db, id, services.clock.now())
            if documents is not None:
                await services.files.delete(*documents)
                in_batch += 1
        erased += in_batch
        if len(ids) < BATCH or not in_batch:
            return erased


async def _erase_log(services: Services, before: dt.datetime) -> None:
    while True:
        async with services.db.sessions() as db, db.begin():
            more = await erase_old_from_log(db, await read_until(db, LOG_CURSOR), before, BATCH)
            await advance_cursor(db, LOG_CURSOR, before if more is None else more)
        if more is None:
            return
