"""How payment requests end, and what is told about it. Payments are locked before their request."""

import datetime as dt

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.payment.events import customer_data
from schema.event import EventType
from schema.mail import MailKind
from schema.payment.request import PaymentRequestStatus
from store.core.settings import Settings
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.job.jobs import JobKind, enqueue_job
from store.mail.content import PaymentRequestContent
from store.mail.outbox import enqueue_mail
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.payments import PAYABLE, PaymentRow
from store.payment.requests import (
    REQUEST_STATES,
    PaymentRequestRow,
    lock_due_requests,
    lock_request,
    lock_requests_to_remind,
)

PENDING, PAID = PaymentRequestStatus.PENDING, PaymentRequestStatus.PAID
END_EVENTS = {
    PaymentRequestStatus.PAID: EventType.PAYMENT_REQUEST_PAID,
    PaymentRequestStatus.EXPIRED: EventType.PAYMENT_REQUEST_EXPIRED,
    PaymentRequestStatus.CANCELLED: EventType.PAYMENT_REQUEST_CANCELLED,
}


async def live_payment_of(db: AsyncSession, request: PaymentRequestRow) -> PaymentRow | None:
    """The payment of a request that can still be paid. Under the lock of the request no other begins."""
    query = select(PaymentRow).where(
        col(PaymentRow.payment_request_id) == request.id, col(PaymentRow.status).in_(PAYABLE)
    )
    return (await db.exec(query.execution_options(populate_existing=True))).one_or_none()


async def claim_request(db: AsyncSession, payment: PaymentRow) -> bool:
    """Mark the request of a locked payment that succeeds as paid by it. False if another payment has paid it."""
    if payment.payment_request_id is None:
        return True
    request = await lock_request(db, payment.payment_request_id)
    if request.status is PAID:
        return False
    await end_request(db, request, PAID)
    return True


async def end_request(db: AsyncSession, request: PaymentRequestRow, status: PaymentRequestStatus) -> None:
    """Move a locked request to its end. What was not paid is told to the payment's own job, which locks it."""
    request.status = REQUEST_STATES.require(request.status, status)
    if status is not PAID and (payment := await live_payment_of(db, request)) is not None:
        await enqueue_job(db, JobKind.END_PAYMENT, {"id": payment.id}, unique_key=str(payment.id))
    await db.flush()
    await emit_request_event(db, END_EVENTS[status], request)


async def expire_requests(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire at most `most` requests that are due; returns their number. While a customer is paying, one is left."""
    requests = await lock_due_requests(db, now, most)
    for request in requests:
        await end_request(db, request, PaymentRequestStatus.EXPIRED)
    return len(requests)


async def remind_customers(db: AsyncSession, now: dt.datetime, most: int, *, settings: Settings) -> int:
    """Queue at most `most` reminders that are due; returns their number."""
    requests = await lock_requests_to_remind(db, now, most)
    for request in requests:
        request.reminded_on = now
        await mail_request(db, settings, request, MailKind.PAYMENT_REQUEST_REMINDER)
    await db.flush()
    return len(requests)


async def mail_request(db: AsyncSession, settings: Settings, request: PaymentRequestRow, kind: MailKind) -> None:
    """Queue a message to the customer with the link of the page."""
    zone = select(MarketplaceRow.time_zone).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    about = PaymentRequestContent(
        first_name=request.customer_first_name,
        amount=request.request_amount,
        currency=request.currency,
        description=request.description,
        reference=request.reference,
        url=payment_page_url(settings, request.link_token),
        expires_on=request.expires_on,
        time_zone=(await db.exec(zone.where(col(PartnerRow.id) == request.partner_id))).one(),
    ).model_dump()
    await enqueue_mail(
        db,
        kind,
        to=request.customer_email,
        language=request.language,
        partner_id=request.partner_id,
        about=about,
    )


def payment_page_url(settings: Settings, token: str) -> str:
    """The URL of the page where a payment or a payment request is paid."""
    return f"{settings.public_url}/pay/{token}/"


async def emit_request_event(db: AsyncSession, kind: EventType, request: PaymentRequestRow) -> None:
    """Emit an event with the request's state after the change, in the transaction of the change."""
    data = {
        "id": request.id,
        "code": request.code,
        "status": request.status.value,
        "amount": money_data(request.request_amount, request.currency),
        "reference": request.reference,
        "customer": customer_data(request),
        "expires_on": datetime_data(request.expires_on),
    }
    await emit(db, NewEvent(kind, partner_id=request.partner_id, subject=str(request.id), data=data))
