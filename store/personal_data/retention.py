"""Erases, after a time, what orders and checkouts have about people: a batch at a time, one row a transaction."""

import datetime as dt
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.order.orders import OrderRow
from store.payment.attempts import AttemptRow, AttemptState
from store.personal_data.emptied import emptied_attempt
from store.personal_data.erasure import document_keys_of, erase_rows
from store.personal_data.obstacles import find_obstacles
from store.personal_data.rows import PersonRows, lock_rows, rows_of_order

NEVER_ORDERED = (AttemptState.FAILED, AttemptState.REFUNDED)


async def orders_to_erase(db: AsyncSession, before: dt.datetime, after_id: int, most: int) -> Sequence[int]:
    """The ids of the next orders that are older than `before` and whose data were not erased, in ascending order."""
    row = OrderRow
    due = col(row.personal_data_erased_on).is_(None), col(row.created_on) < before, col(row.id) > after_id
    return (await db.exec(select(row.id).where(*due).order_by(col(row.id)).limit(most))).all()


async def erase_order(db: AsyncSession, order_id: int, now: dt.datetime) -> Sequence[str] | None:
    """Erase the data of everybody that an order names; returns the keys of its documents in the file store. None, and
    nothing is changed, if it was erased already, if somebody is changing it, or while something of it is not paid,
    delivered or decided: it is tried again another day.
    """
    order = await db.get(OrderRow, order_id)
    if order is None:
        return None
    person_rows = await rows_of_order(db, order)
    if (
        not await lock_rows(db, person_rows)
        or order.personal_data_erased_on is not None
        or await find_obstacles(db, person_rows)
    ):
        return None
    await erase_rows(db, person_rows, now)
    return document_keys_of(person_rows)


async def checkouts_to_erase(db: AsyncSession, before: dt.datetime, most: int) -> Sequence[UUID]:
    """The ids of checkouts before this time that never became orders, and whose data were not erased; oldest first."""
    row = AttemptRow
    due = col(row.personal_data_erased_on).is_(None), col(row.state).in_(NEVER_ORDERED), col(row.created_on) < before
    query = select(row.id).where(*due).order_by(col(row.created_on), col(row.id)).limit(most)
    return (await db.exec(query)).all()


async def erase_checkout(db: AsyncSession, attempt_id: UUID, now: dt.datetime) -> bool:
    """Erase the data of everybody that a checkout names. False if it is being changed, or is paid after all."""
    row = AttemptRow
    is_due = col(row.id) == attempt_id, col(row.state).in_(NEVER_ORDERED), col(row.personal_data_erased_on).is_(None)
    attempt = (await db.exec(select(row).where(*is_due).with_for_update(skip_locked=True))).one_or_none()
    if attempt is None:
        return False
    left = emptied_attempt(PersonRows(attempt.partner_id), attempt)
    emptied = update(row).where(col(row.id) == attempt_id).values({**left, "personal_data_erased_on": now})
    await db.exec(emptied.execution_options(synchronize_session=False))
    return True
