"""Inputs that change vouchers."""

import datetime as dt
from typing import Annotated

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.contact import Email, Phone
from schema.validation.numbers import RowId
from schema.voucher.voucher import ExpeditionStatus, Voucher, VoucherGiftee, VoucherRental, VoucherState

VoucherCode = Annotated[str, Field(min_length=1, max_length=80)]
MOST_RENTALS = 100
"""The maximum number of bookings of a voucher."""
CODE_DESCRIPTION = "The voucher's code; case, hyphens and spaces are ignored."
Name = Annotated[str, line_up_to(80)]
ShortText = Annotated[str, line_up_to(160)]
LongText = Annotated[str, multiline_up_to(1000)]
Address = Annotated[str, multiline_up_to(600)]


@graphql_input_for(VoucherRental)
class VoucherRentalInput(SchemaModel):
    """A booking that uses a voucher."""

    starts_on: dt.date
    ends_on: dt.date | None = None
    reference: Name = ""
    comment: LongText = ""


@graphql_input_for(Voucher)
class UpdateVoucher(SchemaModel):
    """Move a voucher to another state."""

    code: VoucherCode = Field(description=CODE_DESCRIPTION)
    state: VoucherState = Field(description="The new state. The current state is accepted and changes nothing.")
    from_state: VoucherState | None = Field(
        default=None,
        description="The state you expect it to be in. In any other state it stays unchanged, and the error is "
        "`STATE_CHANGED`, so that concurrent uses are detected; null for any state.",
    )
    rental: VoucherRentalInput | None = Field(
        default=None, description="The booking it is used for, added in the same step; only with `USING` and `USED`."
    )
    remove_rental_ids: Annotated[list[RowId], Field(max_length=MOST_RENTALS)] = Field(
        default_factory=list,
        description="The ids of bookings to remove in the same step; only if the move undoes a use.",
    )


@graphql_input_for(Voucher)
class ExtendVoucher(SchemaModel):
    """Extend the validity of a voucher."""

    code: VoucherCode = Field(description=CODE_DESCRIPTION)
    expires_on: dt.datetime = Field(description="When it expires: in the future, and later than before.")


@graphql_input_for(VoucherRental)
class AddVoucherRental(VoucherRentalInput):
    """Add a booking that uses a voucher."""

    code: VoucherCode = Field(description="The voucher's code; spaces and hyphens are ignored.")


@graphql_input_for(VoucherRental)
class RemoveVoucherRental(SchemaModel):
    """Remove a booking from a voucher."""

    code: VoucherCode = Field(description="The voucher's code; spaces and hyphens are ignored.")
    id: RowId = Field(description="The id of the booking.")


@graphql_input_for(VoucherGiftee)
class VoucherGifteeInput(SchemaModel):
    """The giftee of a voucher. Omitted fields stay unchanged; null clears."""

    first_name: strawberry.Maybe[Name | None]
    last_name: strawberry.Maybe[Name | None]
    email: strawberry.Maybe[Email | None]
    phone_number: strawberry.Maybe[Phone | None]
    address: strawberry.Maybe[Address | None]


@graphql_input_for(Voucher)
class UpdateVoucherDetails(SchemaModel):
    """Correct a voucher's details. Omitted fields stay unchanged; null clears. Prices, dates and states have their
    own mutations.
    """

    code: VoucherCode = Field(description=CODE_DESCRIPTION)
    giftee_details: strawberry.Maybe[VoucherGifteeInput]
    to_giftee: strawberry.Maybe[ShortText]
    from_gifter: strawberry.Maybe[ShortText]
    message: strawberry.Maybe[LongText | None]
    expedition_status: strawberry.Maybe[ExpeditionStatus] = Field(description="The status of its expedition by post.")
    expedition_date: strawberry.Maybe[dt.datetime | None] = Field(
        description="When it was sent; if omitted, setting the status to sent uses the current time."
    )
