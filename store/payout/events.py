"""Emits the events about payout requests. `schema.event_payments` documents their data."""

from collections.abc import Iterable

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.payout.requests import PayoutRequestRow


async def emit_payout_events(db: AsyncSession, kind: EventType, payouts: Iterable[PayoutRequestRow]) -> None:
    """Emit an event for each, with its state after the change, in the transaction of the change."""
    await emit(db, *(_event(kind, payout) for payout in payouts))


def _event(kind: EventType, payout: PayoutRequestRow) -> NewEvent:
    data = {
        "id": payout.id,
        "status": payout.status.value,
        "amount": money_data(payout.payout_amount, payout.currency),
        "first_day": payout.first_day.isoformat(),
        "last_day": payout.last_day.isoformat(),
        "detail": payout.detail,
        "validated_on": datetime_data(payout.validated_on),
        "paid_on": datetime_data(payout.paid_on),
        "returned_on": datetime_data(payout.returned_on),
    }
    return NewEvent(kind, partner_id=payout.partner_id, subject=str(payout.id), data=data)
