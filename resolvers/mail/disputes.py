"""Mail to the staff of a partner about a dispute."""

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.mails import partner_with_time_zone
from schema.mail import MailKind
from schema.payment.dispute import DisputeKind
from store.mail.content import DisputeContent
from store.mail.outbox import enqueue_mail
from store.order.orders import OrderRow
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentRow


async def queue_dispute_mail(db: AsyncSession, kind: MailKind, dispute: DisputeRow) -> None:
    """Queue the mail about a dispute that was opened or has ended; one of each kind."""
    partner, time_zone = await partner_with_time_zone(db, dispute.partner_id)
    query = (
        select(PaymentRow, OrderRow)
        .outerjoin(OrderRow, col(OrderRow.id) == col(PaymentRow.order_id))
        .where(col(PaymentRow.id) == dispute.payment_id)
    )
    payment, order = (await db.exec(query)).one()
    about = DisputeContent(
        dispute_id=str(dispute.id),
        state=dispute.state,
        amount=dispute.dispute_amount,
        lost=dispute.lost_amount,
        currency=dispute.currency,
        reason=dispute.reason_message or dispute.reason_code,
        contest_until=dispute.contest_until,
        time_zone=time_zone,
        order_number=order.number if order else None,
        order_status=order.status if order else None,
        is_taken=dispute.kind is not DisputeKind.RETRIEVAL or dispute.taken_on is not None,
        buyer=f"{payment.customer_first_name} {payment.customer_last_name}".strip() or payment.customer_email,
        paid_on=payment.created_on,
    )
    await enqueue_mail(
        db,
        kind,
        to=partner.agency_email,
        language=partner.language,
        partner_id=partner.id,
        about=about.model_dump(),
        unique_key=str(dispute.id),
    )
