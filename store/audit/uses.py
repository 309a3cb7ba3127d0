"""The uses of vouchers and gift cards in the audit log: when each was recorded, and by whom."""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, literal_column, or_, text, tuple_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.voucher.voucher import VoucherState
from store.account.users import UserRow
from store.audit.entries import IS_USE, VOUCHER_OPERATION, AuditEntryRow

NAME = func.coalesce(func.nullif(col(UserRow.first_name), ""), col(AuditEntryRow.username))
"""The user's name today, else the user name of that time."""


@dataclass(frozen=True, slots=True)
class UseEntry:
    """An entry of the audit log about a use."""

    id: int
    occurred_on: dt.datetime
    operation: str
    subject_id: int
    """The id of the voucher, of the hold of a gift card, or of the usage of something of a network."""
    user: str
    """Empty if it was no user."""


@dataclass(frozen=True, slots=True)
class VoucherMove:
    """A change of a voucher's state by a user."""

    id: int
    """The id of the entry."""
    voucher_id: int
    occurred_on: dt.datetime
    user: str
    before: VoucherState
    after: VoucherState


def _has_state(**values: VoucherState) -> ColumnElement[bool]:
    """Whether the state of a voucher changed from `before`, to `after`."""
    return col(AuditEntryRow.changes).contains([{"resource": "Voucher", "fields": {"state": values}}])


IS_VOUCHER_USE = or_(
    col(AuditEntryRow.operation) != VOUCHER_OPERATION,
    _has_state(after=VoucherState.USED),
    _has_state(before=VoucherState.PAID, after=VoucherState.USING),
)
"""Of the changes of vouchers only those that use them, not those that undo a use."""


async def uses_since(
    db: AsyncSession,
    partner_id: int,
    operations: Collection[str],
    since: dt.datetime,
    *,
    before_id: int | None = None,
    limit: int,
) -> Sequence[UseEntry]:
    """The uses by these operations at a partner since a moment, newest first; with `before_id` those before that entry."""
    table: Any = AuditEntryRow
    columns: tuple[Any, ...] = table.id, table.occurred_on, table.operation, table.subject_id, NAME
    query: Any = (
        select(*columns)
        .join(UserRow, col(UserRow.id) == table.user_id, isouter=True)
        .where(table.partner_id == partner_id, table.occurred_on >= since, text(IS_USE))
        .where(table.operation.in_(operations), IS_VOUCHER_USE)
        .order_by(table.occurred_on.desc(), table.id.desc())
        .limit(limit)
    )
    if before_id is not None:
        at = select(table.occurred_on).where(table.id == before_id, table.partner_id == partner_id).scalar_subquery()
        query = query.where(tuple_(table.occurred_on, table.id) < tuple_(at, before_id))
    rows: Sequence[Any] = (await db.exec(query)).all()
    return [UseEntry(id, moment, name, int(subject), user) for id, moment, name, subject, user in rows]


async def users_of(db: AsyncSession, subject_type: str, ids: Collection[int], partner_id: int) -> dict[int, str]:
    """Who recorded these uses at a partner, by the id of the hold or usage."""
    table: Any = AuditEntryRow
    query = (
        select(table.subject_id, NAME)
        .join(UserRow, col(UserRow.id) == table.user_id, isouter=True)
        .where(table.subject_type == subject_type, table.subject_id.in_(map(str, ids)))
        .where(table.partner_id == partner_id, text(IS_USE))
        .order_by(table.occurred_on, table.id)
    )
    return {int(id): user for id, user in (await db.exec(query)).all()} if ids else {}


async def voucher_moves(
    db: AsyncSession, voucher_ids: Collection[int], partner_id: int, *, since: dt.datetime | None = None
) -> Sequence[VoucherMove]:
    """The changes of the states of a partner's vouchers by users, newest first."""
    table: Any = AuditEntryRow
    change: Any = func.jsonb_path_query_first(
        table.changes, literal_column("""'$[*] ? (@.resource == "Voucher").fields.state'""")
    )
    states = change.op("->>")("before"), change.op("->>")("after")
    columns: tuple[Any, ...] = table.id, table.subject_id, table.occurred_on, NAME, *states
    query: Any = (
        select(*columns)
        .join(UserRow, col(UserRow.id) == table.user_id, isouter=True)
        .where(table.subject_type == "Voucher", table.subject_id.in_(map(str, voucher_ids)))
        .where(table.partner_id == partner_id, table.operation == VOUCHER_OPERATION, change.is_not(None))
        .order_by(table.occurred_on.desc(), table.id.desc())
    )
    if since is not None:
        query = query.where(table.occurred_on >= since)
    rows: Sequence[Any] = (await db.exec(query)).all() if voucher_ids else []
    return [
        VoucherMove(id, int(voucher_id), moment, user, VoucherState(old), VoucherState(new))
        for id, voucher_id, moment, user, old, new in rows
    ]
