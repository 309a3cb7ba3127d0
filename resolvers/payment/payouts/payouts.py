"""Payout requests: lists, what they contain, validating and cancelling them, and paying out now."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, check_partner_uuid
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.payment.payouts.readiness import readiness_of
from resolvers.payment.payouts.validation import validate_payout
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.event import EventType
from schema.payment.errors import NothingToPayOut
from schema.payment.payment import Payment, PaymentTransaction
from schema.payment.payout import (
    CancelPayoutRequest,
    CreatePayoutRequest,
    PayoutReadiness,
    PayoutReference,
    PayoutRequest,
    PayoutRequestStatus,
    ValidatePayoutRequest,
)
from schema.payment.transfer import Transfer
from store.ledger.books import book_of_partner
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.contents import (
    payments_of,
    payouts_of_payments,
    transactions_of,
    transfers_of,
)
from store.payout.events import emit_payout_events
from store.payout.gathering import cancel, gather, partner_due_until
from store.payout.requests import CANCELLED, VALIDATED, PayoutRequestRow


@graphql_enum
class PayoutRequestSort(DescribedEnum):
    """Sort order of payout requests."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    AMOUNT = "payout_amount", "Smallest amount first."
    AMOUNT_DESCENDING = "-payout_amount", "Largest amount first."


@graphql_input_for(PayoutRequest)
class PayoutRequestFilter(OfPartner):
    """Filter for payout requests. Periods include both ends."""

    status: Annotated[PayoutRequestStatus | None, Where("status")] = None
    statuses: Annotated[list[PayoutRequestStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only payout requests with one of these statuses."
    )
    kyc_validated: Annotated[bool | None, Where("partner_id", "identified")] = Field(
        default=None, description="Only those of partners that the payment provider has identified, or of others."
    )
    validation_blocked: Annotated[bool | None, Where("partner_id", "payouts_blocked")] = Field(
        default=None, description="Only those of partners whose payouts are blocked, or of others."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only payout requests created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only payout requests created at or before this time."
    )


payout_requests = Listing(
    PayoutRequest,
    PayoutRequestFilter,
    PayoutRequestSort,
    Permission.VIEW_PAYOUT,
    "The payout requests visible to you, newest first.",
)
payout_request = Lookup(PayoutRequest, "id", "payout request", Permission.VIEW_PAYOUT, "A payout request by its id.")
_payout = ById(PayoutRequestRow, "payout request")


# ---- what they contain


@computes(PayoutRequest, "readiness")
async def readiness_of_payouts(context: Context, ids: Sequence[int]) -> Mapping[int, PayoutReadiness]:
    """What the validation of payout requests needs."""
    async with context.db.read_sessions() as db:
        owners = select(PayoutRequestRow.id, PayoutRequestRow.partner_id).where(col(PayoutRequestRow.id).in_(ids))
        partner_ids = dict((await db.exec(owners)).all())
        found = await readiness_of(db, list(set(partner_ids.values())))
    return {
        id: PayoutReadiness(
            kyc_validated=found[partner_id].is_identified,
            bank_account_active=found[partner_id].bank_account is not None,
            validation_blocked=found[partner_id].partner.block_payout_validation,
        )
        for id, partner_id in partner_ids.items()
    }


@computes(PayoutRequest, "payments")
async def payments_of_payouts(context: Context, ids: Sequence[int]) -> Mapping[int, list[Payment]]:
    """The payments that payout requests pay out."""
    async with context.db.read_sessions() as db:
        found = await payments_of(db, ids)
    return {id: list(found.get(id, [])) for id in ids}


@computes(PayoutRequest, "transactions")
async def transactions_of_payouts(context: Context, ids: Sequence[int]) -> Mapping[int, list[PaymentTransaction]]:
    """The pay-ins and refunds in payout requests."""
    async with context.db.read_sessions() as db:
        found = await transactions_of(db, ids)
    return {id: list(found.get(id, [])) for id in ids}


@computes(PayoutRequest, "transfers")
async def transfers_of_payouts(context: Context, ids: Sequence[int]) -> Mapping[int, list[Transfer]]:
    """The transfers that were made for payout requests."""
    async with context.db.read_sessions() as db:
        found = await transfers_of(db, ids)
    return {id: list(found.get(id, [])) for id in ids}


@computes(Payment, "payout")
async def payout_of_payments(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, PayoutReference]:
    """The payout requests that payments are in."""
    uuids = {id: UUID(str(id)) for id in ids}  # a compiled selection has them as text
    async with context.db.read_sessions() as db:
        found = await payouts_of_payments(db, list(uuids.values()))
    return {id: found[uuid] for id, uuid in uuids.items() if uuid in found}


# ---- operations


@operation(Permission.VALIDATE_PAYOUT, exists=_payout)
async def validate_payout_request(call: Call, input: ValidatePayoutRequest) -> PayoutRequest:
    """Have a payout request paid out: its money is reserved, what the partner has earned in the network is transferred to
    its wallet, and all of it is sent to its bank account. Validating it again changes nothing.

    The partner needs a validated identification and an active bank account: else it is refused with `PAYOUT_NOT_READY`,
    which says what is missing. What was taken back since it was created is taken off; if nothing is left, it is cancelled.
    From the amount that the marketplace sets (`secondValidationFrom` of its `payoutSettings`), it stays `TO_BE_VALIDATED`
    until a second user validates it; the first one is refused with `SECOND_VALIDATION_REQUIRED` then.
    """
    payout = await _payout.find(call, input.id, lock=True)
    if payout.status is not VALIDATED:
        await validate_payout(call.services, call.db, payout, call.caller)
    return payout


@operation(Permission.VALIDATE_PAYOUT, exists=_payout)
async def cancel_payout_request(call: Call, input: CancelPayoutRequest) -> PayoutRequest:
    """Cancel a payout request that is not validated yet: its content goes into the next one. Cancelling it again changes
    nothing.
    """
    payout = await _payout.find(call, input.id, lock=True)
    if payout.status is not CANCELLED:
        await cancel(call.db, payout)
    return payout


@operation(Permission.VALIDATE_PAYOUT, exists=check_partner_uuid)
async def create_payout_request(call: Call, input: CreatePayoutRequest) -> PayoutRequest:
    """Gather what is due to a partner until today into a payout request, without waiting for the end of its period. If there
    is nothing, it is refused with `NOTHING_TO_PAY_OUT`.
    """
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    book_id = await book_of_partner(call.db, partner.id)
    payouts = await gather(
        call.db, [await partner_due_until(call.db, partner.id, book_id, await _today(call, partner))]
    )
    if not payouts:
        raise NothingToPayOut
    await emit_payout_events(call.db, EventType.PAYOUT_REQUEST_CREATED, payouts)
    return payouts[0]


async def _today(call: Call, partner: PartnerRow) -> dt.date:
    """The day at the partner's marketplace."""
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    return call.services.clock.now().astimezone(ZoneInfo(marketplace.time_zone)).date()
