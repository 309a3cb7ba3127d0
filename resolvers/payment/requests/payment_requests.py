"""Payment requests: lists, creation, cancellation, and the mail to the customer."""

import datetime as dt
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field
from sqlmodel import col, select

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, collect_owner
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import visible_conditions
from resolvers.partner.selling import require_selling
from resolvers.payment.opening import wallet_for
from resolvers.payment.requests.states import (
    emit_request_event,
    end_request,
    live_payment_of,
    mail_request,
    payment_page_url,
)
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.event import EventType
from schema.mail import MailKind
from schema.payment.errors import PaymentEnded, PaymentInProgress
from schema.payment.request import PaymentRequest, PaymentRequestStatus
from schema.payment.request_input import CancelPaymentRequest, CreatePaymentRequest, ResendPaymentRequest
from store.core.codes import format_code, generate_code
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.recording import has_open_payin
from store.payment.requests import PaymentRequestRow
from store.voucher.payment import end_of_day


@graphql_enum
class PaymentRequestSort(DescribedEnum):
    """Sort order of payment requests."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@graphql_input_for(PaymentRequest)
class PaymentRequestFilter(OfPartner):
    """Filter for payment requests. Periods include both ends."""

    search: Annotated[
        str | None, AfterValidator(lambda sent: sent and format_code(sent)), Where("request_text", "search")
    ] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only requests whose reference, description, code or customer contains this, ignoring case and "
        "accents; a whole code is found without its hyphens, too.",
    )
    status: Annotated[PaymentRequestStatus | None, Where("status")] = None
    reference: Annotated[str | None, Where("reference")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only requests created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only requests created at or before this time."
    )


payment_requests = Listing(
    PaymentRequest,
    PaymentRequestFilter,
    PaymentRequestSort,
    Permission.VIEW_PAYMENT,
    "The payment requests visible to you, newest first.",
)
payment_request = Lookup(
    PaymentRequest, "id", "payment request", Permission.VIEW_PAYMENT, "A payment request by its id."
)
_request = ById(PaymentRequestRow, "payment request")


@derives(PaymentRequest, "payment_url")
def _payment_url(context: Context, status: str, token: str, expires_on: dt.datetime) -> str | None:
    if status != PaymentRequestStatus.PENDING or expires_on <= context.services.clock.now():
        return None
    return payment_page_url(context.services.settings, token)


@operation(Permission.CREATE_PAYMENT)
async def create_payment_request(call: Call, input: CreatePaymentRequest) -> PaymentRequest:
    """Ask a customer by mail to pay an amount. The mail, in `language`, leads to the page where the customer pays:
    `paymentUrl`, over REST the URL in `Link: <…>; rel="payment"`. The marketplace sets how long the page can be used, and
    when the customer is reminded.
    """
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        await _check_refill(call, partner, input.invoicing_marketplace_id)
    findings.raise_problems()
    await require_selling(call.services, call.db, partner.id, lock=True)
    await wallet_for(call.db, partner, is_for_marketplace=input.invoicing_marketplace_id is not None)
    now = call.services.clock.now()
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    zone = ZoneInfo(marketplace.time_zone)
    last_day = now.astimezone(zone).date() + dt.timedelta(days=marketplace.payment_request_days)
    row = PaymentRequestRow(
        partner_id=partner.id,
        code=generate_code(),
        request_amount=input.amount,
        currency=marketplace.currency,
        customer_first_name=input.customer.first_name,
        customer_last_name=input.customer.last_name,
        customer_email=input.customer.email,
        language=input.language,
        reference=input.reference,
        description=input.description,
        origin=input.origin,
        product=input.product,
        invoicing_marketplace_id=input.invoicing_marketplace_id,
        created_on=now,
        expires_on=end_of_day(last_day, zone),
    )
    call.db.add(row)
    await call.db.flush()
    await emit_request_event(call.db, EventType.PAYMENT_REQUEST_CREATED, row)
    await mail_request(call.db, call.services.settings, row, MailKind.PAYMENT_REQUEST)
    return row


async def _check_refill(call: Call, partner: PartnerRow, marketplace_id: int | None) -> None:
    """Raise InvalidInput unless the marketplace of a refill is the partner's, and visible to the caller."""
    if marketplace_id is None:
        return
    query = select(MarketplaceRow.id).where(
        *visible_conditions(call.caller, MarketplaceRow), col(MarketplaceRow.id) == marketplace_id
    )
    if (await call.db.exec(query)).first() is None:
        raise InvalidInput.at("invoicing_marketplace_id", "No marketplace of yours has this id.")
    if partner.marketplace_id != marketplace_id:
        raise InvalidInput.at("invoicing_marketplace_id", "The partner belongs to another marketplace.")


@operation(Permission.CREATE_PAYMENT, exists=_request)
async def cancel_payment_request(call: Call, input: CancelPaymentRequest) -> PaymentRequest:
    """Cancel a payment request that is not paid yet: its page says so. Cancelling it again changes nothing. One that the
    customer is paying now is refused with `PAYMENT_IN_PROGRESS`.
    """
    row = await _request.find(call, input.id, lock=True)
    if row.status is PaymentRequestStatus.CANCELLED:
        return row
    payment = await live_payment_of(call.db, row)
    if row.status is PaymentRequestStatus.PENDING and payment is not None and await has_open_payin(call.db, payment):
        raise PaymentInProgress
    await end_request(call.db, row, PaymentRequestStatus.CANCELLED)
    return row


@operation(Permission.CREATE_PAYMENT, exists=_request)
async def resend_payment_request(call: Call, input: ResendPaymentRequest) -> PaymentRequest:
    """Send the mail of a pending payment request to its customer again."""
    row = await _request.find(call, input.id, lock=True)
    if row.status is not PaymentRequestStatus.PENDING or row.expires_on <= call.services.clock.now():
        raise PaymentEnded
    await mail_request(call.db, call.services.settings, row, MailKind.PAYMENT_REQUEST)
    return row
