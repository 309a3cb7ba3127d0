"""Adjustments of what partners have earned: booked by one user, or above an amount approved by a second one."""

import datetime as dt
from typing import Annotated

from pydantic import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import ById, collect_owner
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import require_marketplace
from resolvers.payment.payouts.four_eyes import is_one_person, token_creator_of
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.event import EventType
from schema.payment.adjustment import (
    ApprovePayoutAdjustment,
    CreatePayoutAdjustment,
    PayoutAdjustment,
    PayoutAdjustmentStatus,
    RejectPayoutAdjustment,
)
from schema.payment.errors import SecondUserRequired
from store.ledger.books import book_of_partner
from store.ledger.posting import post
from store.partner.partners import MarketplaceRow
from store.payout.adjustments import (
    ADJUSTMENT_STATES,
    BOOKED,
    PENDING,
    REJECTED,
    PayoutAdjustmentRow,
    adjustment_journal,
    emit_adjustment_event,
)


@graphql_enum
class PayoutAdjustmentSort(DescribedEnum):
    """Sort order of adjustments."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@graphql_input_for(PayoutAdjustment)
class PayoutAdjustmentFilter(OfPartner):
    """Filter for adjustments. Periods include both ends."""

    status: Annotated[PayoutAdjustmentStatus | None, Where("status")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only adjustments requested at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only adjustments requested at or before this time."
    )


payout_adjustments = Listing(
    PayoutAdjustment,
    PayoutAdjustmentFilter,
    PayoutAdjustmentSort,
    Permission.VIEW_PAYOUT,
    "The adjustments visible to you, newest first.",
)
payout_adjustment = Lookup(
    PayoutAdjustment, "id", "adjustment", Permission.VIEW_PAYOUT, "An adjustment of a partner's earnings by its id."
)


class _AdjustmentById(ById[PayoutAdjustmentRow]):
    """Finds an adjustment that the caller may decide about: users of a partner only read them."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> PayoutAdjustmentRow:
        require_marketplace(call.caller)
        return await super().find(call, id, lock=lock)


_adjustment = _AdjustmentById(PayoutAdjustmentRow, "adjustment")


@operation(Permission.VALIDATE_PAYOUT)
async def create_payout_adjustment(call: Call, input: CreatePayoutAdjustment) -> PayoutAdjustment:
    """Give a partner an amount, or take it from the partner, with a reason: a line of its next payout. From the amount that
    the marketplace sets (`approvalFrom` of its `payoutSettings`), it is `PENDING` until another user approves it.

    What a partner receives, the marketplace pays. What is taken from a partner that has earned less, the partner owes.
    """
    require_marketplace(call.caller)
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        if not input.amount:
            raise InvalidInput.at("amount", "Send an amount above or below zero.", "OUT_OF_RANGE")
    findings.raise_problems()
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    row = PayoutAdjustmentRow(
        partner_id=partner.id,
        book_id=await book_of_partner(call.db, partner.id),
        currency=marketplace.currency,
        status=PENDING,
        adjustment_amount=input.amount,
        reason=input.reason,
        requires_approval=marketplace.requires_approval(input.amount),
        requested_by_id=_user(call),
        token_created_by_id=await token_creator_of(call.db, call.caller),
        created_on=call.services.clock.now(),
    )
    if row.requires_approval:
        call.db.add(row)
        await call.db.flush()
        await emit_adjustment_event(call.db, EventType.PAYOUT_ADJUSTMENT_REQUESTED, row)
    else:
        await _book(call.db, row, call.services.clock.now())
    return row


@operation(Permission.VALIDATE_PAYOUT, exists=_adjustment)
async def approve_payout_adjustment(call: Call, input: ApprovePayoutAdjustment) -> PayoutAdjustment:
    """Approve an adjustment that another user has requested: it is booked. Approving it again changes nothing."""
    row = await _adjustment.find(call, input.id, lock=True)
    if row.status is not BOOKED:
        row.decided_by_id = await _second_user(call, row)
        await _book(call.db, row, call.services.clock.now())
    return row


@operation(Permission.VALIDATE_PAYOUT, exists=_adjustment)
async def reject_payout_adjustment(call: Call, input: RejectPayoutAdjustment) -> PayoutAdjustment:
    """Reject an adjustment that another user has requested: nothing is booked. Rejecting it again changes nothing."""
    row = await _adjustment.find(call, input.id, lock=True)
    if row.status is not REJECTED:
        row.decided_by_id = await _second_user(call, row)
        row.status = ADJUSTMENT_STATES.require(row.status, REJECTED)
        row.rejection_reason, row.rejected_on = input.reason, call.services.clock.now()
        await emit_adjustment_event(call.db, EventType.PAYOUT_ADJUSTMENT_REJECTED, row)
    return row


def _user(call: Call) -> int:
    assert call.caller.user_id is not None, "a permission is granted to users only"
    return call.caller.user_id


async def _second_user(call: Call, row: PayoutAdjustmentRow) -> int:
    """The caller, who did not request a pending adjustment, nor by a token of somebody else. Raises SecondUserRequired."""
    user_id = _user(call)
    second = user_id, await token_creator_of(call.db, call.caller)
    if row.status is PENDING and is_one_person((row.requested_by_id, row.token_created_by_id), second):
        raise SecondUserRequired
    return user_id


async def _book(db: AsyncSession, row: PayoutAdjustmentRow, now: dt.datetime) -> None:
    """Book a locked or new adjustment: it goes into the next payout request."""
    row.status, row.booked_on = ADJUSTMENT_STATES.require(row.status, BOOKED), now
    db.add(row)
    await db.flush()
    await emit_adjustment_event(db, EventType.PAYOUT_ADJUSTMENT_BOOKED, row)
    await post(db, [await adjustment_journal(db, row)])
