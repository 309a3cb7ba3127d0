"""Gift cards of one partner: prepaid money, spent in its shop."""

import datetime as dt
import enum

import strawberry
from sqlmodel import Field

from schema.values import Fields, choice, moment, money


@strawberry.enum(description="What a gift card can do.")
class GiftCardStatus(enum.StrEnum):
    """What a gift card can do."""

    DRAFT = "draft"
    PAID = "paid"
    USING = "using"
    USED = "used"
    EXPIRED = "exprd"
    CANCELLED = "cncld"


@strawberry.pydantic.type(description="Prepaid money, spent in the shop of the partner that issued it.")
class GiftCard(Fields):
    """Prepaid money of one partner."""

    id: int
    code: str = Field(max_length=40, description="The code printed on it, in groups of four.")
    status: GiftCardStatus = choice(GiftCardStatus, "What it can do.", default=GiftCardStatus.DRAFT)
    created_on: dt.datetime = moment("When it was issued.")
    expires_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    value = money("value_amount", description="What it was issued with.")
    remaining_value = money("remaining_amount", description="What is left, running payments already taken off.")
    gifter_first_name: str = Field(default="", max_length=80)
    gifter_last_name: str = Field(default="", max_length=80)
