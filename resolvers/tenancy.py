"""Whose data a caller sees. What another tenant owns does not exist."""

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, false
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.context import Caller, Role
from schema.errors import NotFound
from store.tenancy import PartnerRow

T = TypeVar("T")


def visible(caller: Caller, table: Any) -> list[ColumnElement[bool]]:
    """The tests that a row of a tenant-owned table must pass for this caller to see it.

    A table is owned through `partner_id` or `marketplace_id`; partners and marketplaces own themselves.
    """
    columns = table.__table__.c
    if caller.role is Role.MASTER:
        return []
    if table is PartnerRow:
        own = (
            columns.marketplace_id == caller.marketplace_id
            if caller.role is Role.MARKETPLACE
            else columns.id == caller.partner_id
        )
        return [own]
    if "partner_id" in columns:
        if caller.role is Role.MARKETPLACE:
            partners = select(col(PartnerRow.id)).where(col(PartnerRow.marketplace_id) == caller.marketplace_id)
            return [columns.partner_id.in_(partners)]
        return [columns.partner_id == caller.partner_id]
    if "marketplace_id" in columns:
        return [columns.marketplace_id == caller.marketplace_id]
    return [false()]


async def find(db: AsyncSession, caller: Caller, row: type[T], thing: str, *, lock: bool = False, **by: object) -> T:
    """The one row that the caller may see with these column values, locked when asked; NotFound otherwise."""
    table: Any = row
    query = select(row).where(*visible(caller, row), *(table.__table__.c[name] == value for name, value in by.items()))
    found = (await db.exec(query.with_for_update() if lock else query)).one_or_none()
    if found is None:
        raise NotFound(thing=thing)
    return found
