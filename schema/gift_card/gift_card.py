"""Gift cards of one partner: prepaid money, spent in its shop."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as Part
from sqlmodel import Field

from schema.core.derived import derived
from schema.core.ownership import of_partner
from schema.core.resource import (
    ClosedSet,
    Fields,
    choice,
    closed_set,
    embedded,
    inline,
    moment,
    money,
    relation,
    relations,
)
from schema.coupon.coupon import ReceptionMode


@closed_set
class GiftCardStatus(ClosedSet):
    """Where a gift card stands."""

    DRAFT = "draft", "Not paid for yet; it cannot be spent."
    PAID = "paid", "It can be spent, and nothing of it has been."
    USING = "using", "Some of it has been spent, and more can be."
    USED = "used", "All of it has been spent."
    EXPIRED = "exprd", "Its time is over; it cannot be spent."
    CANCELLED = "cncld", "It was taken back; it cannot be spent."


@closed_set
class GiftCardMovementKind(ClosedSet):
    """Why the money on a gift card moved."""

    ISSUE = "issue", "It was issued with it."
    HOLD = "hold", "It was taken off for a payment that was not final yet."
    RELEASE = "release", "It was put back: the hold is over."
    CAPTURE = "capture", "It was spent."
    REVERSAL = "reversal", "What was spent was put back."


@closed_set
class GiftCardHoldState(ClosedSet):
    """Where a hold stands."""

    RUNNING = "running", "Its amount is off the card; it can be captured or released."
    CAPTURED = "captured", "It was spent, all or a part of it; the rest is back on the card."
    RELEASED = "released", "It was let go; its amount is back on the card."
    EXPIRED = "expired", "Nobody captured it in time; its amount is back on the card."
    REVERSED = "reversed", "It was spent, and what was spent was put back within a day."


@strawberry.pydantic.type(description="Who gave a gift card.")
class GiftCardGifter(BaseModel):
    """Who gave a gift card."""

    first_name: str = Part(default="", description="First name; empty: not told.")
    last_name: str = Part(default="", description="Last name; empty: not told.")
    email: str = Part(default="", description="E-mail address; empty: not known.")


@strawberry.pydantic.type(description="Whom a gift card is for.")
class GiftCardGiftee(BaseModel):
    """Whom a gift card is for."""

    first_name: str | None = Part(default=None, description="First name; null: not told.")
    last_name: str | None = Part(default=None, description="Last name; null: not told.")
    email: str | None = Part(default=None, description="E-mail address; null: not told.")
    address: str | None = Part(default=None, description="Where it is sent by post, in lines; null: not told.")


@strawberry.pydantic.type(description="Once that the money on a gift card moved. Movements are never changed.")
class GiftCardMovement(Fields):
    """Once that the money on a gift card moved."""

    id: int = Field(description="Its id.")
    kind: GiftCardMovementKind = choice(GiftCardMovementKind, "Why it moved.")
    change = money("amount", description="What it put on the card or, below zero, took off it.")
    reference: str = Field(
        default="", max_length=80, description="What whoever held the money calls its payment; empty: nothing."
    )
    hold_id: int | None = Field(
        default=None, description="The hold it belongs to; null: none, or a payment in the partner's own shop."
    )
    created_on: dt.datetime = moment("When it moved.")
    partner = of_partner()


@strawberry.pydantic.type(description="Money taken off a gift card for a payment that is not final yet.")
class GiftCardHold(Fields):
    """Money taken off a gift card for a payment that is not final yet."""

    id: int = Field(description="Its id.")
    state: GiftCardHoldState = choice(GiftCardHoldState, "Where it stands.", default=GiftCardHoldState.RUNNING)
    amount = money("held_amount", description="What was taken off the card.")
    captured = money("captured_amount", description="What of it was spent.")
    reference: str = Field(
        default="", max_length=80, description="What whoever holds it calls the payment; empty: nothing."
    )
    created_on: dt.datetime = moment("When it began.")
    expires_on: dt.datetime = moment("When it ends by itself unless it was captured or released before.")
    closed_on: dt.datetime | None = moment(
        "When it was captured or released, or had expired; null: it is running.", default=None, nullable=True
    )
    gift_card_id: int = Field(description="The gift card.")
    gift_card = relation("schema.gift_card.gift_card:GiftCard", by="gift_card_id", description="The gift card.")
    partner = of_partner()


@strawberry.pydantic.type(description="Prepaid money, spent in the shop of the partner that issued it.")
class GiftCard(Fields):
    """Prepaid money of one partner."""

    id: int = Field(description="Its id.")
    code: str = Field(max_length=40, description="The code printed on it, in groups of four.")
    status: GiftCardStatus = choice(GiftCardStatus, "Where it stands.", default=GiftCardStatus.DRAFT)
    created_on: dt.datetime = moment("When it was issued.")
    expires_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    value = money("value_amount", description="What it was issued with.")
    remaining_value = money(
        "remaining_amount",
        description="What is left on it, what is held taken off: the sum of its movements, whatever its status. "
        "`isSpendable` tells whether it can be spent.",
    )
    is_spendable = derived(
        bool,
        ("status", "expires_on", "remaining_amount"),
        "Whether something of it can be spent now: paid for, not over, not cancelled, and something is left.",
    )
    gifter_details = embedded(inline(GiftCardGifter, prefix="gifter_"), "Who gave it.")
    giftee_details = embedded(
        inline(GiftCardGiftee, {"address": "recipient_address"}, prefix="giftee_"), "Whom it is for."
    )
    message: str | None = Field(default=None, max_length=1000, description="What the gifter wrote; null: nothing.")
    reception_mode: ReceptionMode = choice(
        ReceptionMode, "How it reaches its recipient.", length=40, default=ReceptionMode.PRINT_AT_HOME
    )
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    order_id: int | None = Field(default=None, description="The order it was sold with; null: none.")
    document_url = derived(
        str | None,
        ("status", "document_token"),
        "The address of its printable document, a PDF: nobody guesses it, and whoever knows it may open it. "
        "Null where there is none: before it is paid for, and when it was cancelled.",
    )
    movements = relations(
        GiftCardMovement, by="gift_card_id", description="All that moved its money, the oldest first."
    )
    holds = relations(
        GiftCardHold,
        by="gift_card_id",
        description="What was held of it over the API, the oldest first. Payments in the partner's own shop hold for themselves.",
    )
    partner = of_partner()
