"""What it takes to issue gift cards, and to hold and spend what is on them."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.contact import Email
from schema.coupon import ReceptionMode
from schema.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardHold, GiftCardStatus
from schema.numbers import MoneyAmount, RowId, Whole
from schema.values import Fields, writable_as
from schema.voucher_input import LongText, Name
from schema.voucher_issue_input import FOR_WHOM, Language

MOST_MINUTES = 7 * 24 * 60
MINUTES = 15


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
    address: Annotated[str, Field(max_length=600)] | None = None


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
        description="When it stops working; null: never. Left out: as long as the shop's own, a year to the end of the day."
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
