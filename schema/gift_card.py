"""Gift cards of one partner: prepaid money, spent in its shop."""

import datetime as dt

import strawberry
from sqlmodel import Field

from schema.values import ClosedSet, Fields, choice, closed_set, moment, money


@closed_set
class GiftCardStatus(ClosedSet):
    """Where a gift card stands."""

    DRAFT = "draft", "Not paid for yet; it cannot be spent."
    PAID = "paid", "It can be spent, and nothing of it has been."
    USING = "using", "Some of it has been spent, and more can be."
    USED = "used", "All of it has been spent."
    EXPIRED = "exprd", "Its time is over; it cannot be spent."
    CANCELLED = "cncld", "It was taken back; it cannot be spent."


@strawberry.pydantic.type(description="Prepaid money, spent in the shop of the partner that issued it.")
class GiftCard(Fields):
    """Prepaid money of one partner."""

    id: int = Field(description="Its id.")
    code: str = Field(max_length=40, description="The code printed on it, in groups of four.")
    status: GiftCardStatus = choice(GiftCardStatus, "Where it stands.", default=GiftCardStatus.DRAFT)
    created_on: dt.datetime = moment("When it was issued.")
    expires_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    value = money("value_amount", description="What it was issued with.")
    remaining_value = money("remaining_amount", description="What is left, running payments already taken off.")
    gifter_first_name: str = Field(default="", max_length=80, description="The first name of whoever gives it.")
    gifter_last_name: str = Field(default="", max_length=80, description="The last name of whoever gives it.")
