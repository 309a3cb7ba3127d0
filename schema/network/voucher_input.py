"""Inputs that issue, import, change and use network vouchers."""

import datetime as dt
from typing import Annotated

import strawberry
from pydantic import Field

from schema.core.id_or_code import IdOrCode
from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.gift_card.input import GiftCardGifteeInput, GiftCardGifterInput
from schema.network.usage_input import NewUsageFields
from schema.network.voucher import NetworkVoucher, NetworkVoucherStatus, NetworkVoucherUsage
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.dates import LastMoment, Moment
from schema.validation.languages import Language
from schema.validation.numbers import MoneyAmount, RowId, WholeNumberRule
from schema.voucher.input import LongText

MOST_USAGES = 1_000


class NewNetworkVoucherFields(SchemaModel):
    """The fields that issuing and importing share."""

    box_id: RowId = Field(description="The id of the box, on sale or not. Its marketplace issues the voucher.")
    starts_on: Moment | None = Field(default=None, description="When it can be used for the first time. Null: at once.")
    expires_on: LastMoment | None = Field(
        default=None,
        description="When it expires; a date without a time includes that day. Null: the validity that the network has set.",
    )
    gifter_details: GiftCardGifterInput | None = None
    giftee_details: GiftCardGifteeInput | None = None
    message: LongText | None = None
    language: Language = "en"


@graphql_input_for(NetworkVoucher)
class IssueNetworkVoucher(NewNetworkVoucherFields):
    """Issue a network voucher without a sale. Nothing is charged, and no mail is sent."""

    status: NetworkVoucherStatus = Field(
        default=NetworkVoucherStatus.PAID,
        description="`PAID`: it can be used. `TEST`: so it can, and moves no money. `DRAFT`: it can be used after "
        "`activateNetworkVoucher`.",
    )


@graphql_input_for(NetworkVoucher)
class ImportNetworkVoucher(NewNetworkVoucherFields):
    """Import a network voucher that another system issued, in its current state."""

    code: Annotated[str, line_up_to(40, min_length=1)] = Field(description="The code that it has, without `/`.")
    status: NetworkVoucherStatus = Field(
        default=NetworkVoucherStatus.PAID, description="Its status. `PAID`: it has not been used; `USING`: it has."
    )
    price: MoneyAmount | None = Field(
        default=None,
        description="The price at its sale, in the currency of the marketplace. Null: the price of the box.",
    )
    usage_count: Annotated[int, WholeNumberRule(ge=0, le=MOST_USAGES)] = Field(
        default=0, description="How often it was used in the other system."
    )
    first_used_on: Moment | None = Field(default=None, description="When it was first used in the other system.")
    created_on: dt.datetime | None = Field(default=None, description="When it was issued. Null: now.")


@graphql_input_for(NetworkVoucher)
class ActivateNetworkVoucher(IdOrCode):
    """Activate a network voucher that is a draft."""


@graphql_input_for(NetworkVoucher)
class CancelNetworkVoucher(IdOrCode):
    """Cancel a network voucher."""


@graphql_input_for(NetworkVoucher)
class ExtendNetworkVoucher(IdOrCode):
    """Extend the validity of a network voucher."""

    expires_on: LastMoment = Field(
        description="When it expires: in the future, and later than before. A date without a time includes that day."
    )


@graphql_input_for(NetworkVoucher)
class UpdateNetworkVoucher(IdOrCode):
    """Change a network voucher. Omitted fields stay unchanged."""

    is_active: strawberry.Maybe[bool]
    message: strawberry.Maybe[LongText | None]


@graphql_input_for(NetworkVoucherUsage)
class UseNetworkVoucher(IdOrCode, NewUsageFields):
    """Use a network voucher once at a partner."""

    offer_id: RowId | None = Field(
        default=None,
        description="The id of the partner's offer that is used; required if the partner has several for the box.",
    )
    used_on: Moment | None = Field(
        default=None,
        description="When it is used; it decides about the payout. Without an offset it is in the network's time zone. "
        "Null: now.",
    )


@graphql_input_for(NetworkVoucherUsage)
class UpdateNetworkVoucherUsage(SchemaModel):
    """Change the date that decides about the payout of a usage of a network voucher."""

    id: RowId
    freeze_payout_date: Moment | None = Field(description="The date; null: that of `usedOn`.")


@graphql_input_for(NetworkVoucherUsage)
class CancelNetworkVoucherUsage(SchemaModel):
    """Cancel a usage of a network voucher."""

    id: RowId
    comment: Annotated[str, multiline_up_to(500)] = Field(
        default="", description="Why; it replaces the comment of the usage unless it is empty."
    )
