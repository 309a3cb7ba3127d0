"""What it takes to change vouchers that there are."""

import datetime as dt
from typing import Annotated

import strawberry
from pydantic import Field

from schema.core.resource import Fields, writable_as
from schema.validation.characters import lines_up_to, up_to
from schema.validation.contact import Email, Phone
from schema.validation.numbers import RowId
from schema.voucher.voucher import ExpeditionStatus, Voucher, VoucherGiftee, VoucherRental, VoucherState

VoucherCode = Annotated[str, Field(min_length=1, max_length=80)]
MOST_RENTALS = 100
"""Bookings of one voucher."""
TYPED = "Its code, in capitals or not, with or without hyphens and spaces."
Name = Annotated[str, up_to(80)]
ShortText = Annotated[str, up_to(160)]
LongText = Annotated[str, lines_up_to(1000)]
Address = Annotated[str, lines_up_to(600)]


@writable_as(VoucherRental)
class VoucherRentalInput(Fields):
    """A booking that uses a voucher."""

    starts_on: dt.date
    ends_on: dt.date | None = None
    reference: Name = ""
    comment: LongText = ""


@writable_as(Voucher)
class UpdateVoucher(Fields):
    """A voucher goes to another state."""

    code: VoucherCode = Field(description=TYPED)
    state: VoucherState = Field(description="Where it goes. The state that it is in already changes nothing.")
    from_state: VoucherState | None = Field(
        default=None,
        description="Where you saw it. In any other state by now it is left as it is, with `STATE_CHANGED`, so that two who "
        "use it at once know of each other; null: wherever it is.",
    )
    rental: VoucherRentalInput | None = Field(
        default=None, description="What it is used for: a booking to note in the same step, with `USING` and `USED`."
    )
    rental_ids_off: Annotated[list[RowId], Field(max_length=MOST_RENTALS)] = Field(
        default_factory=list,
        description="The ids of its bookings to take off in the same step, with a move that takes back its use.",
    )


@writable_as(Voucher)
class ExtendVoucher(Fields):
    """A voucher is valid for longer."""

    code: VoucherCode = Field(description=TYPED)
    expires_on: dt.datetime = Field(description="When it is to stop working: later than now, and than it would have.")


@writable_as(VoucherRental)
class AddVoucherRental(VoucherRentalInput):
    """A booking uses a voucher."""

    code: VoucherCode = Field(description="The voucher's code, however it is spaced.")


@writable_as(VoucherRental)
class RemoveVoucherRental(Fields):
    """A booking no longer uses a voucher."""

    code: VoucherCode = Field(description="The voucher's code, however it is spaced.")
    id: RowId = Field(description="The booking.")


@writable_as(VoucherGiftee)
class VoucherGifteeInput(Fields):
    """What is left out stays as it is; null clears."""

    first_name: strawberry.Maybe[Name | None]
    last_name: strawberry.Maybe[Name | None]
    email: strawberry.Maybe[Email | None]
    phone_number: strawberry.Maybe[Phone | None]
    address: strawberry.Maybe[Address | None]


@writable_as(Voucher)
class UpdateVoucherDetails(Fields):
    """What is left out stays as it is; null clears. Money, dates and states have mutations of their own."""

    code: VoucherCode = Field(description=TYPED)
    giftee_details: strawberry.Maybe[VoucherGifteeInput]
    to_giftee: strawberry.Maybe[ShortText]
    from_gifter: strawberry.Maybe[ShortText]
    message: strawberry.Maybe[LongText | None]
    expedition_status: strawberry.Maybe[ExpeditionStatus] = Field(description="How far the sending of it on paper is.")
    expedition_date: strawberry.Maybe[dt.datetime | None] = Field(
        description="When it was sent; left out, marking it as sent is now."
    )
