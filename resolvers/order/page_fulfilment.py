"""The fulfilment of an order, as its buyer sees it."""

import datetime as dt

from schema.delivery.delivery import DeliveryKind
from schema.order.fulfilment import FulfilmentState
from schema.order.page_fulfilment import FulfilmentStep, OrderPageFulfilment
from store.order.fulfilment import CANCELLED, COLLECTED, DELIVERED, REACHED_ON, READY, SENT, TO_PREPARE
from store.order.orders import OrderRow


def page_fulfilment(order: OrderRow) -> OrderPageFulfilment | None:
    """The fulfilment of an order; None if it has none."""
    state = order.fulfilment_state
    if state is None:
        return None
    return OrderPageFulfilment(
        state=state,
        moment=_moment(order, state),
        carrier=order.fulfilment_carrier or "",
        tracking_number=order.fulfilment_tracking_number or "",
        tracking_url=order.fulfilment_tracking_url or "",
        steps=tuple(
            FulfilmentStep(
                step, _moment(order, step), is_reached=at <= _way(order).index(state), is_current=step is state
            )
            for at, step in enumerate(_way(order))
        ),
    )


def _way(order: OrderRow) -> list[FulfilmentState]:
    """The states of an order, one after the other. Shops rarely learn that a parcel has arrived: that is no step to wait
    for. What was collected without being marked as ready was not.
    """
    if order.fulfilment_state is CANCELLED:
        return [TO_PREPARE, *([READY] if order.fulfilment_ready_on else []), CANCELLED]
    if order.delivery_kind is DeliveryKind.CLICK_AND_COLLECT:
        skipped = order.fulfilment_state is COLLECTED and order.fulfilment_ready_on is None
        return [TO_PREPARE, *([] if skipped else [READY]), COLLECTED]
    return [TO_PREPARE, SENT, *([DELIVERED] if order.fulfilment_state is DELIVERED else [])]


def _moment(order: OrderRow, state: FulfilmentState) -> dt.datetime | None:
    column = REACHED_ON.get(state)
    moment: dt.datetime | None = None if column is None else getattr(order, column)
    return moment
