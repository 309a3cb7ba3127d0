"""Payments: list, lookup, and the fields that are computed."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID

from pydantic import Field

from resolvers.core.computed_fields import computes, derives
from resolvers.core.context import Context
from resolvers.core.filters import OfPartner, Where
from resolvers.core.listing import Listing, Lookup
from resolvers.payment.request_states import payment_page_url
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.ledger import LedgerJournal
from schema.payment.payment import Payment, PaymentStatus
from store.document.addresses import DocumentKind, document_url
from store.payment.journals import journals_of_payments
from store.payment.payments import PAYABLE


@graphql_enum
class PaymentSort(DescribedEnum):
    """Sort order of payments."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    AMOUNT = "payment_amount", "Smallest amount first."
    AMOUNT_DESCENDING = "-payment_amount", "Largest amount first."


@graphql_input_for(Payment)
class PaymentFilter(OfPartner):
    """Filter for payments. Periods include both ends."""

    status: Annotated[PaymentStatus | None, Where("status")] = None
    statuses: Annotated[list[PaymentStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only payments with one of these statuses."
    )
    order_id: Annotated[int | None, Where("order_id")] = None
    payment_request_id: Annotated[int | None, Where("payment_request_id")] = Field(
        default=None, description="Only payments of this payment request."
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


@derives(Payment, "payment_url")
def _payment_url(context: Context, status: str, token: str | None) -> str | None:
    if token is None or status not in PAYABLE:
        return None
    return payment_page_url(context.services.settings, token)


@derives(Payment, "receipt_url")
def _receipt_url(context: Context, status: str, token: str) -> str | None:
    settings = context.services.settings
    return document_url(settings, DocumentKind.RECEIPT, token) if status == PaymentStatus.OK else None


@computes(Payment, "journal")
async def payment_journal(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, list[LedgerJournal]]:
    """The journals of payments with their refunds and disputes, oldest first."""
    async with context.db.read_sessions() as db:
        return await journals_of_payments(db, ids)
