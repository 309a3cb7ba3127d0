"""Whose data a caller sees. What another tenant owns does not exist."""

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Table, false, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Caller, Role
from schema.core.errors import NotFound
from store.audit.entries import AuditEntryRow
from store.event.events import EventRow
from store.mail.rows import MailRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.webhook.rows import WebhookDeliveryRow, WebhookEndpointRow

T = TypeVar("T")

CARRY_MARKETPLACE = (PartnerRow, AuditEntryRow, EventRow, MailRow, WebhookDeliveryRow, WebhookEndpointRow)
"""Owned through a partner, and by the marketplace that they name themselves: some have no partner."""


def visible(caller: Caller, table: Any) -> list[ColumnElement[bool]]:
    """The tests that a row of a tenant-owned table must pass for this caller to see it.

    A table is owned through `partner_id` or `marketplace_id`; partners and marketplaces own themselves.
    """
    if caller.role is Role.MASTER:
        return []
    columns = table.__table__.c
    of_marketplace = columns.id if table is MarketplaceRow else columns.get("marketplace_id")
    of_partner = columns.id if table is PartnerRow else columns.get("partner_id")
    if of_partner is None:
        return [_is(of_marketplace, caller.marketplace_id)]
    if caller.role is not Role.MARKETPLACE:
        return [_is(of_partner, caller.partner_id)]
    return [of_marketplace_with(table.__table__, columns, caller.marketplace_id)]


def of_marketplace_with(table: Table, columns: Any, id: Any) -> ColumnElement[bool]:
    """Whether a row is of a marketplace: of its own or, as most, through its partner. A user may be so by either.

    `columns` are those of the table, or of some of its rows.
    """
    own, partner = columns.get("marketplace_id"), columns.get("partner_id")
    if partner is None or table.name in {row.__tablename__ for row in CARRY_MARKETPLACE}:
        return _is(own, id)
    through: ColumnElement[bool] = partner.in_(
        select(col(PartnerRow.id)).where(_is(col(PartnerRow.marketplace_id), id))
    )
    return through if own is None else or_(_is(own, id), through)


def _is(owner: Any, id: Any) -> ColumnElement[bool]:
    """Whether a row is of this owner. What nobody owns is nobody's, and not everybody's."""
    found: ColumnElement[bool] = false() if owner is None or id is None else owner == id
    return found


async def find(db: AsyncSession, caller: Caller, row: type[T], thing: str, *, lock: bool = False, **by: object) -> T:
    """The one row that the caller may see with these column values, locked when asked; NotFound otherwise.

    What is locked is read anew: who held it before may have changed what this session has seen of it.
    """
    table: Any = row
    query = select(row).where(*visible(caller, row), *(table.__table__.c[name] == value for name, value in by.items()))
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    found = (await db.exec(query)).one_or_none()
    if found is None:
        raise NotFound(by=by, thing=thing)
    return found
