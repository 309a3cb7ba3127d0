"""Coupons: a reduction for whoever knows the code."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any

import strawberry
from sqlalchemy import BigInteger, Enum
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from schema.values import Fields, amount, choice, moment


@strawberry.enum(description="How a coupon reduces.")
class DiscountType(enum.StrEnum):
    """How a coupon reduces."""

    PERCENTAGE = "percentage"
    AMOUNT = "amount"


@strawberry.enum(description="What a coupon may be used for.")
class CouponTarget(enum.StrEnum):
    """What a coupon may be used for; the values are the documented `activate_for_…` flags."""

    VOUCHERS = "vouchers"
    GIFT_CARDS = "giftcards"
    CLICK_AND_COLLECT = "clickandcollect"
    ECOMMERCE = "ecommerce"
    EXPERIENCES = "experiences"
    TICKETS_EVENTS = "tickets_events"
    WORKSHOPS = "workshops"
    FLASH_SALES = "flashsales"
    MONEY_POT = "moneypot"
    NETWORK_GIFT_CARDS = "network_giftcards"
    NETWORK_VOUCHERS = "network_vouchers"


@strawberry.enum(description="How what was bought reaches its recipient.")
class ReceptionMode(enum.StrEnum):
    """How what was bought reaches its recipient; the values are the documented `…_mode` flags."""

    PRINT_AT_HOME = "print_at_home"
    EXPEDITION = "expedition"
    GIFTEE_EMAIL = "giftee_email"
    POSTAL_MAIL_TO_BENEFICIARY = "postal_mail_to_beneficiary"
    ON_SITE = "on_site"


def identifiers(description: str) -> Any:
    """Ids of what a coupon is limited to; empty: not limited."""
    return Field(default_factory=list, sa_type=ARRAY(BigInteger), description=description)


def choices(kind: type[enum.Enum], description: str) -> Any:
    """Several values of a closed set, stored as their values."""
    stored = Enum(kind, native_enum=False, length=40, values_callable=lambda e: [m.value for m in e])
    return Field(default_factory=list, sa_type=ARRAY(stored), description=description)


@strawberry.pydantic.type(description="A reduction for whoever knows the code.")
class Coupon(Fields):
    """A reduction for whoever knows the code."""

    id: int
    code: str = Field(max_length=40, description="What customers type; matched ignoring case, spaces and hyphens.")
    type: str = Field(default="discount", max_length=40, description="What kind of campaign it belongs to.")
    is_activated: bool = Field(default=True, description="Whether it can be used.")
    starts_on: dt.datetime | None = moment("When it begins to work; null: at once.", default=None, nullable=True)
    ends_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    discount: Decimal = amount("How much: per cent, or money.")
    discount_type: DiscountType = choice(DiscountType, "Whether `discount` is per cent or money.")
    max_usage: int | None = Field(default=None, ge=1, description="How often it may be used in all; null: any number.")
    number_of_usage: int = Field(default=0, description="How often it has been used, running payments included.")
    targets: list[CouponTarget] = choices(CouponTarget, "What it may be used for.")
    reception_modes: list[ReceptionMode] = choices(
        ReceptionMode, "Which ways of reception it is limited to; empty: any."
    )
    eshop_products_ids: list[int] = identifiers("The shop products it is limited to; empty: all.")
    voucher_prototypes_ids: list[int] = identifiers("The voucher prototypes it is limited to.")
    cnc_offers_ids: list[int] = identifiers("The click and collect offers it is limited to.")
    experience_offers_ids: list[int] = identifiers("The experience offers it is limited to.")
    workshops_ids: list[int] = identifiers("The workshops it is limited to.")
    workshop_categories_ids: list[int] = identifiers("The workshop categories it is limited to.")
    events_ids: list[int] = identifiers("The events it is limited to.")
    flashsales_offers_ids: list[int] = identifiers("The flash sale offers it is limited to.")
    payment_amount_condition_minimum: Decimal | None = amount(
        "The least to pay for it to work.", default=None, nullable=True
    )
    price_condition_min_amount: Decimal | None = amount(
        "The least value of products for it to work.", default=None, nullable=True
    )
    product_condition_min_amount: Decimal | None = amount(
        "The least price of a product for it to reduce it.", default=None, nullable=True
    )
    email_condition: str = Field(
        default="", max_length=254, description="Only for this e-mail address, or `@domain`; empty: anybody."
    )
    giftcode: str = Field(default="", max_length=40, description="The gift code it was issued with.")
    new_validity_period: str = Field(
        default="", max_length=40, description="The validity that it gives to what is bought."
    )
    booking_engine_id: str = Field(default="", max_length=80, description="Its id in a booking engine.")
    is_value_increased: bool = Field(
        default=False, description="Whether it raises the value of what is bought instead of lowering its price."
    )
    is_value_increased_multiple_times: bool = Field(
        default=False, description="Whether that may happen more than once."
    )
    offer_delivery_cost_clickandcollect: bool = Field(
        default=False, description="Whether click and collect becomes free."
    )
