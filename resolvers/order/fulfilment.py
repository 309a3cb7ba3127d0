"""The fulfilment of orders by staff: ready to collect, collected, sent, delivered, cancelled, reopened."""

import datetime as dt
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import id_from_input
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.mail.fulfilment import queue_fulfilment_mail
from schema.core.permission import Permission
from schema.order.fulfilment import FulfilmentState
from schema.order.input import (
    CancelOrderFulfilment,
    MarkOrderCollected,
    MarkOrderDelivered,
    MarkOrderReady,
    MarkOrderSent,
    ReopenOrderFulfilment,
)
from schema.order.order import Order
from schema.voucher.voucher import ExpeditionStatus
from store.order.events import emit_fulfilment_changed
from store.order.fulfilment import change_fulfilment, is_nothing_to_fulfil, may_cancel
from store.order.orders import OrderRow, lock_order
from store.voucher.states import lock_vouchers_of_order

TRACKING = ("carrier", "tracking_number", "tracking_url")


async def find_order(call: Call, input: Any) -> OrderRow:
    """The order of an input's `id`. Raises NotFound if the caller cannot see it."""
    return await find_visible(call.db, call.caller, OrderRow, "order", id=id_from_input(input))


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def mark_order_ready(call: Call, input: MarkOrderReady) -> Order:
    """Record that an order is ready to collect; the buyer gets a mail. The same state changes nothing; a transition that is
    not allowed is refused with `INVALID_TRANSITION`.
    """
    return await _move(call, input.id, FulfilmentState.READY_TO_COLLECT)


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def mark_order_collected(call: Call, input: MarkOrderCollected) -> Order:
    """Record that an order was collected, whether it was marked as ready before or not. The same state changes nothing; a
    transition that is not allowed is refused with `INVALID_TRANSITION`.
    """
    return await _move(call, input.id, FulfilmentState.COLLECTED)


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def mark_order_sent(call: Call, input: MarkOrderSent) -> Order:
    """Record that an order was sent; the buyer gets a mail with what is known of the carrier. Vouchers of the order that are
    to be sent are sent too. The same state changes nothing, unless the carrier, the number or the link is another one: then
    it is corrected, and the buyer gets a mail again. A transition that is not allowed is refused with `INVALID_TRANSITION`.
    """
    now = call.services.clock.now()
    vouchers = await lock_vouchers_of_order(call.db, (await find_order(call, {"id": input.id})).id)
    order = await lock_order(call.db, input.id)
    told = {name: getattr(input, name) or None for name in TRACKING}
    is_new = order.fulfilment_state is not FulfilmentState.SENT
    is_other = any(value is not None and value != getattr(order, f"fulfilment_{name}") for name, value in told.items())
    if not is_new and not is_other:
        return order
    for name, value in told.items():
        if value is not None:
            setattr(order, f"fulfilment_{name}", value)
    if not await change_fulfilment(call.db, order, FulfilmentState.SENT, now):
        await call.db.flush()
        await emit_fulfilment_changed(call.db, order, FulfilmentState.SENT, now)
    for voucher in vouchers:
        if voucher.expedition_status is ExpeditionStatus.TO_SEND and voucher.refunded_on is None:
            voucher.expedition_status, voucher.expedition_date = ExpeditionStatus.SENT, now
    await queue_fulfilment_mail(call.db, order)
    return order


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def mark_order_delivered(call: Call, input: MarkOrderDelivered) -> Order:
    """Record that an order that was sent has arrived. The same state changes nothing; a transition that is not allowed is
    refused with `INVALID_TRANSITION`.
    """
    return await _move(call, input.id, FulfilmentState.DELIVERED)


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def cancel_order_fulfilment(call: Call, input: CancelOrderFulfilment) -> Order:
    """Neither hand over nor send an order that still waits for it; the buyer gets a mail. Nothing is refunded by it. The
    same state changes nothing; a transition that is not allowed is refused with `INVALID_TRANSITION`.
    """
    return await _move(call, input.id, FulfilmentState.CANCELLED)


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def reopen_order_fulfilment(call: Call, input: ReopenOrderFulfilment) -> Order:
    """Prepare an order again whose fulfilment was cancelled. The same state changes nothing; a transition that is not
    allowed is refused with `INVALID_TRANSITION`, and an order of which all is refunded with `NOTHING_TO_FULFIL`.
    """
    return await _move(call, input.id, FulfilmentState.TO_PREPARE)


async def _move(call: Call, id: int, state: FulfilmentState) -> OrderRow:
    order = await find_visible(call.db, call.caller, OrderRow, "order", lock=True, id=id)
    if await change_fulfilment(call.db, order, state, call.services.clock.now()):
        await queue_fulfilment_mail(call.db, order)
    return order


async def cancel_if_refunded(db: AsyncSession, order_id: int | None, now: dt.datetime, *, tells: bool) -> None:
    """Cancel the fulfilment of an order that still waits for it and of which nothing is left: its money goes back, or its
    bank has taken it. With `tells`, the buyer gets a mail, unless another one says so. Repeating it changes nothing.
    """
    if order_id is None:
        return
    order = await lock_order(db, order_id)
    if may_cancel(order) and await is_nothing_to_fulfil(db, order):
        await change_fulfilment(db, order, FulfilmentState.CANCELLED, now)
        if tells:
            await queue_fulfilment_mail(db, order)
