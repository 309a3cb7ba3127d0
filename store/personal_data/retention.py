"""Erases, after a time, what orders and checkouts have about people: a batch at a time, one row a transaction."""

import datetime as dt
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, exists
from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.gift_card.gift_cards import GiftCardRow
from store.order.orders import OrderRow
from store.order.refund_requests import RefundRequestRow
from store.payment.attempts import AttemptRow
from store.personal_data.emptied import NEVER_ORDERED
from store.personal_data.erasure import document_keys_of, erase_rows
from store.personal_data.obstacles import find_obstacles
from store.personal_data.rows import lock_rows, rows_of_checkout, rows_of_order
from store.voucher.vouchers import VoucherRow

GIFTS = (VoucherRow, GiftCardRow)


async def orders_to_erase(db: AsyncSession, before: dt.datetime, after_id: int, most: int) -> Sequence[int]:
    """The ids of the next orders that are older than `before` and name somebody, in ascending order: those of which nothing
    was erased, and those that were erased for their buyer alone, or for which something was entered since.
    """
    row, request = OrderRow, RefundRequestRow
    asked = exists().where(col(request.order_id) == col(row.id), col(request.customer_email) != "")
    is_left = or_(col(row.personal_data_erased_on).is_(None), asked, *(_names_people(kind) for kind in GIFTS))
    query = select(row.id).where(col(row.created_on) < before, is_left, col(row.id) > after_id)
    return (await db.exec(query.order_by(col(row.id)).limit(most))).all()


def _names_people(kind: type[VoucherRow] | type[GiftCardRow]) -> ColumnElement[bool]:
    """Whether an order has a voucher or gift card with the address of somebody."""
    has_address = or_(col(kind.giftee_email) != "", col(kind.gifter_email) != "")
    return exists().where(col(kind.order_id) == col(OrderRow.id), has_address)


async def erase_order(db: AsyncSession, order_id: int, now: dt.datetime) -> Sequence[str] | None:
    """Erase the data of everybody that an order names; returns the keys of its documents in the file store. None, and
    nothing is changed, if nothing is left to erase, if somebody is changing it, or while something of it is not paid,
    delivered or decided: it is tried again another day.
    """
    order = await db.get(OrderRow, order_id)
    if order is None:
        return None
    person_rows = await rows_of_order(db, order)
    if not await lock_rows(db, person_rows) or await find_obstacles(db, person_rows, now):
        return None
    was_erased = order.personal_data_erased_on is not None
    counts, _ = await erase_rows(db, person_rows, now)
    return None if was_erased and not any(counts.values()) else document_keys_of(person_rows)


async def checkouts_to_erase(db: AsyncSession, before: dt.datetime, most: int) -> Sequence[UUID]:
    """The ids of checkouts before this time that never became orders, and whose data were not erased; oldest first."""
    row = AttemptRow
    due = col(row.personal_data_erased_on).is_(None), col(row.state).in_(NEVER_ORDERED), col(row.created_on) < before
    query = select(row.id).where(*due).order_by(col(row.created_on), col(row.id)).limit(most)
    return (await db.exec(query)).all()


async def erase_checkout(db: AsyncSession, attempt_id: UUID, now: dt.datetime) -> Sequence[str] | None:
    """Erase the data of everybody that a checkout and its payment name; returns the keys of its documents in the file store.
    None, and nothing is changed, if it is being changed, or is paid after all, or its money is not back.
    """
    attempt = await db.get(AttemptRow, attempt_id)
    if attempt is None:
        return None
    person_rows = await rows_of_checkout(db, attempt)
    if (
        not await lock_rows(db, person_rows)
        or attempt.state not in NEVER_ORDERED
        or attempt.personal_data_erased_on is not None
        or await find_obstacles(db, person_rows, now)
    ):
        return None
    await erase_rows(db, person_rows, now)
    return document_keys_of(person_rows)
