"""Payments: list, lookup, and the fields that are computed."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import Field

from resolvers.core.computed_fields import computes, derives
from resolvers.core.context import Context
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.payment.requests.states import payment_page_url
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.ledger import LedgerJournal
from schema.payment.payment import Payment, PaymentRefundStatus, PaymentStatus
from schema.payment.payout import PayoutRequestStatus
from store.document.addresses import DocumentKind, document_path
from store.payment.journals import journals_of_payments
from store.payment.payments import PAYABLE


@graphql_enum
class PaymentSort(DescribedEnum):
    """Sort order of payments."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    AMOUNT = "payment_amount", "Smallest amount first."
    AMOUNT_DESCENDING = "-payment_amount", "Largest amount first."


LONGEST_LIST = 100
"""Most ids of a filter."""


@graphql_input_for(Payment)
class PaymentFilter(OfPartner):
    """Filter for payments. Names and addresses match any part, ignoring case and accents. Periods include both ends."""

    ids: Annotated[list[UUID] | None, Where("id", "in")] = Field(
        default=None, max_length=LONGEST_LIST, description="Only payments with one of these ids."
    )
    status: Annotated[PaymentStatus | None, Where("status")] = None
    statuses: Annotated[list[PaymentStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only payments with one of these statuses."
    )
    refund_status: Annotated[PaymentRefundStatus | None, Where("refund_status")] = Field(
        default=None, description="Only payments of which this much has been refunded."
    )
    refund_statuses: Annotated[list[PaymentRefundStatus] | None, Where("refund_status", "in")] = Field(
        default=None, description="Only payments with one of these refund statuses."
    )
    customer_first_name: Annotated[str | None, Where("customer_first_name_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="Only payments of customers whose first name contains this."
    )
    customer_last_name: Annotated[str | None, Where("customer_last_name_text", "search")] = Field(
        default=None, max_length=LONGEST_TERM, description="Only payments of customers whose last name contains this."
    )
    customer_email: Annotated[str | None, Where("customer_email_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only payments of customers whose e-mail address contains this.",
    )
    order_id: Annotated[int | None, Where("order_id")] = Field(
        default=None, description="Only the payments of this order."
    )
    payment_request_id: Annotated[int | None, Where("payment_request_id")] = Field(
        default=None, description="Only payments of this payment request."
    )
    payout_statuses: Annotated[list[PayoutRequestStatus] | None, Where("id", "payout")] = Field(
        default=None, description="Only payments in payout requests with one of these statuses."
    )
    product: Annotated[str | None, Where("product")] = None
    origin: Annotated[str | None, Where("origin")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only payments created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only payments created at or before this time."
    )


payments = Listing(
    Payment, PaymentFilter, PaymentSort, Permission.VIEW_PAYMENT, "The payments visible to you, newest first."
)
payment = Lookup(Payment, "id", "payment", Permission.VIEW_PAYMENT, "A payment by its id.")


@derives(Payment, "refund_status")
def _refund_status(context: Context, amount: Decimal, refunded: Decimal) -> PaymentRefundStatus:  # noqa: ARG001
    if not refunded:
        return PaymentRefundStatus.NONE
    return PaymentRefundStatus.PARTIAL if refunded < amount else PaymentRefundStatus.FULL


@derives(Payment, "payment_url")
def _payment_url(context: Context, status: str, token: str | None, expires_on: dt.datetime | None) -> str | None:
    is_over = expires_on is not None and expires_on <= context.services.clock.now()
    if token is None or status not in PAYABLE or is_over:
        return None
    return payment_page_url(context.services.settings, token)


@derives(Payment, "receipt_url")
def _receipt_url(context: Context, status: str, token: str) -> str | None:
    if status != PaymentStatus.OK:
        return None
    return f"{context.services.public_url}{document_path(DocumentKind.RECEIPT, token)}"


@computes(Payment, "journal")
async def payment_journal(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, list[LedgerJournal]]:
    """The journals of payments with their refunds and disputes, oldest first, without those of others."""
    uuids = {id: UUID(str(id)) for id in ids}  # a compiled selection has them as text
    async with context.db.read_sessions() as db:
        journals = await journals_of_payments(db, list(uuids.values()))
    sees = context.required_caller.sees
    return {
        id: [row for row in journals[uuid] if sees(row.partner_id, row.marketplace_id)] for id, uuid in uuids.items()
    }
