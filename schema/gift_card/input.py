"""Inputs that issue, hold and spend gift cards."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.id_or_code import IdOrCode
from schema.core.inputs import graphql_input_for
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardHold, GiftCardStatus
from schema.partner.parts import GiftCardOffer
from schema.validation.contact import Email
from schema.validation.languages import Language
from schema.validation.numbers import AmountRule, MoneyAmount, RowId, WholeNumberRule
from schema.voucher.input import Address, LongText, Name

MAX_HOLD_MINUTES = 7 * 24 * 60
DEFAULT_HOLD_MINUTES = 15
MOST_SUGGESTED = 8
MIN_OFFERED_VALUE = Decimal("0.01")
MAX_OFFERED_VALUE = Decimal("1000.00")
"""The maximum value of a gift card sold in a shop, in the currency of its marketplace."""
MAX_VALIDITY_MONTHS = 120
GiftCardOfferValue = Annotated[Decimal, AmountRule(ge=MIN_OFFERED_VALUE, le=MAX_OFFERED_VALUE)]


@graphql_input_for(GiftCardGifter)
class GiftCardGifterInput(SchemaModel):
    """The gifter of a gift card. Omitted fields are unknown."""

    first_name: Name = ""
    last_name: Name = ""
    email: Email = ""


@graphql_input_for(GiftCardGiftee)
class GiftCardGifteeInput(SchemaModel):
    """The giftee of a gift card. Omitted fields are unknown."""

    first_name: Name | None = None
    last_name: Name | None = None
    email: Email | None = None
    address: Address | None = None


@graphql_input_for(GiftCard)
class IssueGiftCard(SchemaModel):
    """Issue a gift card without a sale. Nothing is charged, and no mail is sent."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    value: MoneyAmount = Field(description="The amount to issue it with, in the currency of its marketplace.")
    status: GiftCardStatus = Field(
        default=GiftCardStatus.PAID,
        description="`PAID`: it can be spent at once. `DRAFT`: it can be spent after `activateGiftCard`.",
    )
    expires_on: strawberry.Maybe[dt.datetime | None] = Field(
        description="When it expires; null if never. If omitted, the validity set for the partner's shop applies."
    )
    gifter_details: GiftCardGifterInput | None = None
    giftee_details: GiftCardGifteeInput | None = None
    message: LongText | None = None
    reception_mode: ReceptionMode = ReceptionMode.PRINT_AT_HOME
    language: Language = "en"
    design_id: RowId | None = Field(default=None, description="The id of its design; null for none.")


@graphql_input_for(GiftCard)
class ActivateGiftCard(IdOrCode):
    """Activate a gift card that is a draft."""


@graphql_input_for(GiftCard)
class CancelGiftCard(IdOrCode):
    """Cancel a gift card."""


@graphql_input_for(GiftCard)
class ExtendGiftCard(IdOrCode):
    """Extend the validity of a gift card."""

    expires_on: dt.datetime = Field(description="When it expires: in the future, and later than before.")


@graphql_input_for(GiftCardOffer)
class UpdateGiftCardOffer(SchemaModel):
    """Set which gift cards a shop sells. Omitted fields stay unchanged. Issued cards keep their expiry."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    enabled: strawberry.Maybe[bool]
    suggested: strawberry.Maybe[Annotated[list[GiftCardOfferValue], Field(max_length=MOST_SUGGESTED)]] = Field(
        description=f"The suggested values, in the order shown: at most {MOST_SUGGESTED}, without duplicates, "
        "each between the minimum and the maximum."
    )
    minimum: strawberry.Maybe[GiftCardOfferValue]
    maximum: strawberry.Maybe[GiftCardOfferValue] = Field(
        description=f"The highest value that a customer may enter; at most {MAX_OFFERED_VALUE}."
    )
    validity_months: strawberry.Maybe[Annotated[int, WholeNumberRule(ge=1, le=MAX_VALIDITY_MONTHS)]] = Field(
        description=f"The validity of cards issued from now on, in months: 1 to {MAX_VALIDITY_MONTHS}."
    )


@graphql_input_for(GiftCardHold)
class HoldGiftCard(IdOrCode):
    """Hold an amount of a gift card, to capture or release it later."""

    amount: MoneyAmount = Field(description="The amount to hold, in the card's currency.")
    minutes: Annotated[int, WholeNumberRule(ge=1, le=MAX_HOLD_MINUTES)] = Field(
        default=DEFAULT_HOLD_MINUTES,
        description=f"How long the hold lasts, in minutes: 1 to {MAX_HOLD_MINUTES}.",
    )
    reference: Name = ""


@graphql_input_for(GiftCardHold)
class CaptureGiftCard(SchemaModel):
    """Capture a hold: spend the held amount."""

    hold_id: RowId = Field(description="The id of the hold.")
    amount: MoneyAmount | None = Field(
        default=None, description="The amount to spend; the rest is returned to the card. The full amount if omitted."
    )


@graphql_input_for(GiftCardHold)
class ReleaseGiftCard(SchemaModel):
    """Release a hold: return the held amount to the card."""

    hold_id: RowId = Field(description="The id of the hold.")


@graphql_input_for(GiftCardHold)
class SpendGiftCard(IdOrCode):
    """Spend an amount of a gift card at once."""

    amount: MoneyAmount = Field(description="The amount to spend, in the card's currency.")
    reference: Name = ""


@graphql_input_for(GiftCardHold)
class ReverseGiftCardCapture(SchemaModel):
    """Reverse a capture: return the spent amount to the card."""

    hold_id: RowId = Field(description="The id of the captured hold.")
