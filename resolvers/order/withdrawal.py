"""What buyers do on the page of their order: withdraw from the contract, ask for a refund, and take that back."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from zoneinfo import ZoneInfo

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.mail.refund_requests import queue_new_request_mail, queue_request_receipt
from resolvers.order.gifts import lock_issued
from resolvers.order.issued import issued_rows, obstacle_of
from resolvers.order.page import order_of_link
from resolvers.order.page_requests import request_offer
from resolvers.order.wish import checked_wish
from schema.core.errors import InvalidInput, NotFound
from schema.core.permission import AccessRule
from schema.order.errors import RefundRequested, WithdrawalClosed
from schema.order.page_requests import BuyerWish, Obstacle, RefundForm, RefundReview, RequestableLine, Seller
from schema.order.refund_request import RefundRequestKind
from store.job.jobs import JobKind, enqueue_job
from store.order.fulfilment import delivered_lines
from store.order.orders import OrderProductRow, OrderRow, lock_order
from store.order.refund_answers import answer_request, emit_request_event
from store.order.refund_requests import (
    CANCELLED,
    RefundRequestRow,
    add_request,
    lines_to_refund,
    pieces_in_requests,
    waits_for_staff,
)
from store.order.refunds import amount_of, left_of_line, lines_of_order
from store.partner.partners import PartnerRow, partner_with_time_zone
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow

NOTHING = Decimal("0.00")


async def find_refund_form(context: Context, token: str) -> RefundForm:
    """The form of a request. It changes nothing. Raises NotFound for a forged link."""
    async with context.services.db.sessions() as db:
        return await _form_of(db, await order_of_link(context, db, token), context.services.clock.now())


async def review_refund_request(context: Context, token: str, wish: BuyerWish) -> RefundReview:
    """The request as it would be sent. It changes nothing. Raises what `request_refund` raises."""
    async with context.services.db.sessions() as db:
        order = await order_of_link(context, db, token)
        return await _review(db, order, wish, context.services.clock.now())


async def find_seller(context: Context, token: str) -> Seller:
    """Who has sold the order of a link. Raises NotFound for a forged link."""
    async with context.services.db.sessions() as db:
        partner = await db.get_one(PartnerRow, (await order_of_link(context, db, token)).partner_id)
    place = f"{partner.hq_postal_code} {partner.hq_city}".strip()
    lines = (partner.hq_address_line_1, partner.hq_address_line_2, place)
    return Seller(
        name=partner.name or partner.commercial_name,
        address=tuple(line for line in lines if line),
        country=partner.hq_country_code,
        email=partner.agency_email,
        phone=partner.agency_phone,
    )


@operation(AccessRule.CUSTOMER)
async def request_refund(call: Call, token: str, wish: BuyerWish) -> int:
    """Withdraw from the contract of the order of a link, or ask for its refund; answers the id of the request. What is
    sent twice with one key is one request. The buyer gets a receipt by mail, and the partner is told. A withdrawal is
    approved at once where the partner says so, unless staff have to see to it (`waits_for_staff`).

    Raises NotFound for a forged link; InvalidInput for what cannot be asked for; WithdrawalClosed if it is too late;
    RefundRequested if another request about the same waits for an answer; TooManyRequests after too many of these.
    """
    db, now = call.db, call.services.clock.now()
    order = await order_of_link(call.context, db, token)
    await call.services.limits.requests.check(str(order.uuid))
    await lock_issued(db, order)
    order = await lock_order(db, order.id)
    known = col(RefundRequestRow.order_id) == order.id, col(RefundRequestRow.key) == wish.key
    if (sent := (await db.exec(select(RefundRequestRow).where(*known))).one_or_none()) is not None:
        return sent.id
    review = await _review(db, order, wish, now)
    request = RefundRequestRow(
        partner_id=order.partner_id,
        order_id=order.id,
        key=wish.key,
        kind=wish.kind,
        requested_on=now,
        customer_name=review.wish.name,
        customer_email=review.wish.email,
        reason=review.wish.reason,
        includes_delivery=review.includes_delivery,
    )
    await add_request(db, request, {line.id: quantity for line, quantity in review.lines})
    await emit_request_event(db, request)
    await queue_request_receipt(db, order, request)
    partner = await db.get_one(PartnerRow, order.partner_id)
    asked = [line for line, _ in await lines_to_refund(call.db, request)]
    at_once = wish.kind is RefundRequestKind.WITHDRAWAL and partner.approves_withdrawals
    if at_once and not waits_for_staff(order, asked):  # the job tells the partner how it went
        await enqueue_job(db, JobKind.APPROVE_WITHDRAWAL, {"id": request.id}, unique_key=str(request.id))
    else:
        await queue_new_request_mail(db, order, request)
    return request.id


@operation(AccessRule.CUSTOMER)
async def cancel_refund_request(call: Call, token: str, id: int) -> None:
    """Take a request back that waits for an answer. One that is answered stays as it is. Raises NotFound for a forged
    link, and for a request about another order.
    """
    order = await order_of_link(call.context, call.db, token)
    await lock_order(call.db, order.id)
    of_order = col(RefundRequestRow.id) == id, col(RefundRequestRow.order_id) == order.id
    request = (await call.db.exec(select(RefundRequestRow).where(*of_order))).one_or_none()
    if request is None:
        raise NotFound("id", thing="request")
    if request.answered_on is None:
        await answer_request(call.db, request, CANCELLED, call.services.clock.now())


async def _form_of(db: AsyncSession, order: OrderRow, now: dt.datetime) -> RefundForm:
    partner, time_zone = await partner_with_time_zone(db, order.partner_id)
    return RefundForm(
        offer=await request_offer(db, partner, order, time_zone, now),
        lines=await _lines_of(db, order, now.astimezone(ZoneInfo(time_zone))),
        name=f"{order.buyer_first_name} {order.buyer_last_name}".strip(),
        country=partner.hq_country_code,
    )


async def _lines_of(db: AsyncSession, order: OrderRow, now: dt.datetime) -> tuple[RequestableLine, ...]:
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    waiting, rows = await pieces_in_requests(db, order.id), await lines_of_order(db, order)
    found = list[RequestableLine]()
    issued = await issued_rows(db, order, attempt.lines)
    for row, line, made in zip(rows, attempt.lines, issued, strict=True):
        left, open_pieces = left_of_line(row), waiting.get(row.id, 0)
        obstacle = None if made is None else obstacle_of(made, now)
        if not left:
            obstacle = Obstacle.REFUNDED
        elif left <= open_pieces:
            obstacle = Obstacle.REQUESTED
        found.append(
            RequestableLine(
                id=row.id,
                name=line.name,
                details=line.details,
                picture_url=line.picture_url,
                is_card=row.gift_card_id is not None or row.network_gift_card_id is not None,
                quantity=0 if obstacle else left - open_pieces,
                obstacle=obstacle,
            )
        )
    return tuple(found)


async def _review(db: AsyncSession, order: OrderRow, wish: BuyerWish, now: dt.datetime) -> RefundReview:
    form = await _form_of(db, order, now)
    if form.offer is None and any(line.obstacle is Obstacle.REQUESTED for line in form.lines):
        raise RefundRequested
    if form.offer is None or form.offer.kind is not wish.kind:
        raise WithdrawalClosed
    wish = checked_wish(wish)
    asked = {at: quantity for at, quantity in wish.quantities.items() if quantity}
    for at, quantity in asked.items():
        line = form.lines[at] if 0 <= at < len(form.lines) else None
        if line is not None and line.obstacle is Obstacle.REQUESTED:
            raise RefundRequested
        if line is None or quantity > line.quantity:
            raise InvalidInput.at("lines", "This cannot be asked for.", "OUT_OF_RANGE")
    rows = await lines_of_order(db, order)
    delivery = order.delivery_amount - order.delivery_refunded_amount
    if wish.kind is not RefundRequestKind.WITHDRAWAL or not await _is_all_withdrawn(db, order, rows, asked):
        delivery = NOTHING
    amount = await _amount(db, order, rows, asked, delivery)
    if not amount:
        raise InvalidInput.at("lines", "Nothing was paid for this.", "NOTHING_TO_REFUND")
    lines = tuple((form.lines[at], quantity) for at, quantity in sorted(asked.items()))
    return RefundReview(wish=wish, lines=lines, amount=amount, includes_delivery=bool(delivery))


async def _is_all_withdrawn(
    db: AsyncSession, order: OrderRow, rows: Sequence[OrderProductRow], asked: Mapping[int, int]
) -> bool:
    """Whether nothing is left of what an order delivers once this, and the withdrawals that wait for an answer, are
    refunded.
    """
    delivered = {row.id for _, row in await delivered_lines(db, order)}
    waiting = await pieces_in_requests(db, order.id, RefundRequestKind.WITHDRAWAL)
    return all(
        asked.get(at, 0) + waiting.get(row.id, 0) == left_of_line(row)
        for at, row in enumerate(rows)
        if row.id in delivered
    )


async def _amount(
    db: AsyncSession, order: OrderRow, rows: Sequence[OrderProductRow], asked: dict[int, int], delivery: Decimal
) -> Decimal:
    """What would go back for these lines: at most what is left of the payment."""
    payments = (await db.exec(select(PaymentRow).where(col(PaymentRow.order_id) == order.id))).all()
    left = sum((payment.payment_amount - payment.refunded_amount for payment in payments), NOTHING)
    return min(left, sum((amount_of(rows[at], quantity) for at, quantity in asked.items()), delivery))
