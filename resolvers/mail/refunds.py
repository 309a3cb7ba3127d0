"""Mail to buyers about refunds of their orders."""

from collections.abc import Mapping
from decimal import Decimal
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from store.mail.content import OrderLineContent, OrderRefundContent
from store.mail.outbox import enqueue_mail
from store.order.orders import OrderRow
from store.order.refunds import OrderRefund
from store.payment.payments import RefundRow
from store.payment.snapshot import AttemptLine


def pages_by_address(order: OrderRow, typed: str) -> Mapping[str, UUID | None]:
    """The addresses of a message about a request, with the page of the order that it leads to: the buyer's address, and
    the one that the request names if it is another one. That one may be mistyped, so it gets no link to the page.
    """
    others = {typed: None} if typed.lower() != order.buyer_email.lower() else {}
    return {order.buyer_email: order.uuid, **others}


async def queue_order_refund_mail(
    db: AsyncSession, refund: RefundRow, plan: OrderRefund, sold: Mapping[int, AttemptLine], card_amount: Decimal
) -> None:
    """Queue the mail that tells the buyer which lines are refunded, and where the money goes: `card_amount` of it to
    the bank card. It goes to the address of the request too that it answers. `sold` are the lines as they were bought, by
    the id of the order's.
    """
    order, answers = plan.order, plan.answers
    about = OrderRefundContent(
        first_name=order.buyer_first_name,
        order_number=order.number,
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
                picture=sold[each.line.id].picture_url,
            )
            for each in plan.lines
        ),
        is_withdrawn=any(each.quantity and each.line.product_id is None for each in plan.lines),
        message=answers.message if answers else "",
    )
    for to, page in pages_by_address(order, answers.email if answers else order.buyer_email).items():
        await enqueue_mail(
            db,
            MailKind.ORDER_REFUNDED,
            to=to,
            language=order.language,
            partner_id=order.partner_id,
            about=about.model_dump() | {"order_page": page},
            unique_key=f"{refund.id}:{to.lower()}",
        )
