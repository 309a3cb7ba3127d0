"""Offers of partners for boxes: their states, their events, and which of them count."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.network.box import BoxProduct, OfferStatus
from schema.network.box_errors import OfferNotAdmitted
from schema.partner.partner import PartnerStatus
from store.catalogue.catalogue import PriceRangeRow, VoucherPrototypeRow
from store.catalogue.prices import lowest_price
from store.core.state_machine import StateMachine
from store.database.loaders import is_any_of
from store.event.data import datetime_data
from store.event.events import NewEvent, emit
from store.network.boxes import BoxPartnerRow, BoxRow, OfferRow
from store.partner.partners import PartnerRow

DRAFT, SUBMITTED = OfferStatus.DRAFT, OfferStatus.SUBMITTED
ACCEPTED, REJECTED = OfferStatus.ACCEPTED, OfferStatus.REJECTED
TRANSITIONS = StateMachine(
    "An offer",
    {
        DRAFT: {SUBMITTED},
        SUBMITTED: {DRAFT, ACCEPTED, REJECTED},
        ACCEPTED: {REJECTED},
        REJECTED: {DRAFT},
    },
    asked_for=True,
)

# ---- which offers count


def is_admitted() -> ColumnElement[bool]:
    """SQL condition on a box and a partner: the box admits offers of the partner."""
    named = exists().where(col(BoxPartnerRow.box_id) == col(BoxRow.id))
    return and_(
        col(PartnerRow.marketplace_id) == col(BoxRow.marketplace_id),
        col(PartnerRow.linked_to_nv_settings),
        col(PartnerRow.status) != PartnerStatus.INACTIVE,
        or_(~named, named.where(col(BoxPartnerRow.partner_id) == col(PartnerRow.id))),
    )


def is_accepted() -> ColumnElement[bool]:
    """SQL condition on an offer: it is accepted and active."""
    return and_(col(OfferRow.status) == ACCEPTED, col(OfferRow.is_active))


async def admits_partner(db: AsyncSession, box_id: int, partner_id: int) -> bool:
    """Whether a box admits offers of a partner: it is of the box's marketplace and takes part in the vouchers of its
    network, it is not inactive, and the box is not limited to others.
    """
    query = select(BoxRow.id, PartnerRow.id).where(
        col(BoxRow.id) == box_id, col(PartnerRow.id) == partner_id, is_admitted()
    )
    return (await db.exec(query)).first() is not None


async def require_admitted(db: AsyncSession, box_id: int, partner_id: int) -> None:
    """Raise OfferNotAdmitted unless the box admits offers of the partner."""
    if not await admits_partner(db, box_id, partner_id):
        raise OfferNotAdmitted


async def accepted_offers(db: AsyncSession, box_id: int, partner_id: int) -> Sequence[OfferRow]:
    """The accepted, active offers of a partner for a box, by ranking, whether or not the box still admits the partner."""
    query = select(OfferRow).where(
        col(OfferRow.box_id) == box_id, col(OfferRow.partner_id) == partner_id, is_accepted()
    )
    return (await db.exec(query.order_by(col(OfferRow.ranking), col(OfferRow.id)))).all()


async def accepts_vouchers_of(db: AsyncSession, box_id: int, partner_id: int) -> bool:
    """Whether a partner accepts the vouchers of a box: the box admits it, and it has an accepted, active offer. Whether the
    box is still on sale plays no part.
    """
    return await admits_partner(db, box_id, partner_id) and bool(await accepted_offers(db, box_id, partner_id))


async def products_of(db: AsyncSession, box_ids: Sequence[int]) -> Mapping[int, list[BoxProduct]]:
    """The prototypes that the offers of each box offer which count now, by ranking of the offers."""
    prototype, price_range = VoucherPrototypeRow, PriceRangeRow
    price = lowest_price()
    in_range = (
        select(col(price_range.id))
        .where(
            col(price_range.marketplace_id) == col(OfferRow.marketplace_id),
            col(price_range.is_active),
            price >= col(price_range.minimum_amount),
            or_(col(price_range.maximum_amount).is_(None), price < col(price_range.maximum_amount)),
        )
        .order_by(col(price_range.ranking), col(price_range.id))
        .limit(1)
        .correlate(prototype, OfferRow)
        .scalar_subquery()
    )
    first = func.min(OfferRow.ranking)
    query = (
        select(col(OfferRow.box_id), col(prototype.id), col(prototype.name), in_range)
        .join(prototype, col(prototype.id) == col(OfferRow.product_id))
        .join(BoxRow, col(BoxRow.id) == col(OfferRow.box_id))
        .join(PartnerRow, col(PartnerRow.id) == col(OfferRow.partner_id))
        .where(is_any_of(OfferRow.__table__.c.box_id, box_ids), is_accepted(), is_admitted())  # type: ignore[attr-defined]
        .group_by(col(OfferRow.box_id), col(prototype.id), col(OfferRow.marketplace_id))
        .order_by(first, col(prototype.id))
    )
    found: dict[int, list[BoxProduct]] = defaultdict(list)
    for box_id, id, name, range_id in await db.exec(query):
        found[box_id].append(BoxProduct(id=id, name=name, price_range_id=range_id))
    return found


# ---- states


async def submit(db: AsyncSession, offer: OfferRow, now: dt.datetime) -> None:
    """Submit a locked offer. Raises InvalidTransition and OfferNotAdmitted."""
    TRANSITIONS.require(offer.status, SUBMITTED)
    await require_admitted(db, offer.box_id, offer.partner_id)
    offer.status, offer.submitted_on = SUBMITTED, now
    await _emit(db, EventType.OFFER_SUBMITTED, offer, submitted_on=datetime_data(now))


async def accept(db: AsyncSession, offer: OfferRow, now: dt.datetime) -> None:
    """Accept a locked offer. Raises InvalidTransition and OfferNotAdmitted."""
    TRANSITIONS.require(offer.status, ACCEPTED)
    await require_admitted(db, offer.box_id, offer.partner_id)
    offer.status, offer.accepted_on, offer.rejected_on, offer.rejection_reason = ACCEPTED, now, None, ""
    await _emit(db, EventType.OFFER_ACCEPTED, offer, accepted_on=datetime_data(now))


async def reject(db: AsyncSession, offer: OfferRow, reason: str, now: dt.datetime) -> None:
    """Reject a locked offer, or withdraw its acceptance. Raises InvalidTransition."""
    offer.status = TRANSITIONS.require(offer.status, REJECTED)
    offer.accepted_on, offer.rejected_on, offer.rejection_reason = None, now, reason
    await _emit(db, EventType.OFFER_REJECTED, offer, rejected_on=datetime_data(now), rejection_reason=reason)


def return_to_draft(offer: OfferRow) -> None:
    """What a change of its content by the partner does to a locked offer. Raises InvalidTransition for an accepted one."""
    if offer.status is not DRAFT:
        offer.status = TRANSITIONS.require(offer.status, DRAFT)


async def _emit(db: AsyncSession, kind: EventType, offer: OfferRow, **more: str) -> None:
    await db.flush()
    data = {
        "id": offer.id,
        "box_id": offer.box_id,
        "product_id": offer.product_id,
        "name": offer.name.model_dump(exclude_none=True),
        "is_active": offer.is_active,
        "edited_on": datetime_data(offer.edited_on),
        **more,
    }
    await emit(db, NewEvent(kind, partner_id=offer.partner_id, subject=str(offer.id), data=data))


# ---- lists


NEWEST_OF_BOX = 100
"""How many offers of a box are read with it."""


async def newest_offers(
    db: AsyncSession, box_ids: Sequence[int], visible: Sequence[ColumnElement[bool]]
) -> Mapping[int, list[OfferRow]]:
    """The newest offers of each box that meet the conditions, newest first."""
    newest = col(OfferRow.created_on).desc(), col(OfferRow.id).desc()
    place = func.row_number().over(partition_by=col(OfferRow.box_id), order_by=newest)
    placed: Any = select(col(OfferRow.id).label("id"), place.label("place"))
    placed_rows = placed.where(is_any_of(OfferRow.__table__.c.box_id, box_ids), *visible).subquery("placed")  # type: ignore[attr-defined]
    query = (
        select(OfferRow)
        .join(placed_rows, placed_rows.c.id == col(OfferRow.id))
        .where(placed_rows.c.place <= NEWEST_OF_BOX)
        .order_by(*newest)
    )
    found: dict[int, list[OfferRow]] = {id: [] for id in box_ids}
    for row in await db.exec(query):
        found[row.box_id].append(row)
    return found
