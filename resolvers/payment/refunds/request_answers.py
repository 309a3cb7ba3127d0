"""The answers of staff to requests of buyers, and of partners that approve withdrawals by rule."""

import datetime as dt
from collections.abc import Sequence

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import ById
from resolvers.core.operation import Call, operation
from resolvers.core.services import Services
from resolvers.mail.refund_requests import queue_decline_mail, queue_new_request_mail
from resolvers.payment.refunds.order_refunds import LockedOrder, check_owns_money_of, lock_to_refund, refund_locked
from schema.core.errors import AppError
from schema.core.permission import Permission
from schema.order.input import ApproveRefundRequest, DeclineRefundRequest
from schema.order.refund_request import RefundRequest, RefundRequestKind
from schema.payment.errors import OrderLineRefunded
from schema.payment.input import RefundOrder, RefundOrderLine
from store.order.fulfilment import delivered_lines
from store.order.orders import OrderRow, lock_order
from store.order.refund_answers import answer_request
from store.order.refund_requests import (
    APPROVED,
    DECLINED,
    PENDING,
    REQUEST_STATES,
    RefundRequestRow,
    lines_of_requests,
    lines_to_refund,
    waits_for_staff,
)
from store.order.refunds import RequestAnswer, left_of_line

log = structlog.get_logger(__name__)
REASON_LENGTH = 200
_request = ById(RefundRequestRow, "request")


@operation(Permission.REFUND_PAYMENT, exists=_request)
async def approve_refund_request(call: Call, input: ApproveRefundRequest) -> RefundRequest:
    """Refund what a buyer asks for, as `refundOrder` does: with the same rules, events and mail. Pieces that were refunded
    meanwhile are left out. Approving it again changes nothing; a request that was declined or taken back is refused with
    `INVALID_TRANSITION`. What was sold of the network, only users of the marketplace may refund.
    """
    request = await _request.find(call, input.id)
    order = await call.db.get_one(OrderRow, request.order_id)
    await check_owns_money_of(call, order, await _line_ids(call.db, request))
    locked = await lock_to_refund(call.db, order, restock=input.restock)
    await call.db.refresh(request)
    if request.state is not APPROVED:
        REQUEST_STATES.require(request.state, APPROVED)
        await _approve(call.db, locked, request, input, call.services.clock.now(), call.caller.user_id)
        await call.db.refresh(request)
    return request


@operation(Permission.REFUND_PAYMENT, exists=_request)
async def decline_refund_request(call: Call, input: DeclineRefundRequest) -> RefundRequest:
    """Decline what a buyer asks for, with a message that the buyer gets by mail. Declining it again changes nothing; a
    request that was approved or taken back is refused with `INVALID_TRANSITION`. What was sold of the network, only users
    of the marketplace may answer.
    """
    request = await _request.find(call, input.id)
    order = await call.db.get_one(OrderRow, request.order_id)
    await check_owns_money_of(call, order, await _line_ids(call.db, request))
    await lock_order(call.db, order.id)
    await call.db.refresh(request)
    if request.state is not DECLINED:
        now, user_id = call.services.clock.now(), call.caller.user_id
        await answer_request(call.db, request, DECLINED, now, message=input.message, user_id=user_id)
        await queue_decline_mail(call.db, order, request)
    return request


async def _line_ids(db: AsyncSession, request: RefundRequestRow) -> Sequence[int]:
    """The ids of the lines of the order that a request is about."""
    return [line.order_product_id for line in (await lines_of_requests(db, [request]))[request.id]]


async def _approve(
    db: AsyncSession,
    locked: LockedOrder,
    request: RefundRequestRow,
    input: ApproveRefundRequest,
    now: dt.datetime,
    user_id: int | None,
) -> None:
    """Refund what is left of a request of a locked order. Raises OrderLineRefunded if nothing is."""
    left = [(line, quantity) for line, quantity in await lines_to_refund(db, request) if quantity]
    if not left:
        raise OrderLineRefunded
    order = locked.order
    wants_delivery = input.include_delivery
    if wants_delivery is None:  # all that is left is known now only: other requests may have been answered meanwhile
        quantities = {line.id: quantity for line, quantity in left}
        delivered = [line for _, line in await delivered_lines(db, order)]
        is_rest = all(left_of_line(line) <= quantities.get(line.id, 0) for line in delivered)
        wants_delivery = request.kind is RefundRequestKind.WITHDRAWAL and is_rest
    wish = RefundOrder(
        id=order.id,
        lines=[RefundOrderLine(id=line.id, quantity=quantity) for line, quantity in left],
        include_delivery=wants_delivery and order.delivery_amount > order.delivery_refunded_amount,
        include_used=input.include_used,
        restock=input.restock,
        reason=" ".join(request.reason.split())[:REASON_LENGTH],
    )
    answer = RequestAnswer(request.id, request.customer_email, input.message, user_id)
    await refund_locked(db, locked, wish, now, answer)


async def approve_withdrawal(services: Services, id: int) -> None:
    """Approve a withdrawal by the partner's rule, and tell the partner. If it is refused, or if its goods have left the
    shop meanwhile, it waits for staff, who are told so. Repeating it changes nothing.
    """
    now = services.clock.now()
    try:
        async with services.db.sessions() as db, db.begin():
            request = await db.get_one(RefundRequestRow, id)
            locked = await lock_to_refund(db, await db.get_one(OrderRow, request.order_id), restock=True)
            await db.refresh(request)
            if request.state is PENDING:
                asked = await lines_to_refund(db, request)
                is_approved = not waits_for_staff(locked.order, [line for line, _ in asked])
                if is_approved:
                    await _approve(db, locked, request, ApproveRefundRequest(id=id, restock=True), now, None)
                await queue_new_request_mail(db, locked.order, request, is_approved=is_approved)
    except AppError as error:
        log.warning("a withdrawal waits for staff", request=id, code=error.code())
        await leave_to_staff(services, id)


async def leave_to_staff(services: Services, id: int) -> None:
    """Tell staff that a withdrawal waits for them, unless it has an answer. They are told once."""
    async with services.db.sessions() as db, db.begin():
        request = await db.get_one(RefundRequestRow, id)
        if request.state is PENDING:
            await queue_new_request_mail(db, await db.get_one(OrderRow, request.order_id), request)
