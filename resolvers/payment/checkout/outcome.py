"""The result of a payment, as shown to the customer."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.session import FAILURE_NOTICES
from resolvers.core.services import Services
from schema.checkout.checkout import (
    AppliedCode,
    CheckoutNotice,
    CodeKind,
    PaymentAttemptStatus,
    ShopKind,
    Totals,
)
from schema.checkout.outcome import IssuedItem, OrderLine, PaymentResult
from schema.coupon.coupon import ReceptionMode
from store.cart.return_urls import is_allowed
from store.checkout.purchases import reception_of
from store.core.codes import format_code
from store.document.addresses import DocumentKind, document_path
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderRow
from store.order.return_signatures import RETURN_SECRET, ReturnSecretRow, signature_of
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow
from store.payment.attempts import AttemptRow, AttemptState
from store.payment.snapshot import AttemptLine
from store.voucher.vouchers import VoucherRow

Issued: TypeAlias = VoucherRow | GiftCardRow | NetworkVoucherRow
DOCUMENTS: Mapping[type[Issued], DocumentKind] = {
    VoucherRow: DocumentKind.VOUCHER,
    GiftCardRow: DocumentKind.GIFT_CARD,
    NetworkVoucherRow: DocumentKind.NETWORK_VOUCHER,
}
STATUS = {
    AttemptState.STARTING: PaymentAttemptStatus.WAITING,
    AttemptState.OPEN: PaymentAttemptStatus.WAITING,
    AttemptState.ABANDONED: PaymentAttemptStatus.WAITING,
    AttemptState.COMPLETED: PaymentAttemptStatus.COMPLETED,
    AttemptState.FAILED: PaymentAttemptStatus.FAILED,
    AttemptState.REFUNDING: PaymentAttemptStatus.REFUNDED,
    AttemptState.REFUNDED: PaymentAttemptStatus.REFUNDED,
}


async def outcome_of(services: Services, attempt: AttemptRow) -> PaymentResult:
    """The result of an attempt, with its order if there is one."""
    async with services.db.sessions() as db:
        partner = (await db.exec(select(PartnerRow).where(col(PartnerRow.id) == attempt.partner_id))).one()
        status, brand = STATUS[attempt.state], brand_of(partner)
        if status is PaymentAttemptStatus.COMPLETED:
            return await _completed_outcome(services, db, attempt, partner)
    notice = None
    if status is PaymentAttemptStatus.FAILED:
        notice = FAILURE_NOTICES.get(attempt.failure_reason, CheckoutNotice.PAYMENT_DECLINED)
    if status is PaymentAttemptStatus.REFUNDED:
        notice = CheckoutNotice.PAYMENT_REFUNDED
    return PaymentResult(attempt.id, status, brand, notice, totals=_totals(attempt), kind=attempt.kind)


async def _completed_outcome(
    services: Services, db: AsyncSession, attempt: AttemptRow, partner: PartnerRow
) -> PaymentResult:
    order = (await db.exec(select(OrderRow).where(col(OrderRow.attempt_id) == attempt.id))).one()
    issued = await issued_items(db, order, attempt)
    return PaymentResult(
        attempt_id=attempt.id,
        status=PaymentAttemptStatus.COMPLETED,
        brand=brand_of(partner),
        return_url=await _return_url(services, db, attempt, partner, order),
        order_number=str(order.number),
        ordered_on=order.created_on,
        email=order.buyer_email,
        lines=tuple(_order_line(line, of_line) for line, of_line in zip(attempt.lines, issued, strict=True)),
        totals=_totals(attempt),
        codes=_codes(attempt),
        delivery_kind=attempt.delivery.kind,
        delivery_name=attempt.delivery.name,
        delivery_description=attempt.delivery.description,
        kind=attempt.kind,
    )


async def _return_url(
    services: Services, db: AsyncSession, attempt: AttemptRow, partner: PartnerRow, order: OrderRow
) -> str:
    """The return URL, checked again; empty if there is none or it is not allowed.

    It includes the order number if the partner asked for that, and a signature if the partner has a return secret.
    """
    url = attempt.return_url
    if not url or not is_allowed(url, partner.return_hosts):
        return ""
    if not partner.return_with_order_number:
        return url
    parts = urlsplit(url)
    added = f"order={order.number}"  # appended: the shop may have signed its own query, so that stays unchanged
    if (holder := await db.get(ReturnSecretRow, partner.id)) is not None:
        secrets = RETURN_SECRET.secrets_of(services.settings.secret, holder, services.clock.now())
        added += f"&signature={signature_of(secrets, attempt.cart_id, order.number)}"
    return parts._replace(query=f"{parts.query}&{added}" if parts.query else added).geturl()


async def issued_items(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> list[IssuedItem | None]:
    """The vouchers or gift cards of an order, one for each line of its attempt; None for goods."""
    if attempt.kind is ShopKind.PRODUCTS:
        return [None for _ in attempt.lines]
    rows: dict[tuple[type[Issued], int], Issued] = {}
    tables: tuple[Any, ...] = (VoucherRow, GiftCardRow, NetworkVoucherRow)
    for table in tables:
        found = (await db.exec(select(table).where(col(table.order_id) == order.id))).all()
        rows |= {(table, row.id): row for row in found}
    return [_issued_item(rows[_issued_by(line)], line, attempt) for line in attempt.lines]


def _issued_by(line: AttemptLine) -> tuple[type[Issued], int]:
    """The table and the id of what was issued for a line."""
    if line.voucher_id is not None:
        return VoucherRow, line.voucher_id
    if line.network_voucher_id is not None:
        return NetworkVoucherRow, line.network_voucher_id
    return GiftCardRow, line.gift_card_id or line.network_gift_card_id or 0


def _issued_item(row: Issued, line: AttemptLine, attempt: AttemptRow) -> IssuedItem:
    bought = line.network_gift_card or line.network_voucher
    return IssuedItem(
        kind=attempt.kind,
        id=row.id,
        code=row.code,
        value=_value_of(row),
        expires_on=row.expires_on,
        document_path=document_path(DOCUMENTS[type(row)], row.document_token),
        recipient_email=_sent_to(row, attempt),
        send_on=bought.send_on if bought and reception_of(attempt) is ReceptionMode.GIFTEE_EMAIL else None,
    )


def _value_of(row: Issued) -> Decimal:
    if isinstance(row, VoucherRow):
        return row.total_price_amount
    return row.value_amount if isinstance(row, GiftCardRow) else row.price_amount


def _sent_to(row: Issued, attempt: AttemptRow) -> str:
    buyer = attempt.buyer.email
    by_mail = {ReceptionMode.PRINT_AT_HOME: buyer, ReceptionMode.GIFTEE_EMAIL: row.giftee_email or buyer}
    return by_mail.get(reception_of(attempt), "")


def _order_line(line: AttemptLine, issued: IssuedItem | None) -> OrderLine:
    return OrderLine(
        name=line.name,
        details=line.details,
        quantity=line.quantity,
        unit_price=line.unit_price,
        total=line.total,
        picture_url=line.picture_url,
        issued_item=issued,
    )


def _totals(attempt: AttemptRow) -> Totals:
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


def _codes(attempt: AttemptRow) -> tuple[AppliedCode, ...]:
    coupons = [AppliedCode(c.code, CodeKind.COUPON, c.amount, True, c.adds, c.frees) for c in attempt.coupons]
    cards = [AppliedCode(format_code(card.code), CodeKind.GIFT_CARD, card.amount, True) for card in attempt.cards]
    return (*coupons, *cards)
