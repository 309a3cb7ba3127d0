"""Coupons: a reduction for whoever knows the code."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any

import strawberry
from pydantic import BaseModel
from pydantic import Field as Part
from sqlalchemy import Enum, Integer
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from schema.core.derived import derived
from schema.core.ownership import of_partner
from schema.core.resource import ClosedSet, Fields, Money, closed_set, embedded, in_money, inline, moment


@closed_set
class CouponTarget(ClosedSet):
    """What a coupon may be used for."""

    # The values are those of the documented flags `activate_for_…`.
    VOUCHERS = "vouchers", "Vouchers."
    GIFT_CARDS = "giftcards", "Gift cards of one partner."
    CLICK_AND_COLLECT = "clickandcollect", "The shop, where the customer collects."
    ECOMMERCE = "ecommerce", "The shop, whatever the way of delivery."
    EXPERIENCES = "experiences", "Experiences."
    TICKETS_EVENTS = "tickets_events", "Tickets for events."
    WORKSHOPS = "workshops", "Workshops."
    FLASH_SALES = "flashsales", "Flash sales."
    MONEY_POT = "moneypot", "Money pots."
    NETWORK_GIFT_CARDS = "network_giftcards", "Gift cards of a whole network."
    NETWORK_VOUCHERS = "network_vouchers", "Vouchers of a whole network."


@closed_set
class ReceptionMode(ClosedSet):
    """How what was bought reaches its recipient."""

    # The values are those of the documented flags `…_reception_mode`.
    PRINT_AT_HOME = "print_at_home", "The buyer prints it."
    EXPEDITION = "expedition", "It is sent to the buyer."
    GIFTEE_EMAIL = "giftee_email", "It is e-mailed to whom it is for."
    POSTAL_MAIL_TO_BENEFICIARY = "postal_mail_to_beneficiary", "It is sent to whom it is for."
    ON_SITE = "on_site", "It is collected from the partner."


@strawberry.pydantic.type(description="What a coupon takes off: a share of the price or an amount, never both.")
class CouponDiscount(BaseModel):
    """What a coupon takes off."""

    percentage: Decimal | None = Part(description="Per cent of the price: `10.00`; null where it is an amount.")
    amount: Money | None = Part(description="An amount; null where it is a percentage.")


@strawberry.pydantic.type(description="What a coupon is limited to. An empty list does not limit.")
class CouponScope(BaseModel):
    """What a coupon is limited to."""

    product_ids: list[int] = Part(description="Products of the shop.")
    voucher_prototype_ids: list[int] = Part(description="Voucher prototypes.")
    click_and_collect_offer_ids: list[int] = Part(description="Click and collect offers.")
    experience_offer_ids: list[int] = Part(description="Experience offers.")
    workshop_ids: list[int] = Part(description="Workshops.")
    workshop_category_ids: list[int] = Part(description="Categories of workshops.")
    event_ids: list[int] = Part(description="Events.")
    flash_sale_offer_ids: list[int] = Part(description="Flash sale offers.")
    reception_modes: list[ReceptionMode] = Part(description="Ways in which the recipient gets it.")


@strawberry.pydantic.type(description="What must be so for a coupon to work.")
class CouponConditions(BaseModel):
    """What must be so for a coupon to work."""

    email: str = Part(description="The buyer has this e-mail address, or one at this `@domain`; empty: any.")
    minimum_payment: Money | None = Part(
        description="The least that is left to pay, delivery not counted, after the coupons before it; null: any."
    )
    minimum_basket: Money | None = Part(description="The least value of all products together; null: any.")
    minimum_product_price: Money | None = Part(description="The least price of a product to be reduced; null: any.")


def identifiers() -> Any:
    """Ids of what a coupon is limited to."""
    return Field(default_factory=list, sa_type=ARRAY(Integer))


def choices(kind: type[enum.Enum], description: str = "") -> Any:
    """Several values of a closed set, stored as their values."""
    stored = Enum(kind, native_enum=False, length=40, values_callable=lambda e: [m.value for m in e])
    return Field(default_factory=list, sa_type=ARRAY(stored), description=description)


@strawberry.pydantic.type(description="A reduction for whoever knows the code.")
class Coupon(Fields):
    """A reduction for whoever knows the code."""

    id: int = Field(description="Its id.")
    code: str = Field(max_length=40, description="What customers type; matched ignoring case, spaces and hyphens.")
    type: str = Field(default="discount", max_length=40, description="What kind of campaign it belongs to.")
    is_active: bool = Field(default=True, description="Whether it can be used.")
    starts_on: dt.datetime | None = moment("When it begins to work; null: at once.", default=None, nullable=True)
    ends_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    max_usages: int | None = Field(default=None, ge=1, description="How often it may be used in all; null: any number.")
    usage_count: int = Field(default=0, description="How often it has been used, running payments included.")
    targets: list[CouponTarget] = choices(CouponTarget, "What it may be used for.")
    gift_code: str = Field(default="", max_length=40, description="The gift code it was issued with; empty: none.")
    new_validity_period: str = Field(
        default="", max_length=40, description="The validity that it gives to what is bought; empty: the usual one."
    )
    booking_engine_id: str = Field(default="", max_length=80, description="Its id in a booking engine; empty: none.")
    increases_value: bool = Field(
        default=False, description="Whether it raises the value of what is bought instead of lowering its price."
    )
    increases_value_repeatedly: bool = Field(default=False, description="Whether that may happen more than once.")
    free_click_and_collect: bool = Field(default=False, description="Whether it makes click and collect free.")
    discount = embedded(
        inline(CouponDiscount, {"amount": in_money("discount_amount")}, prefix="discount_"), "What it takes off."
    )
    limited_to = embedded(inline(CouponScope), "What it is limited to.")
    conditions = embedded(
        inline(
            CouponConditions,
            {
                "email": "email_condition",
                "minimum_payment": in_money("minimum_payment_amount"),
                "minimum_basket": in_money("minimum_basket_amount"),
                "minimum_product_price": in_money("minimum_product_price_amount"),
            },
        ),
        "What must be so for it to work.",
    )
    partner = of_partner("Whose shops it works in.")
    is_running = derived(
        bool,
        ("is_active", "starts_on", "ends_on", "max_usages", "usage_count"),
        "Whether it works now, for whoever meets its conditions: it is active, has begun, has not ended, is not used up.",
    )
