"""Mail to the staff of a partner about a dispute."""

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.mails import partner_with_time_zone
from schema.gift_card.gift_card import GiftCardStatus
from schema.mail import MailKind
from schema.order import OrderStatus
from schema.payment.dispute import DisputeKind
from schema.voucher.voucher import VoucherState
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import SPENDABLE
from store.mail.content import DisputeContent
from store.mail.outbox import enqueue_mail
from store.order.orders import OrderProductRow, OrderRow
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentRow
from store.voucher.rules import REDEEMABLE
from store.voucher.vouchers import VoucherRow


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
        has_goods=order is not None and await _has_goods(db, order),
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


async def _has_goods(db: AsyncSession, order: OrderRow) -> bool:
    """Whether vouchers or gift cards of lines that are not refunded can be used but for the dispute, or have been
    withdrawn because it was lost.
    """
    is_lost = order.status is OrderStatus.CHARGED_BACK
    states = (*REDEEMABLE, VoucherState.ERROR) if is_lost else REDEEMABLE
    statuses = (*SPENDABLE, GiftCardStatus.CANCELLED) if is_lost else SPENDABLE
    line = OrderProductRow
    query = (
        select(line.id)
        .outerjoin(VoucherRow, col(VoucherRow.id) == col(line.voucher_id))
        .outerjoin(GiftCardRow, col(GiftCardRow.id) == col(line.gift_card_id))
        .where(col(line.order_id) == order.id, col(line.refunded_quantity) == 0)
        .where(col(VoucherRow.state).in_(states) | col(GiftCardRow.status).in_(statuses))
    )
    return (await db.exec(query.limit(1))).first() is not None
