"""Mail about a dispute, to the staff of the partner; of a refill and of what a network sells, to the marketplace's. Of a payment
that a partner has a share of, both get it.
"""

from decimal import ROUND_HALF_UP

import structlog
from sqlalchemy import func, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.staff import staff_who_may
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus
from schema.mail import MailKind
from schema.network.voucher import NetworkVoucherStatus
from schema.order.order import OrderStatus
from schema.payment.dispute import DisputeKind
from schema.voucher.voucher import VoucherState
from store.account.staff import STAFF_LANGUAGE
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import SPENDABLE
from store.mail.content import DisputeContent
from store.mail.outbox import enqueue_mail
from store.network.voucher_states import USABLE
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderProductRow, OrderRow
from store.partner.partners import partner_with_time_zone
from store.payment.dispute_postings import share_in_dispute
from store.payment.disputes import DisputeRow, card_source_of
from store.payment.payments import PaymentRow
from store.voucher.rules import REDEEMABLE
from store.voucher.vouchers import VoucherRow

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
    about = await _content(db, dispute, payment, order, time_zone)
    if payment.is_for_marketplace:
        await _queue_for_marketplace(db, kind, dispute, about, partner.marketplace_id)
        if not payment.partner_share_amount:
            return
        about = await _of_share(db, dispute, payment, about)
        if not about.amount:  # refunds have left nothing of it
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


async def _content(
    db: AsyncSession, dispute: DisputeRow, payment: PaymentRow, order: OrderRow | None, time_zone: str
) -> DisputeContent:
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
        has_goods=order is not None and await _has_goods(db, order),
        is_taken=dispute.kind is not DisputeKind.RETRIEVAL or dispute.taken_on is not None,
        is_for_marketplace=payment.is_for_marketplace,
        buyer=f"{payment.customer_first_name} {payment.customer_last_name}".strip() or payment.customer_email,
        paid_on=payment.created_on,
    )


async def _of_share(
    db: AsyncSession, dispute: DisputeRow, payment: PaymentRow, about: DisputeContent
) -> DisputeContent:
    """The same of the partner's share in what is disputed. The marketplace answers."""
    share = dispute.partner_share_amount
    if dispute.taken_on is None:
        share = share_in_dispute(payment, await card_source_of(db, payment), dispute.dispute_amount)
    lost = (share * dispute.lost_amount / dispute.dispute_amount).quantize(share, ROUND_HALF_UP)
    of_partner = {"is_for_marketplace": False, "is_of_share": True, "contest_until": None}
    return about.model_copy(update={"amount": share, "lost": lost, **of_partner})


async def _has_goods(db: AsyncSession, order: OrderRow) -> bool:
    """Whether vouchers or gift cards of lines that are not refunded can be used but for the dispute, or have been
    withdrawn because it was lost.
    """
    is_lost = order.status is OrderStatus.CHARGED_BACK
    states = (*REDEEMABLE, VoucherState.ERROR) if is_lost else REDEEMABLE
    statuses = (*SPENDABLE, GiftCardStatus.CANCELLED) if is_lost else SPENDABLE
    of_networks = (*USABLE, NetworkVoucherStatus.CANCELLED) if is_lost else USABLE
    line = OrderProductRow
    query = (
        select(line.id)
        .outerjoin(VoucherRow, col(VoucherRow.id) == col(line.voucher_id))
        .outerjoin(
            GiftCardRow, col(GiftCardRow.id) == func.coalesce(col(line.gift_card_id), col(line.network_gift_card_id))
        )
        .outerjoin(NetworkVoucherRow, col(NetworkVoucherRow.id) == col(line.network_voucher_id))
        .where(col(line.order_id) == order.id, col(line.refunded_quantity) == 0)
        .where(
            or_(
                col(VoucherRow.state).in_(states),
                col(GiftCardRow.status).in_(statuses),
                col(NetworkVoucherRow.status).in_(of_networks),
            )
        )
    )
    return (await db.exec(query.limit(1))).first() is not None


async def _queue_for_marketplace(
    db: AsyncSession, kind: MailKind, dispute: DisputeRow, about: DisputeContent, marketplace_id: int
) -> None:
    """Queue the mail for each user of the marketplace who may answer the dispute."""
    users = await staff_who_may(db, marketplace_id, Permission.REFUND_PAYMENT)
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
