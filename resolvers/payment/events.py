"""Emits the events about payments and refunds. `schema.event_payments` documents their data."""

from collections.abc import Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.payment.payment import PaymentCustomer
from store.event.data import money_data
from store.event.events import NewEvent, emit
from store.order.refunds import lines_of_refund
from store.payment.payments import PaymentRow, RefundRow


async def emit_payment_event(db: AsyncSession, kind: EventType, payment: PaymentRow) -> None:
    """Emit an event with the payment's state after the change, in the transaction of the change."""
    data = {
        "id": str(payment.id),
        "status": payment.status.value,
        "amount": money_data(payment.payment_amount, payment.currency),
        "commission": money_data(payment.commission_amount, payment.currency),
        "refunded": money_data(payment.refunded_amount, payment.currency),
        "product": payment.product,
        "origin": payment.origin,
        "order_id": payment.order_id,
        "payment_request_id": payment.payment_request_id,
        "customer": customer_data(payment),
        "result_code": payment.payin_result_code,
    }
    await emit(db, NewEvent(kind, partner_id=payment.partner_id, subject=str(payment.id), data=data))


async def emit_refund_event(
    db: AsyncSession, kind: EventType, refund: RefundRow, *, is_of_amount: bool = False
) -> None:
    """Emit an event with the refund's state after the change, in the transaction of the change.

    A refund that is known to be of an amount has no lines to read.
    """
    lines = () if is_of_amount else await lines_of_refund(db, refund)
    data = {
        "id": str(refund.id),
        "payment_id": str(refund.payment_id),
        "state": refund.state.value,
        "amount": money_data(refund.refund_amount, refund.currency),
        "origin": refund.origin.value,
        "reason": refund.reason,
        "detail": refund.detail,
        "lines": [
            {"id": line.id, "quantity": part.quantity, "amount": money_data(part.line_amount, refund.currency)}
            for part, line in lines
        ],
        "delivery": money_data(refund.delivery_amount, refund.currency),
    }
    await emit(db, NewEvent(kind, partner_id=refund.partner_id, subject=str(refund.id), data=data))


def customer_data(row: PaymentCustomer) -> Mapping[str, Any]:
    return {
        "first_name": row.customer_first_name,
        "last_name": row.customer_last_name,
        "email": row.customer_email,
    }
