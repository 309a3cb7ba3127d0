"""The page of an order over the API: the token of its link is the authority, as on the page."""

from collections import Counter
from dataclasses import replace
from typing import Annotated

import strawberry

from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.order.customer_orders import CustomerOrderView
from resolvers.order.gift_day import reschedule_gift, send_gift_now
from resolvers.order.gifts import resend_gift
from resolvers.order.page import find_order_page, order_of_link
from resolvers.order.withdrawal import cancel_refund_request, find_refund_form, request_refund
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from schema.order.customer_order import CustomerOrder
from schema.order.page_requests import BuyerWish
from schema.order.token_input import (
    LINK_END,
    CancelRefundRequestByToken,
    RequestRefundByToken,
    RescheduleGiftByToken,
    ResendGiftByToken,
    SendGiftNowByToken,
)
from store.partner.partners import PartnerRow


@operation(AccessRule.PUBLIC, transaction=False)
async def order_by_token(call: Call, token: Annotated[str, strawberry.argument(description=LINK_END)]) -> CustomerOrder:
    """The order of a token, as its page shows it to its buyer: whoever has the token sees the codes."""
    buyer = await _buyer(call, token)
    return await _view(buyer, token)


@operation(AccessRule.PUBLIC, transaction=False)
async def resend_gift_by_token(call: Call, input: ResendGiftByToken) -> CustomerOrder:
    """Send a voucher or gift card of the order of a token to its recipient again, at this address; `isSendable` tells
    whether it can be. To one address it is sent once in a quarter of an hour, and the presents of one order are sent or
    changed ten times a day in all.
    """
    buyer = await _buyer(call, input.token)
    await resend_gift(buyer, input.token, input.position, input.email)
    return await _view(buyer, input.token)


@operation(AccessRule.PUBLIC, transaction=False)
async def send_gift_now_by_token(call: Call, input: SendGiftNowByToken) -> CustomerOrder:
    """Send a voucher or gift card of the order of a token that waits for its day now, to this address. Its validity then
    counts from today. What does not wait is refused with `GIFT_NOT_WAITING`.
    """
    buyer = await _buyer(call, input.token)
    await send_gift_now(buyer, input.token, input.position, input.email)
    return await _view(buyer, input.token)


@operation(AccessRule.PUBLIC, transaction=False)
async def reschedule_gift_by_token(call: Call, input: RescheduleGiftByToken) -> CustomerOrder:
    """Send a voucher or gift card of the order of a token that waits for its day on another day, or to another address. Its
    validity then counts from that day, if that is later. What does not wait is refused with `GIFT_NOT_WAITING`. A morning of today that is
    over is now.
    """
    buyer = await _buyer(call, input.token)
    await reschedule_gift(buyer, input.token, input.position, input.email, input.send_on, input.send_at)
    return await _view(buyer, input.token)


@operation(AccessRule.PUBLIC, transaction=False)
async def request_refund_by_token(call: Call, input: RequestRefundByToken) -> CustomerOrder:
    """Withdraw from the contract of the order of a token, or ask for its refund. The buyer gets a receipt by mail. It is
    refused with `WITHDRAWAL_CLOSED` if it is too late, and with `REFUND_REQUESTED` if a request about the same waits
    for an answer.
    """
    buyer = await _buyer(call, input.token)
    quantities = Counter[int]()
    for line in input.lines:
        quantities[line.position] += line.quantity
    wish = BuyerWish(
        key=input.key,
        kind=input.kind,
        quantities=quantities,
        name=input.name,
        email=input.email,
        reason=input.reason,
    )
    await request_refund(buyer, input.token, wish)
    return await _view(buyer, input.token)


@operation(AccessRule.PUBLIC, transaction=False)
async def cancel_refund_request_by_token(call: Call, input: CancelRefundRequestByToken) -> CustomerOrder:
    """Take back a request about the order of a token that waits for an answer. One that is answered stays as it is."""
    buyer = await _buyer(call, input.token)
    await cancel_refund_request(buyer, input.token, input.id)
    return await _view(buyer, input.token)


async def _buyer(call: Call, token: str) -> Context:
    """The context of the buyer of the order of a token, whoever calls. Raises NotFound for a token that is none: they are
    signed, so these are not counted.
    """
    try:
        async with call.services.db.sessions() as db:
            order = await order_of_link(call.context, db, token)
            partner = await db.get_one(PartnerRow, order.partner_id)
    except NotFound as error:
        raise NotFound(lookup={"token": token}, thing="order") from error
    call.add_audit_subject(order)
    return replace(call.context, caller=Caller.customer(partner.id, partner.marketplace_id), idempotency=None)


async def _view(buyer: Context, token: str) -> CustomerOrder:
    page, form = await find_order_page(buyer, token), await find_refund_form(buyer, token)
    return CustomerOrderView(page, form, buyer.services.public_url).order()
