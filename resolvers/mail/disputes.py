"""Mail about a dispute, to the staff of the partner; of a refill, to the marketplace's."""

from collections.abc import Sequence

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.authentication import permissions_of
from resolvers.mail.mails import partner_with_time_zone
from schema.core.permission import Permission
from schema.mail import MailKind
from schema.payment.dispute import DisputeKind
from store.account.staff import STAFF_LANGUAGE, staff_of_marketplace
from store.account.users import UserRow
from store.mail.content import DisputeContent
from store.mail.outbox import enqueue_mail
from store.order.orders import OrderRow
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentRow

log = structlog.get_logger(__name__)


async def queue_dispute_mail(db: AsyncSession, kind: MailKind, dispute: DisputeRow) -> None:
    """Queue the mail about a dispute that was opened or has ended; one of each kind for each recipient."""
    partner, time_zone = await partner_with_time_zone(db, dispute.partner_id)
    query = (
        select(PaymentRow, OrderRow)
        .outerjoin(OrderRow, col(OrderRow.id) == col(PaymentRow.order_id))
        .where(col(PaymentRow.id) == dispute.payment_id)
    )
    payment, order = (await db.exec(query)).one()
    about = _content(dispute, payment, order, time_zone)
    if payment.is_refill:
        await _queue_for_marketplace(db, kind, dispute, about, partner.marketplace_id)
        return
    await enqueue_mail(
        db,
        kind,
        to=partner.agency_email,
        language=partner.language,
        partner_id=partner.id,
        about=about.model_dump(),
        unique_key=str(dispute.id),
    )


def _content(dispute: DisputeRow, payment: PaymentRow, order: OrderRow | None, time_zone: str) -> DisputeContent:
    return DisputeContent(
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
        is_refill=payment.is_refill,
        buyer=f"{payment.customer_first_name} {payment.customer_last_name}".strip() or payment.customer_email,
        paid_on=payment.created_on,
    )


async def _queue_for_marketplace(
    db: AsyncSession, kind: MailKind, dispute: DisputeRow, about: DisputeContent, marketplace_id: int
) -> None:
    """Queue the mail for each user of the marketplace who may answer the dispute."""
    users = await _who_may_answer(db, marketplace_id)
    if not users:
        log.warning("nobody to tell of a dispute", dispute=str(dispute.id), marketplace_id=marketplace_id)
    for user in users:
        await enqueue_mail(
            db,
            kind,
            to=user.email,
            language=STAFF_LANGUAGE,
            partner_id=None,
            marketplace_id=marketplace_id,
            about=about.model_dump(),
            unique_key=f"{dispute.id}:{user.id}",
        )


async def _who_may_answer(db: AsyncSession, marketplace_id: int) -> Sequence[UserRow]:
    staff = await staff_of_marketplace(db, marketplace_id)
    return [user for user in staff if Permission.REFUND_PAYMENT in permissions_of(user)]
