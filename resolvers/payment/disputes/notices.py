"""Tells of disputes: events for systems, mail for the staff of the partner; of a refill, of the marketplace."""

from collections.abc import Mapping

from prometheus_client import Counter
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.disputes import queue_dispute_mail
from schema.event import EventType
from schema.mail import MailKind
from schema.payment.dispute import DisputeState
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.payment.disputes import OPEN_STATES, DisputeRow

OPENED = Counter("coffret_disputes_opened", "Disputes of payments that buyers' banks have opened.")
ENDED = Counter("coffret_disputes_ended", "Disputes that have ended, by how.", ["state"])
ENDS: Mapping[DisputeState, EventType] = {
    DisputeState.WON: EventType.DISPUTE_WON,
    DisputeState.LOST: EventType.DISPUTE_LOST,
    DisputeState.CANCELLED: EventType.DISPUTE_CANCELLED,
}


async def tell_of_opening(db: AsyncSession, dispute: DisputeRow) -> None:
    """Emit the event of a new dispute; staff gets mail if something can still be done."""
    OPENED.inc()
    await emit_dispute_event(db, EventType.DISPUTE_OPENED, dispute)
    if dispute.state in OPEN_STATES:
        await queue_dispute_mail(db, MailKind.DISPUTE_OPENED, dispute)


async def tell_of_change(db: AsyncSession, dispute: DisputeRow) -> None:
    """Emit the event of a dispute's new state; its end is mailed to staff."""
    await emit_dispute_event(db, ENDS.get(dispute.state, EventType.DISPUTE_UPDATED), dispute)
    if dispute.state in ENDS:
        ENDED.labels(dispute.state.value).inc()
        await queue_dispute_mail(db, MailKind.DISPUTE_ENDED, dispute)


async def emit_dispute_event(db: AsyncSession, kind: EventType, dispute: DisputeRow) -> None:
    """Emit an event with the dispute's state after the change, in the transaction of the change."""
    data = {
        "id": str(dispute.id),
        "payment_id": str(dispute.payment_id),
        "state": dispute.state.value,
        "kind": dispute.kind.value,
        "amount": money_data(dispute.dispute_amount, dispute.currency),
        "lost": money_data(dispute.lost_amount, dispute.currency),
        "reason_code": dispute.reason_code,
        "reason_message": dispute.reason_message,
        "contest_until": datetime_data(dispute.contest_until),
        "closed_on": datetime_data(dispute.closed_on),
    }
    await emit(db, NewEvent(kind, partner_id=dispute.partner_id, subject=str(dispute.id), data=data))
