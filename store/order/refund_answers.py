"""The answers to requests of buyers, and the events about them. Orders are locked before."""

import datetime as dt
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.order.refund_request import RefundRequestState
from store.event.data import datetime_data
from store.event.events import NewEvent, emit
from store.order.fulfilment import is_all_refunded
from store.order.orders import lock_order
from store.order.refund_requests import (
    APPROVED,
    CANCELLED,
    DECLINED,
    PENDING,
    REQUEST_STATES,
    RefundRequestRow,
    lines_of_requests,
    lines_to_refund,
)
from store.order.refunds import RequestAnswer
from store.payment.payments import RefundRow

EVENTS = {
    PENDING: EventType.REFUND_REQUEST_CREATED,
    APPROVED: EventType.REFUND_REQUEST_APPROVED,
    DECLINED: EventType.REFUND_REQUEST_DECLINED,
    CANCELLED: EventType.REFUND_REQUEST_CANCELLED,
}
"""The event about each state that a request reaches."""


async def answer_request(
    db: AsyncSession,
    request: RefundRequestRow,
    state: RefundRequestState,
    now: dt.datetime,
    *,
    message: str = "",
    user_id: int | None = None,
    refund_id: UUID | None = None,
) -> None:
    """Move a request of a locked order from `PENDING` to its end. Raises InvalidTransition if it has another one."""
    request.state = REQUEST_STATES.require(request.state, state)
    request.answer, request.answered_on, request.answered_by_id = message, now, user_id
    request.refund_id = refund_id
    await db.flush()
    await emit_request_event(db, request)


async def approve_refunded_requests(
    db: AsyncSession, order_id: int | None, refund: RefundRow, now: dt.datetime, answer: RequestAnswer | None
) -> None:
    """Approve the request that a refund answers, and those of which nothing is left to refund after it."""
    if order_id is None:
        return
    query = select(RefundRequestRow).where(
        col(RefundRequestRow.order_id) == order_id, col(RefundRequestRow.state) == PENDING
    )
    ordered = query.order_by(col(RefundRequestRow.id)).execution_options(populate_existing=True)
    waiting = (await db.exec(ordered)).all()
    is_refunded = bool(waiting) and await is_all_refunded(db, await lock_order(db, order_id))
    for request in waiting:
        if answer is not None and request.id == answer.request_id:
            said, user_id = answer.message, answer.user_id
            await answer_request(db, request, APPROVED, now, message=said, user_id=user_id, refund_id=refund.id)
        elif is_refunded or not any(left for _, left in await lines_to_refund(db, request)):
            await answer_request(db, request, APPROVED, now, refund_id=refund.id)


async def emit_request_event(db: AsyncSession, request: RefundRequestRow) -> None:
    """Emit the event about the state that a request has reached. `schema.event_orders` documents its data."""
    lines = (await lines_of_requests(db, [request]))[request.id]
    data = {
        "id": request.id,
        "order_id": request.order_id,
        "kind": request.kind.value,
        "state": request.state.value,
        "requested_on": datetime_data(request.requested_on),
        "reason": request.reason,
        "lines": [{"id": line.order_product_id, "quantity": line.quantity} for line in lines],
        "includes_delivery": request.includes_delivery,
        "answer": request.answer,
        "answered_on": datetime_data(request.answered_on),
        "refund_id": None if request.refund_id is None else str(request.refund_id),
    }
    about = NewEvent(EVENTS[request.state], str(request.id), data, partner_id=request.partner_id)
    await emit(db, about)
