"""Disputes: list, lookup, contesting one, and accepting its loss."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import uuid_from_input
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.scoping import find_visible
from resolvers.payment.disputes.following import follow_dispute
from resolvers.payment.scoping import check_owns_money
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.inputs import graphql_input_for
from schema.core.message_names import MessageAmount, TemplatedMessage
from schema.core.permission import Permission
from schema.payment.dispute import AcceptDispute, ContestDispute, Dispute, DisputeState
from schema.payment.errors import DisputeNotAnswerable, DisputeWithoutDocument
from store.payment.disputes import EXAMINED, DisputeRow, documents_of_dispute
from store.payment.payments import PaymentRow
from store.providers.money import MinorAmount


@graphql_enum
class DisputeSort(DescribedEnum):
    """Sort order of disputes."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    CONTEST_UNTIL = "contest_until", "Those whose time is over first; those that cannot be contested last."


@graphql_input_for(Dispute)
class DisputeFilter(OfPartner):
    """Filter for disputes. Periods include both ends."""

    state: Annotated[DisputeState | None, Where("state")] = None
    states: Annotated[list[DisputeState] | None, Where("state", "in")] = Field(
        default=None, description="Only disputes in one of these states."
    )
    payment_id: Annotated[UUID | None, Where("payment_id")] = Field(
        default=None, description="Only disputes of this payment."
    )
    contest_until: Annotated[dt.datetime | None, Where("contest_until", "<=")] = Field(
        default=None, description="Only disputes that can be contested until this time at the latest."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only disputes opened at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only disputes opened at or before this time."
    )


disputes = Listing(
    Dispute, DisputeFilter, DisputeSort, Permission.VIEW_PAYMENT, "The disputes visible to you, newest first."
)
dispute = Lookup(Dispute, "id", "dispute", Permission.VIEW_PAYMENT, "A dispute by its id.")


async def find_dispute(call: Call, id: UUID) -> DisputeRow:
    """The dispute with this id. Raises NotFound if the caller cannot see it, MarketplaceOnly for a refill's if the caller
    is a partner's.
    """
    async with call.services.db.sessions() as db:
        row = await _find(call, db, id)
        check_owns_money(call, await db.get_one(PaymentRow, row.payment_id))
    return row


async def _find(call: Call, db: AsyncSession, id: UUID | None) -> DisputeRow:
    return await find_visible(db, call.caller, DisputeRow, "dispute", id=id)


async def check_dispute_exists(call: Call, input: Any) -> None:
    """Raise NotFound if the caller cannot see the dispute of an input's `id` or `dispute_id`."""
    await _find(call, call.db, uuid_from_input(input, "id") or uuid_from_input(input, "dispute_id"))


def check_awaits_answer(row: DisputeRow, now: dt.datetime) -> None:
    """Raise DisputeNotAnswerable unless the dispute waits for our answer, and its time is not over."""
    is_over = row.contest_until is not None and row.contest_until <= now
    if row.state is not DisputeState.NEEDS_RESPONSE or is_over:
        raise DisputeNotAnswerable


@operation(Permission.REFUND_PAYMENT, transaction=False, exists=check_dispute_exists, raises=PROVIDER_ERRORS)
async def contest_dispute(call: Call, input: ContestDispute) -> Dispute:
    """Contest a dispute that `NEEDS_RESPONSE`, with the documents that `pushDisputeDocument` has added. If no response
    arrives, send it again: a dispute that was contested meanwhile is returned as it is.
    """
    row = await find_dispute(call, input.id)
    if row.state is not DisputeState.UNDER_REVIEW:
        await _check_contestable(call, row, input.amount)
        amount = MinorAmount.of(input.amount or row.contested_amount or row.dispute_amount, row.currency)
        async with calling_provider("contesting a dispute", partner_id=row.partner_id):
            await call.services.provider.contest_dispute(row.provider_id, amount)
    return await _read_again(call, row)


async def _check_contestable(call: Call, row: DisputeRow, amount: Decimal | None) -> None:
    check_awaits_answer(row, call.services.clock.now())
    if amount is not None and amount > row.dispute_amount:
        raise InvalidInput.at(
            "amount",
            TemplatedMessage("Only {amount} is disputed.", amount=MessageAmount(row.dispute_amount, row.currency)),
            "OUT_OF_RANGE",
        )
    async with call.services.db.sessions() as db:
        documents = await documents_of_dispute(db, row.id)
    if not any(document.status in EXAMINED for document in documents):
        raise DisputeWithoutDocument


@operation(Permission.REFUND_PAYMENT, transaction=False, exists=check_dispute_exists, raises=PROVIDER_ERRORS)
async def accept_dispute(call: Call, input: AcceptDispute) -> Dispute:
    """Accept the loss of a dispute that `NEEDS_RESPONSE`: it is `LOST` at once. Accepting it again changes nothing."""
    row = await find_dispute(call, input.id)
    if row.state is not DisputeState.LOST:
        check_awaits_answer(row, call.services.clock.now())
        async with calling_provider("accepting a dispute", partner_id=row.partner_id):
            await call.services.provider.close_dispute(row.provider_id)
    return await _read_again(call, row)


async def _read_again(call: Call, row: DisputeRow) -> DisputeRow:
    """Follow the dispute, and store the response with what was recorded."""
    async with calling_provider("reading a dispute", partner_id=row.partner_id):
        await follow_dispute(call.services, row.provider_id)
    async with call.services.db.sessions() as db, db.begin():
        current = await db.get_one(DisputeRow, row.id)
        call.add_audit_subject(current)
        await call.store_response(db, current)
    return current
