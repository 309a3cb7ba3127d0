"""Requests of buyers to withdraw from the contract, or for a refund. They change only under the lock of their order."""

import datetime as dt
from collections.abc import Mapping, Sequence
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field, col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import ShopKind
from schema.order.fulfilment import FulfilmentState
from schema.order.order import OrderStatus
from schema.order.refund_request import RefundRequest, RefundRequestKind, RefundRequestLine, RefundRequestState
from store.core.row import PartnerIndexed, PartnerOwned
from store.core.state_machine import StateMachine
from store.order.orders import OrderProductRow, OrderRow
from store.partner.partners import PartnerRow

PENDING, APPROVED = RefundRequestState.PENDING, RefundRequestState.APPROVED
DECLINED, CANCELLED = RefundRequestState.DECLINED, RefundRequestState.CANCELLED
REQUEST_STATES = StateMachine("A request", {PENDING: {APPROVED, DECLINED, CANCELLED}}, asked_for=True)
TRANSIT = dt.timedelta(days=7)
"""Shops rarely learn that a parcel has arrived: it counts as arrived so long after it was sent."""
SATURDAY = 5


class RefundRequestRow(PartnerOwned, RefundRequest, table=True):
    """A request. A form that is sent twice makes one: both have the same key."""

    __tablename__ = "refund_request"
    __table_args__ = (
        UniqueConstraint("order_id", "key", name="refund_request_key"),
        Index("refund_request_requested_on_list_idx", "partner_id", "requested_on", "id"),
        Index("refund_request_state_list_idx", "partner_id", "state", "requested_on", "id"),
        Index("refund_request_newest_idx", "requested_on", "id"),
        CheckConstraint("(state = 'pending') = (answered_on IS NULL)", name="is_answered_once"),
        CheckConstraint("(state = 'approved') = (refund_id IS NOT NULL)", name="approved_with_refund"),
        CheckConstraint("state <> 'declined' OR answer <> ''", name="declined_with_message"),
    )
    order_id: int = Field(foreign_key="shop_order.id")
    refund_id: UUID | None = Field(default=None, foreign_key="refund.id", index=True)
    key: UUID


class RefundRequestLineRow(PartnerIndexed, RefundRequestLine, table=True):
    __tablename__ = "refund_request_line"
    __table_args__ = (
        UniqueConstraint("refund_request_id", "order_product_id", name="refund_request_line_key"),
        CheckConstraint("quantity > 0", name="asks_for_something"),
    )
    refund_request_id: int = Field(foreign_key="refund_request.id")
    order_product_id: int = Field(foreign_key="order_product.id", index=True)


def period_end(partner: PartnerRow, order: OrderRow, time_zone: str) -> dt.datetime | None:
    """The end of the period for a withdrawal; None if it has not begun, as the goods are still on their way to the buyer.

    It lasts whole days after the one of the contract, of goods after the one on which the buyer has got them, and does
    not end on a Saturday or Sunday.
    """
    began = _handed_over_on(order)
    if began is None:
        return None
    day = began.astimezone(ZoneInfo(time_zone)).date() + dt.timedelta(days=partner.withdrawal_days)
    day += dt.timedelta(days=max(0, 7 - day.weekday()) if day.weekday() >= SATURDAY else 0)
    return dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), ZoneInfo(time_zone)).astimezone(dt.UTC)


def _handed_over_on(order: OrderRow) -> dt.datetime | None:
    """When the buyer has got the goods; of what is no goods, when it was bought."""
    if not order.sells_goods or order.fulfilment_state is None:
        return order.created_on
    if order.fulfilment_state is FulfilmentState.SENT:
        return order.fulfilment_sent_on + TRANSIT if order.fulfilment_sent_on else None
    return order.fulfilment_delivered_on or order.fulfilment_collected_on


def kind_of_request(partner: PartnerRow, order: OrderRow, time_zone: str, now: dt.datetime) -> RefundRequestKind | None:
    """What the buyer of an order may ask for now; None if nothing."""
    if order.status is not OrderStatus.PAID:
        return None
    if partner.withdrawal_days:
        end = period_end(partner, order, time_zone)
        if end is None or now < end:
            return RefundRequestKind.WITHDRAWAL
    return RefundRequestKind.REFUND if partner.takes_refund_requests else None


def waits_for_staff(order: OrderRow, lines: Sequence[OrderProductRow]) -> bool:
    """Whether staff have to answer a withdrawal of these lines: goods among them are, or may be, at the buyer's, and have to
    come back first; or some are the network's, whose money no rule of a partner gives away.
    """
    at_shop = {FulfilmentState.TO_PREPARE, FulfilmentState.READY_TO_COLLECT, FulfilmentState.CANCELLED}
    are_goods_out = any(line.product_id is not None for line in lines) and order.fulfilment_state not in at_shop
    is_of_network = order.kind is not ShopKind.NETWORK and any(line.network_id is not None for line in lines)
    return are_goods_out or is_of_network


async def requests_of_order(db: AsyncSession, order_id: int) -> Sequence[RefundRequestRow]:
    """The requests about an order, newest first."""
    query = select(RefundRequestRow).where(col(RefundRequestRow.order_id) == order_id)
    ordered = query.order_by(col(RefundRequestRow.id).desc())
    return (await db.exec(ordered.execution_options(populate_existing=True))).all()


async def lines_of_requests(
    db: AsyncSession, requests: Sequence[RefundRequestRow]
) -> Mapping[int, Sequence[RefundRequestLineRow]]:
    """The lines of requests, by the id of the request."""
    found: dict[int, list[RefundRequestLineRow]] = {request.id: [] for request in requests}
    query = select(RefundRequestLineRow).where(col(RefundRequestLineRow.refund_request_id).in_(found))
    for line in (await db.exec(query.order_by(col(RefundRequestLineRow.id)))).all():
        found[line.refund_request_id].append(line)
    return found


async def pieces_in_requests(
    db: AsyncSession, order_id: int, kind: RefundRequestKind | None = None
) -> Mapping[int, int]:
    """How many of each line of an order wait for an answer, by the id of the line: in all requests, or those of a kind."""
    line, request = RefundRequestLineRow, RefundRequestRow
    query = (
        select(line.order_product_id, func.sum(line.quantity))
        .join(request, col(request.id) == col(line.refund_request_id))
        .where(col(request.order_id) == order_id, col(request.state) == PENDING)
        .group_by(col(line.order_product_id))
    )
    if kind is not None:
        query = query.where(col(request.kind) == kind)
    return dict((await db.exec(query)).all())


async def add_request(db: AsyncSession, request: RefundRequestRow, quantities: Mapping[int, int]) -> None:
    """Store a request of a locked order, about so many of each of its lines."""
    db.add(request)
    await db.flush()
    for order_product_id, quantity in quantities.items():
        of = {"partner_id": request.partner_id, "refund_request_id": request.id}
        db.add(RefundRequestLineRow(**of, order_product_id=order_product_id, quantity=quantity))
    await db.flush()


async def lines_to_refund(db: AsyncSession, request: RefundRequestRow) -> Sequence[tuple[OrderProductRow, int]]:
    """The lines of a request of a locked order, and how many of each can still be refunded for it."""
    query = (
        select(OrderProductRow, RefundRequestLineRow.quantity)
        .join(RefundRequestLineRow, col(RefundRequestLineRow.order_product_id) == col(OrderProductRow.id))
        .where(col(RefundRequestLineRow.refund_request_id) == request.id)
        .order_by(col(OrderProductRow.id))
    )
    rows = (await db.exec(query.execution_options(populate_existing=True))).all()
    return [(line, min(quantity, line.quantity - line.refunded_quantity)) for line, quantity in rows]
