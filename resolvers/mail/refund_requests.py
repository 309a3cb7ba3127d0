"""Mail about requests of buyers: to them, and to who sells."""

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.refunds import pages_by_address
from schema.checkout.checkout import ShopKind
from schema.mail import MailKind
from store.account.staff import STAFF_LANGUAGE
from store.mail.link_content import RefundRequestContent, RequestLineContent
from store.mail.outbox import enqueue_mail
from store.order.orders import OrderProductRow, OrderRow
from store.order.refund_requests import RefundRequestRow, lines_of_requests
from store.order.refunds import lines_of_order
from store.partner.partners import MarketplaceRow, partner_with_time_zone
from store.payment.attempts import AttemptRow


async def queue_request_receipt(db: AsyncSession, order: OrderRow, request: RefundRequestRow) -> None:
    """Queue the mail that confirms a request, with its content, date and time. It goes to the address that the request
    names, and to the buyer's if that is another one.
    """
    await _queue_for_buyer(db, MailKind.REQUEST_RECEIPT, order, request)


async def queue_new_request_mail(
    db: AsyncSession, order: OrderRow, request: RefundRequestRow, *, is_approved: bool = False
) -> None:
    """Queue the mail about a request for the partner, and for the network if it has sold what the request is about; for the
    network alone if it has sold all of the order.
    """
    partner, _ = await partner_with_time_zone(db, order.partner_id)
    about = (await _content(db, order, request)).model_copy(update={"is_approved": is_approved})
    recipients = {partner.agency_email.lower(): (partner.agency_email, partner.language, str(request.id))}
    if await _is_about_network(db, order, request):
        email = (await db.get_one(MarketplaceRow, partner.marketplace_id)).email
        if order.kind is ShopKind.NETWORK:
            recipients = {email.lower(): (email, STAFF_LANGUAGE, str(request.id))}
        recipients.setdefault(email.lower(), (email, STAFF_LANGUAGE, f"{request.id}:network"))
    for to, language, key in recipients.values():
        await enqueue_mail(
            db,
            MailKind.NEW_REQUEST,
            to=to,
            language=language,
            partner_id=order.partner_id,
            about=about.model_dump(),
            unique_key=key,
        )


async def _is_about_network(db: AsyncSession, order: OrderRow, request: RefundRequestRow) -> bool:
    """Whether a line of a request is of the network."""
    if order.kind is not ShopKind.MIXED:
        return order.kind is ShopKind.NETWORK
    line = OrderProductRow
    ids = [each.order_product_id for each in (await lines_of_requests(db, [request]))[request.id]]
    query = select(line.id).where(col(line.id).in_(ids), col(line.network_id).is_not(None))
    return (await db.exec(query.limit(1))).first() is not None


async def queue_decline_mail(db: AsyncSession, order: OrderRow, request: RefundRequestRow) -> None:
    """Queue the mail with the seller's message about a request that is declined. It goes where the receipt went."""
    await _queue_for_buyer(db, MailKind.REQUEST_DECLINED, order, request)


async def _queue_for_buyer(db: AsyncSession, kind: MailKind, order: OrderRow, request: RefundRequestRow) -> None:
    about = await _content(db, order, request)
    for to, page in pages_by_address(order, request.customer_email).items():
        await enqueue_mail(
            db,
            kind,
            to=to,
            language=order.language,
            partner_id=order.partner_id,
            about=about.model_copy(update={"order_page": page}).model_dump(),
            unique_key=f"{request.id}:{to.lower()}",
        )


async def _content(db: AsyncSession, order: OrderRow, request: RefundRequestRow) -> RefundRequestContent:
    _, time_zone = await partner_with_time_zone(db, order.partner_id)
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    sold = {row.id: line for row, line in zip(await lines_of_order(db, order), attempt.lines, strict=True)}
    lines = (await lines_of_requests(db, [request]))[request.id]
    return RefundRequestContent(
        number=order.number,
        ordered_on=order.created_on,
        time_zone=time_zone,
        first_name=order.buyer_first_name,
        kind=request.kind,
        requested_on=request.requested_on,
        customer_name=request.customer_name,
        customer_email=request.customer_email,
        reason=request.reason,
        lines=tuple(
            RequestLineContent(
                name=sold[line.order_product_id].name,
                details=sold[line.order_product_id].details,
                quantity=line.quantity,
                picture=sold[line.order_product_id].picture_url,
            )
            for line in lines
        ),
        includes_delivery=request.includes_delivery,
        answer=request.answer,
    )
