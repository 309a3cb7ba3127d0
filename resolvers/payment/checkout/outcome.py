"""The result of a payment, as shown to the customer."""

from urllib.parse import urlsplit

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.session import FAILURE_NOTICES
from resolvers.core.services import Services
from resolvers.order.page import totals_of
from schema.checkout.checkout import (
    CheckoutNotice,
    PaymentAttemptStatus,
)
from schema.checkout.outcome import PaymentResult
from store.cart.return_urls import is_allowed
from store.order.links import order_path
from store.order.orders import OrderRow
from store.order.return_signatures import RETURN_SECRET, ReturnSecretRow, signature_of
from store.partner.brand import brand_of
from store.partner.partners import PartnerRow
from store.payment.attempts import AttemptRow, AttemptState

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
    return PaymentResult(attempt.id, status, brand, notice, totals=totals_of(attempt), kind=attempt.kind)


async def _completed_outcome(
    services: Services, db: AsyncSession, attempt: AttemptRow, partner: PartnerRow
) -> PaymentResult:
    order = (await db.exec(select(OrderRow).where(col(OrderRow.attempt_id) == attempt.id))).one()
    return PaymentResult(
        attempt_id=attempt.id,
        status=PaymentAttemptStatus.COMPLETED,
        brand=brand_of(partner),
        return_url=await _return_url(services, db, attempt, partner, order),
        order_path=order_path(services.settings, order.uuid),
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
