"""Adjustments of what partners have earned, by the marketplace, with a reason."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.inputs import graphql_input_for
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to
from schema.validation.numbers import AmountRule

REASON_LENGTH = 200
Reason = Annotated[str, line_up_to(REASON_LENGTH, min_length=1)]


@graphql_enum
class PayoutAdjustmentStatus(DescribedEnum):
    """The status of an adjustment."""

    PENDING = "pending", "Another user has to approve it; nothing is booked yet."
    BOOKED = "booked", "It is booked, and goes into a payout request."
    REJECTED = "rejected", "Another user has rejected it; nothing was booked."


@strawberry.pydantic.type(
    description="What a marketplace gives to a partner, or takes from it, beside its sales: a line of its next payout."
)
class PayoutAdjustment(SchemaModel):
    id: int = id_column("The adjustment's id.")
    status: PayoutAdjustmentStatus = enum_column(PayoutAdjustmentStatus, "Its status.", length=10)
    adjustment_amount: Decimal = money_column()
    amount = money("adjustment_amount", description="What the partner receives; negative if it is taken from it.")
    reason: str = Field(
        max_length=REASON_LENGTH, description="Why; the partner reads it in the documents of the payout."
    )
    requires_approval: bool = Field(description="Whether a second user has to approve it.")
    requested_by_id: int = Field(foreign_key="app_user.id", description="The id of the user who requested it.")
    decided_by_id: int | None = Field(
        default=None,
        foreign_key="app_user.id",
        description="The id of the user who approved or rejected it; null if nobody has.",
    )
    rejection_reason: str = Field(
        default="", max_length=REASON_LENGTH, description="Why it was rejected; empty if it was not."
    )
    created_on: dt.datetime = datetime_column("When it was requested.")
    booked_on: dt.datetime | None = datetime_column("When it was booked; null before.", default=None, nullable=True)
    rejected_on: dt.datetime | None = datetime_column(
        "When it was rejected; null if it was not.", default=None, nullable=True
    )
    partner = partner_relation("The partner whose earnings it adjusts.")


@graphql_input_for(PayoutAdjustment)
class CreatePayoutAdjustment(SchemaModel):
    """Give a partner an amount, or take it from the partner, with a reason."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    amount: Annotated[Decimal, AmountRule()] = Field(
        description="What the partner receives, in the marketplace's currency; negative to take it from the partner."
    )
    reason: Reason


@graphql_input_for(PayoutAdjustment)
class ApprovePayoutAdjustment(SchemaModel):
    """Approve an adjustment that another user has requested."""

    id: int


@graphql_input_for(PayoutAdjustment)
class RejectPayoutAdjustment(SchemaModel):
    """Reject an adjustment that another user has requested."""

    id: int
    reason: Reason = Field(description="Why it is rejected.")
