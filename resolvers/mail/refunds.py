"""Mail to buyers about refunds of their orders."""

from collections.abc import Mapping
from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from store.mail.content import OrderLineContent, OrderRefundContent
from store.mail.outbox import enqueue_mail
from store.order.refunds import OrderRefund
from store.payment.payments import RefundRow
from store.payment.snapshot import AttemptLine


async def queue_order_refund_mail(
    db: AsyncSession, refund: RefundRow, plan: OrderRefund, sold: Mapping[int, AttemptLine], card_amount: Decimal
) -> None:
    """Queue the mail that tells the buyer which lines are refunded, and where the money goes: `card_amount` of it to
    the bank card. `sold` are the lines as they were bought, by the id of the order's.
    """
    order, answers = plan.order, plan.answers
    about = OrderRefundContent(
        first_name=order.buyer_first_name,
        order_number=order.number,
        order_page=order.uuid,
        currency=refund.currency,
        card_amount=card_amount,
        gift_card_amount=refund.refund_amount - card_amount,
        delivery_amount=plan.delivery,
        lines=tuple(
            OrderLineContent(
                name=each.line.name,
                details=sold[each.line.id].details,
                quantity=each.quantity or each.line.refunded_quantity,
                total=each.amount,
            )
            for each in plan.lines
        ),
        is_withdrawn=any(each.quantity and each.line.product_id is None for each in plan.lines),
        message=answers.message if answers else "",
    )
    await enqueue_mail(
        db,
        MailKind.ORDER_REFUNDED,
        to=answers.email if answers else order.buyer_email,
        language=order.language,
        partner_id=order.partner_id,
        about=about.model_dump(),
        unique_key=str(refund.id),
    )
