"""The states of the fulfilment of orders. They change only under the lock of their order."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.delivery.delivery import DeliveryKind
from schema.order.errors import NothingToFulfil
from schema.order.fulfilment import FulfilmentState
from schema.order.order import OrderStatus
from store.core.state_machine import StateMachine
from store.order.events import emit_fulfilment_changed
from store.order.orders import OrderProductRow, OrderRow
from store.order.refunds import left_of_line, lines_of_order
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow
from store.payment.snapshot import AttemptLine

TO_PREPARE, CANCELLED = FulfilmentState.TO_PREPARE, FulfilmentState.CANCELLED
READY, COLLECTED = FulfilmentState.READY_TO_COLLECT, FulfilmentState.COLLECTED
SENT, DELIVERED = FulfilmentState.SENT, FulfilmentState.DELIVERED

# A customer may come before the order is marked as ready.
COLLECTION = StateMachine(
    "An order to collect",
    {TO_PREPARE: {READY, COLLECTED, CANCELLED}, READY: {COLLECTED, CANCELLED}, CANCELLED: {TO_PREPARE}},
    asked_for=True,
)
SHIPPING = StateMachine(
    "An order to send",
    {TO_PREPARE: {SENT, CANCELLED}, SENT: {DELIVERED}, CANCELLED: {TO_PREPARE}},
    asked_for=True,
)
MACHINES: Mapping[DeliveryKind, StateMachine[FulfilmentState]] = {
    DeliveryKind.CLICK_AND_COLLECT: COLLECTION,
    DeliveryKind.HOME_DELIVERY: SHIPPING,
}
REACHED_ON: Mapping[FulfilmentState, str] = {
    READY: "fulfilment_ready_on",
    COLLECTED: "fulfilment_collected_on",
    SENT: "fulfilment_sent_on",
    DELIVERED: "fulfilment_delivered_on",
    CANCELLED: "fulfilment_cancelled_on",
}
"""The column that tells when a state was reached."""


def first_state(kind: DeliveryKind) -> FulfilmentState | None:
    """The state in which the fulfilment of a new order begins; None if nothing is handed over or sent."""
    return TO_PREPARE if kind in MACHINES else None


async def change_fulfilment(db: AsyncSession, order: OrderRow, new: FulfilmentState, now: dt.datetime) -> bool:
    """Change the state of a locked order and emit the event. Returns False, without change, if it has that state.

    Raises InvalidTransition, and NothingToFulfil for an order without a fulfilment, or whose money has all gone back.
    """
    old = order.fulfilment_state
    if old is None:
        raise NothingToFulfil
    if old is new:
        return False
    state = MACHINES[order.delivery_kind].require(old, new)
    if state is TO_PREPARE:
        if await is_nothing_to_fulfil(db, order):
            raise NothingToFulfil
        for column in REACHED_ON.values():
            setattr(order, column, None)
    else:
        setattr(order, REACHED_ON[state], now)
    order.fulfilment_state = state
    await db.flush()
    await emit_fulfilment_changed(db, order, old, now)
    return True


def may_cancel(order: OrderRow) -> bool:
    """Whether an order waits to be handed over or sent, so that its fulfilment can be cancelled."""
    state = order.fulfilment_state
    return state is not None and MACHINES[order.delivery_kind].allows(state, CANCELLED)


async def is_all_refunded(db: AsyncSession, order: OrderRow) -> bool:
    """Whether nothing is left of a locked order: its money, or that of all its lines, goes back or has gone back."""
    if order.status in {OrderStatus.REFUNDED, OrderStatus.CHARGED_BACK}:
        return True
    line, payment = OrderProductRow, PaymentRow
    no_line_left = select(func.bool_and(line.refunded_quantity == line.quantity)).where(col(line.order_id) == order.id)
    no_money_left = select(func.bool_and(payment.refunded_amount == payment.payment_amount)).where(
        col(payment.order_id) == order.id, col(payment.payment_amount) > 0
    )
    return bool((await db.exec(no_line_left)).one() or (await db.exec(no_money_left)).one())


async def delivered_lines(db: AsyncSession, order: OrderRow) -> Sequence[tuple[AttemptLine, OrderProductRow]]:
    """The lines of a locked order that are handed over or sent; all of one that is wholly e-mailed."""
    attempt, sold = await db.get_one(AttemptRow, order.attempt_id), await lines_of_order(db, order)
    lines = list(zip(attempt.lines, sold, strict=True))
    sent = [
        (line, row)
        for line, row in lines
        if line.purchase is None or not attempt.reception_of(line.purchase).is_by_email
    ]
    return sent or lines


async def is_nothing_to_fulfil(db: AsyncSession, order: OrderRow) -> bool:
    """Whether nothing of an order is left to hand over or to send; of a locked one if that decides."""
    lines = await delivered_lines(db, order)
    is_none_left = bool(lines) and not any(left_of_line(row) for _, row in lines)
    return is_none_left or await is_all_refunded(db, order)


async def lines_to_fulfil(db: AsyncSession, order: OrderRow) -> Sequence[AttemptLine]:
    """The lines that are handed over or sent, as they were bought, without what is e-mailed and what is refunded of them.
    If nothing is left of them, all of them.
    """
    lines = await delivered_lines(db, order)
    left = [replace(line, quantity=left_of_line(row)) for line, row in lines if left_of_line(row)]
    return left or [line for line, _ in lines]
