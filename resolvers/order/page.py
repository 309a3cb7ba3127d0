"""The page of an order. The token in its link is the credential: whoever has the link sees the order."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.order.issued import issued_item, issued_rows
from resolvers.order.page_fulfilment import page_fulfilment
from resolvers.order.page_requests import page_requests, request_offer
from schema.checkout.checkout import ShopKind, Totals
from schema.checkout.codes import AppliedCode, CodeKind
from schema.core.errors import NotFound
from schema.order.page import OrderPage, OrderPageBilling, OrderPageDelivery, OrderPageLine, OrderPageRefund
from schema.payment.payment import PaymentStatus, PaymentTransactionStatus, RefundState
from store.checkout.shops import shop_url
from store.core.codes import format_code
from store.document.addresses import DocumentKind, document_path
from store.legal import links_of
from store.order.links import order_path, read_order_token
from store.order.orders import OrderRow, address_lines, billing_lines
from store.order.refunds import lines_of_order
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow, partner_with_time_zone
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow, PaymentTransactionRow, RefundRow


async def find_order_page(context: Context, token: str) -> OrderPage:
    """The page of a link. It changes nothing.

    Raises NotFound for a forged link. Misses are not counted: a token is signed, and mail scanners that cut links would
    lock their office out.
    """
    services = context.services
    async with services.db.sessions() as db:
        order = await order_of_link(context, db, token)
        attempt = await db.get_one(AttemptRow, order.attempt_id)
        partner, time_zone = await partner_with_time_zone(db, order.partner_id)
        payments, shop_kind = await _payments_of(db, order), _shop_kind(attempt, partner)
        return OrderPage(
            path=order_path(services.settings, order.uuid),
            partner_id=partner.id,
            marketplace_id=partner.marketplace_id,
            brand=brand_of(partner),
            status=order.status,
            kind=order.kind,
            number=order.number,
            ordered_on=order.created_on,
            time_zone=time_zone,
            language=order.language,
            first_name=order.buyer_first_name,
            email=order.buyer_email,
            message=order.message,
            billing=_billing_of(order),
            lines=await _lines_of(services, db, order, attempt, time_zone),
            delivery=_delivery_of(order, attempt),
            fulfilment=page_fulfilment(order),
            totals=totals_of(attempt),
            codes=codes_of(attempt),
            refunds=await _refunds_of(db, payments),
            requests=await page_requests(db, order),
            request_offer=await request_offer(db, partner, order, time_zone, services.clock.now()),
            shop_kind=shop_kind,
            shop_url=shop_url(services.settings, partner.site_domain, shop_kind),
            legal=await links_of(db, order.document_ids),
            receipts=tuple(document_path(DocumentKind.RECEIPT, payment.document_token) for payment in payments),
        )


def _shop_kind(attempt: AttemptRow, partner: PartnerRow) -> ShopKind:
    """What more can be bought."""
    kind = attempt.kind
    if kind is ShopKind.MIXED:
        kind = ShopKind.VOUCHERS if any(line.voucher for line in attempt.lines) else ShopKind.GIFT_CARDS
    return ShopKind.VOUCHERS if kind is ShopKind.GIFT_CARDS and not partner.gift_card_offer_enabled else kind


async def order_of_link(context: Context, db: AsyncSession, token: str) -> OrderRow:
    """The order of a link. Raises NotFound for a forged link."""
    uuid = read_order_token(context.services.settings, token)
    order = None if uuid is None else (await db.exec(select(OrderRow).where(col(OrderRow.uuid) == uuid))).one_or_none()
    if order is None:
        raise NotFound(thing="page")
    return order


async def _lines_of(
    services: Services, db: AsyncSession, order: OrderRow, attempt: AttemptRow, time_zone: str
) -> tuple[OrderPageLine, ...]:
    """The lines, as the attempt has them: the order's were written from them, in their order."""
    now = services.clock.now().astimezone(ZoneInfo(time_zone))
    sold, issued = await lines_of_order(db, order), await issued_rows(db, order, attempt.lines)
    return tuple(
        OrderPageLine(
            name=line.name,
            details=line.details,
            quantity=line.quantity,
            unit_price=line.unit_price,
            total=line.total,
            picture_url=line.picture_url,
            refunded_quantity=row.refunded_quantity,
            issued_item=issued_item(services, made, line, attempt, now) if made is not None else None,
        )
        for line, row, made in zip(attempt.lines, sold, issued, strict=True)
    )


def _delivery_of(order: OrderRow, attempt: AttemptRow) -> OrderPageDelivery:
    return OrderPageDelivery(
        kind=order.delivery_kind,
        name=order.delivery_name,
        description=attempt.delivery.description,
        address=address_lines(order),
        country=order.country or "",
    )


def _billing_of(order: OrderRow) -> OrderPageBilling | None:
    if not order.billing_company_name:
        return None
    return OrderPageBilling(
        company_name=order.billing_company_name,
        vat_id=order.billing_vat_id or "",
        address=billing_lines(order),
        country=order.billing_country or "",
    )


async def _payments_of(db: AsyncSession, order: OrderRow) -> Sequence[PaymentRow]:
    query = select(PaymentRow).where(col(PaymentRow.order_id) == order.id, col(PaymentRow.status) == PaymentStatus.OK)
    return (await db.exec(query.order_by(col(PaymentRow.created_on)))).all()


async def _refunds_of(db: AsyncSession, payments: Sequence[PaymentRow]) -> tuple[OrderPageRefund, ...]:
    table, part = RefundRow, PaymentTransactionRow
    failed = select(func.coalesce(func.sum(part.transaction_amount), 0)).where(
        col(part.refund_id) == col(table.id), col(part.status) == PaymentTransactionStatus.ERROR
    )
    query = select(table, table.refund_amount - failed.scalar_subquery()).where(
        col(table.payment_id).in_([payment.id for payment in payments])
    )
    rows = (await db.exec(query.order_by(col(table.created_on).desc()))).all()
    return tuple(
        OrderPageRefund(
            moment=row.created_on,
            amount=amount,
            state=RefundState.DONE if row.state is RefundState.FAILED else row.state,
        )
        for row, amount in rows
        if row.state is not RefundState.FAILED or amount > 0
    )


def totals_of(attempt: AttemptRow) -> Totals:
    """The amounts of a payment attempt."""
    return Totals(
        currency=attempt.currency,
        products=attempt.products_amount,
        discount=attempt.discount_amount,
        delivery=attempt.delivery_amount,
        total=attempt.total_amount,
        gift_cards=attempt.gift_card_amount,
        by_card=attempt.card_amount,
        vat=attempt.vat,
    )


def codes_of(attempt: AttemptRow) -> tuple[AppliedCode, ...]:
    """The coupons and gift cards of a payment attempt."""
    coupons = [AppliedCode(c.code, CodeKind.COUPON, c.amount, True, c.adds, c.frees) for c in attempt.coupons]
    cards = [AppliedCode(format_code(card.code), CodeKind.GIFT_CARD, card.amount, True) for card in attempt.cards]
    return (*coupons, *cards)
