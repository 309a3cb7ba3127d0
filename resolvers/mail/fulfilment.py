"""Mail to buyers about the fulfilment of their orders."""

from collections.abc import Mapping

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from schema.order.fulfilment import FulfilmentState
from store.mail.orders import fulfilment_content
from store.mail.outbox import enqueue_mail
from store.order.fulfilment import is_nothing_to_fulfil, lines_to_fulfil
from store.order.orders import OrderRow
from store.partner.partners import partner_with_time_zone
from store.payment.attempts import AttemptRow

MAIL_ABOUT: Mapping[FulfilmentState, MailKind] = {
    FulfilmentState.READY_TO_COLLECT: MailKind.ORDER_READY,
    FulfilmentState.SENT: MailKind.ORDER_SENT,
    FulfilmentState.CANCELLED: MailKind.ORDER_CANCELLED,
}
"""What buyers do not see by themselves. They know that they have collected something, or that it has arrived."""


async def queue_fulfilment_mail(db: AsyncSession, order: OrderRow) -> None:
    """Queue the mail about the state that a locked order has reached, if there is one about it."""
    state = order.fulfilment_state
    kind = None if state is None else MAIL_ABOUT.get(state)
    if kind is None:
        return
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    _, time_zone = await partner_with_time_zone(db, order.partner_id)
    lines, is_refunded = await lines_to_fulfil(db, order), await is_nothing_to_fulfil(db, order)
    about = fulfilment_content(order, attempt, lines, time_zone, is_refunded=is_refunded)
    await enqueue_mail(
        db,
        kind,
        to=order.buyer_email,
        language=order.language,
        partner_id=order.partner_id,
        about=about.model_dump(),
    )
