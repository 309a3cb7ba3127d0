"""The requests about an order, as its buyer sees them."""

import datetime as dt

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.order.page_requests import OrderPageRequest, RequestOffer
from store.order.orders import OrderRow
from store.order.refund_requests import (
    kind_of_request,
    lines_of_requests,
    period_end,
    pieces_in_requests,
    requests_of_order,
)
from store.order.refunds import left_of_line, lines_of_order
from store.partner.partners import PartnerRow


async def page_requests(db: AsyncSession, order: OrderRow) -> tuple[OrderPageRequest, ...]:
    """The requests about an order, newest first."""
    requests = await requests_of_order(db, order.id)
    if not requests:
        return ()
    lines, names = await lines_of_requests(db, requests), {row.id: row.name for row in await lines_of_order(db, order)}
    return tuple(
        OrderPageRequest(
            id=row.id,
            kind=row.kind,
            state=row.state,
            requested_on=row.requested_on,
            answered_on=row.answered_on,
            email=row.customer_email,
            reason=row.reason,
            answer=row.answer,
            lines=tuple((names[line.order_product_id], line.quantity) for line in lines[row.id]),
        )
        for row in requests
    )


async def request_offer(
    db: AsyncSession, partner: PartnerRow, order: OrderRow, time_zone: str, now: dt.datetime
) -> RequestOffer | None:
    """What the buyer of an order can ask for; None if nothing, or if nothing is left to ask for."""
    kind = kind_of_request(partner, order, time_zone, now)
    if kind is None:
        return None
    waiting = await pieces_in_requests(db, order.id)
    if all(left_of_line(line) <= waiting.get(line.id, 0) for line in await lines_of_order(db, order)):
        return None
    return RequestOffer(kind, period_end(partner, order, time_zone))
