"""What a customer sees on the page of a payment or a payment request."""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call
from resolvers.partner.payment_methods import methods_for, token_methods_for
from resolvers.partner.selling import may_sell
from schema.payment.page import PaymentPage
from schema.payment.page import PaymentPageState as State
from schema.payment.payment import (
    PaymentSourceKind,
    PaymentStatus,
    PaymentTransactionStatus,
    PaymentTransactionType,
)
from schema.payment.request import PaymentRequestStatus
from schema.payment_method import PaymentMethod
from store.document.addresses import DocumentKind, document_path
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.payments import PaymentRow, PaymentTransactionRow
from store.payment.recording import is_wholly_refunded
from store.payment.requests import PaymentRequestRow

LINK_TOKEN = re.compile(r"[\w-]{32}", re.ASCII)
NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class PaymentLink:
    """What a token leads to: a payment, or a payment request with the payment that decides about it, if any."""

    owner: PaymentRow | PaymentRequestRow
    """The row with the token."""
    payment: PaymentRow | None

    @property
    def request(self) -> PaymentRequestRow | None:
        return self.owner if isinstance(self.owner, PaymentRequestRow) else None


async def find_link(db: AsyncSession, token: str) -> PaymentLink | None:
    """What a token leads to. Of a request's payments the one that has paid it counts; before, the newest."""
    if LINK_TOKEN.fullmatch(token) is None:
        return None
    payment = (await db.exec(select(PaymentRow).where(col(PaymentRow.link_token) == token))).one_or_none()
    if payment is not None:
        return PaymentLink(payment, payment)
    table = PaymentRequestRow
    request = (await db.exec(select(table).where(col(table.link_token) == token))).one_or_none()
    if request is None:
        return None
    is_ok = col(PaymentRow.status) == PaymentStatus.OK
    tries = select(PaymentRow).where(
        col(PaymentRow.payment_request_id) == request.id,
        is_ok if request.status is PaymentRequestStatus.PAID else ~is_ok,
    )
    newest = tries.order_by(col(PaymentRow.refunded_amount), col(PaymentRow.created_on).desc()).limit(1)
    return PaymentLink(request, (await db.exec(newest)).first())


async def last_payin(db: AsyncSession, payment: PaymentRow | None) -> PaymentTransactionRow | None:
    """The last try to pay by bank card."""
    if payment is None:
        return None
    table = PaymentTransactionRow
    query = select(table).where(
        col(table.payment_id) == payment.id,
        col(table.type) == PaymentTransactionType.PAYIN,
        col(table.payment_method) == PaymentSourceKind.CREDIT_CARD,
    )
    return (await db.exec(query.order_by(col(table.id).desc()))).first()


async def methods_of(call: Call, db: AsyncSession, payment: PaymentRow) -> tuple[PaymentMethod, ...]:
    """What the customer of a payment can pay with on a page of the provider."""
    partner = await db.get_one(PartnerRow, payment.partner_id)
    settings = call.services.settings
    return methods_for(settings, partner.payment_methods, payment.currency, partner.hq_country_code)


async def view_page(call: Call, db: AsyncSession, link: PaymentLink) -> PaymentPage:
    """The view of the page."""
    owner, payment, request = link.owner, link.payment, link.request
    partner = await db.get_one(PartnerRow, owner.partner_id)
    marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    payin = await last_payin(db, payment)
    refunded = payment is not None and await is_wholly_refunded(db, payment)
    state = _state(link, payin, call.services.clock.now(), refunded=refunded)
    if state in {State.PAYABLE, State.DECLINED} and not may_sell(call.services, partner.status):
        state = State.UNAVAILABLE
    is_paid = state in {State.PAID, State.REFUNDED}
    amount = owner.request_amount if isinstance(owner, PaymentRequestRow) else owner.payment_amount
    return PaymentPage(
        state=state,
        brand=brand_of(partner),
        path=f"/pay/{owner.link_token}/",
        language=owner.language,
        currency=owner.currency,
        amount=amount,
        extra_amount=payment.extra_amount if payment else NOTHING,
        card_amount=payment.card_amount if payment else amount,
        discount_amount=payment.discount_amount if payment else NOTHING,
        refunded_amount=payment.refunded_amount if payment else NOTHING,
        description=owner.description,
        reference=request.reference if request else "",
        expires_on=owner.expires_on,
        time_zone=marketplace.time_zone,
        methods=methods_for(call.services.settings, partner.payment_methods, owner.currency, partner.hq_country_code),
        token_methods=token_methods_for(call.services.settings, partner.payment_methods),
        seller_country=partner.hq_country_code,
        failure_reason=payin.failure_reason if payin else "",
        provider_url=payin.redirect_url if payin and state is State.AT_PROVIDER else "",
        receipt_url=document_path(DocumentKind.RECEIPT, payment.document_token) if is_paid and payment else "",
    )


def _state(link: PaymentLink, payin: PaymentTransactionRow | None, now: dt.datetime, *, refunded: bool) -> State:
    payment, request = link.payment, link.request
    if payment is not None and payment.status is PaymentStatus.OK:
        return State.REFUNDED if refunded else State.PAID
    if payin is not None and payin.status is PaymentTransactionStatus.IN_PROGRESS and payin.provider_id:
        is_open = bool(payin.redirect_url) and payin.link_expires_on is not None and now < payin.link_expires_on
        return State.AT_PROVIDER if is_open else State.CHECKING
    if request is not None and request.status is PaymentRequestStatus.CANCELLED:
        return State.CANCELLED
    if link.owner.expires_on is not None and link.owner.expires_on <= now:
        return State.EXPIRED
    if request is None and payment is not None and payment.status is PaymentStatus.CANCELLED:
        return State.CANCELLED
    failed = payin is not None and payin.status is PaymentTransactionStatus.ERROR
    return State.DECLINED if failed else State.PAYABLE
