"""What it takes to issue gift cards, and to hold and spend what is on them."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.ownership import FOR_WHOM
from schema.core.resource import Fields, writable_as
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardHold, GiftCardStatus
from schema.partner.parts import GiftCardOffer
from schema.validation.contact import Email
from schema.validation.numbers import Amount, MoneyAmount, RowId, Whole
from schema.voucher.input import Address, LongText, Name
from schema.voucher.issue_input import Language

MOST_MINUTES = 7 * 24 * 60
MINUTES = 15
MOST_SUGGESTED = 8
LEAST_VALUE = Decimal("0.01")
CEILING = Decimal("1000.00")
"""The most that any partner sells a gift card for, in the currency of its marketplace."""
LONGEST_VALIDITY = 120
"""In months."""
OfferedValue = Annotated[Decimal, Amount(ge=LEAST_VALUE, le=CEILING)]


@writable_as(GiftCardGifter)
class GiftCardGifterInput(Fields):
    """Who gives a gift card. What is left out is not known."""

    first_name: Name = ""
    last_name: Name = ""
    email: Email = ""


@writable_as(GiftCardGiftee)
class GiftCardGifteeInput(Fields):
    """Whom a gift card is for. What is left out is not known."""

    first_name: Name | None = None
    last_name: Name | None = None
    email: Email | None = None
    address: Address | None = None


@writable_as(GiftCard)
class IssueGiftCard(Fields):
    """A gift card that a partner issues by itself. Nothing is charged, and no mail is written."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    value: MoneyAmount = Field(description="What can be spent with it, in the currency of its marketplace.")
    status: GiftCardStatus = Field(
        default=GiftCardStatus.PAID,
        description="`PAID`: it can be spent at once. `DRAFT`: it cannot, until `activateGiftCard`.",
    )
    expires_on: strawberry.Maybe[dt.datetime | None] = Field(
        description="When it stops working; null: never. Left out: as long as those of the partner's shop."
    )
    gifter_details: GiftCardGifterInput | None = None
    giftee_details: GiftCardGifteeInput | None = None
    message: LongText | None = None
    reception_mode: ReceptionMode = ReceptionMode.PRINT_AT_HOME
    language: Language = "en"


class WhichGiftCard(Fields):
    """A gift card by its id or by its code."""

    id: RowId | None = Field(default=None, description="Its id; or send its code.")
    code: Annotated[str, Field(min_length=1, max_length=80)] | None = Field(
        default=None, description="Its code, in capitals or not, with or without hyphens and spaces; or send its id."
    )


@writable_as(GiftCard)
class ActivateGiftCard(WhichGiftCard):
    """A draft has been paid for."""


@writable_as(GiftCard)
class CancelGiftCard(WhichGiftCard):
    """A gift card is taken back."""


@writable_as(GiftCard)
class ExtendGiftCard(WhichGiftCard):
    """A gift card is valid for longer."""

    expires_on: dt.datetime = Field(description="When it is to stop working: later than now, and than it would have.")


@writable_as(GiftCardOffer)
class UpdateGiftCardOffer(Fields):
    """Which gift cards a shop sells from now on. What is left out stays as it is; cards that were issued keep their end."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    enabled: strawberry.Maybe[bool]
    suggested: strawberry.Maybe[Annotated[list[OfferedValue], Field(max_length=MOST_SUGGESTED)]] = Field(
        description=f"The values that the shop proposes, in this order: at most {MOST_SUGGESTED}, none twice, each between "
        "the minimum and the maximum."
    )
    minimum: strawberry.Maybe[OfferedValue]
    maximum: strawberry.Maybe[OfferedValue] = Field(
        description=f"The most that a customer may choose instead; at most {CEILING}."
    )
    validity_months: strawberry.Maybe[Annotated[int, Whole(ge=1, le=LONGEST_VALIDITY)]] = Field(
        description=f"For how many months those that are issued from now on can be spent: 1 to {LONGEST_VALIDITY}."
    )


@writable_as(GiftCardHold)
class HoldGiftCard(WhichGiftCard):
    """An amount is taken off a gift card, to be captured or released."""

    amount: MoneyAmount = Field(description="What to hold, in the card's currency.")
    minutes: Annotated[int, Whole(ge=1, le=MOST_MINUTES)] = Field(
        default=MINUTES, description=f"For how long, unless it is captured or released before: 1 to {MOST_MINUTES}."
    )
    reference: Name = ""


@writable_as(GiftCardHold)
class CaptureGiftCard(Fields):
    """What is held is spent."""

    hold_id: RowId = Field(description="The hold.")
    amount: MoneyAmount | None = Field(
        default=None, description="What to spend of it, the rest is put back; left out: all that is held."
    )


@writable_as(GiftCardHold)
class ReleaseGiftCard(Fields):
    """What is held is put back."""

    hold_id: RowId = Field(description="The hold.")
