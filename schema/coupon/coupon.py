"""Coupons: discount codes for a partner's shops."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any

import strawberry
from sqlalchemy import Enum, Integer, Numeric
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import EmbeddedColumns, SchemaModel, embedded, embedded_type


@graphql_enum
class CouponTarget(DescribedEnum):
    """What a coupon can be used for."""

    # The values are the suffixes of the REST flags `activate_for_…`.
    VOUCHERS = "vouchers", "Vouchers."
    GIFT_CARDS = "giftcards", "Gift cards of one partner."
    CLICK_AND_COLLECT = "clickandcollect", "The shop, for orders that the customer collects."
    ECOMMERCE = "ecommerce", "The shop, for every delivery mode."
    EXPERIENCES = "experiences", "Experiences."
    TICKETS_EVENTS = "tickets_events", "Tickets for events."
    WORKSHOPS = "workshops", "Workshops."
    FLASH_SALES = "flashsales", "Flash sales."
    MONEY_POT = "moneypot", "Money pots."
    NETWORK_GIFT_CARDS = "network_giftcards", "Gift cards of a whole network."
    NETWORK_VOUCHERS = "network_vouchers", "Vouchers of a whole network."


@graphql_enum
class ReceptionMode(DescribedEnum):
    """How a voucher or gift card reaches its recipient."""

    # The values are the prefixes of the REST flags `…_reception_mode`.
    PRINT_AT_HOME = "print_at_home", "The buyer prints it."
    EXPEDITION = "expedition", "It is sent to the buyer by post."
    GIFTEE_EMAIL = "giftee_email", "It is e-mailed to the giftee."
    POSTAL_MAIL_TO_BENEFICIARY = "postal_mail_to_beneficiary", "It is sent to the giftee by post."
    ON_SITE = "on_site", "It is collected from the partner."

    @property
    def is_by_email(self) -> bool:
        return self in {ReceptionMode.PRINT_AT_HOME, ReceptionMode.GIFTEE_EMAIL}


def id_list_column(description: str) -> Any:
    """A PostgreSQL array of ids."""
    return Field(default_factory=list, sa_type=ARRAY(Integer), description=description)


def enum_list_column(kind: type[enum.Enum], description: str) -> Any:
    """A PostgreSQL array of an enum's values."""
    stored = Enum(kind, native_enum=False, length=40, values_callable=lambda e: [m.value for m in e])
    return Field(default_factory=list, sa_type=ARRAY(stored), description=description)


@embedded_type("The discount of a coupon: a percentage or an amount, never both.", prefix="discount_")
class CouponDiscount(EmbeddedColumns):
    discount_percentage: Decimal | None = Field(
        default=None,
        sa_type=Numeric(5, 2),
        description="Percentage of the price: `10.00`; null if the discount is an amount.",
    )
    discount_amount: Decimal | None = money_column(default=None, nullable=True)
    amount = money("discount_amount", description="The amount; null if the discount is a percentage.", nullable=True)


@embedded_type("What a coupon is limited to. An empty list sets no limit.")
class CouponScope(EmbeddedColumns):
    product_ids: list[int] = id_list_column("Ids of products of the shop.")
    voucher_prototype_ids: list[int] = id_list_column("Ids of voucher prototypes.")
    click_and_collect_offer_ids: list[int] = id_list_column("Ids of click and collect offers.")
    experience_offer_ids: list[int] = id_list_column("Ids of experience offers.")
    workshop_ids: list[int] = id_list_column("Ids of workshops.")
    workshop_category_ids: list[int] = id_list_column("Ids of workshop categories.")
    event_ids: list[int] = id_list_column("Ids of events.")
    flash_sale_offer_ids: list[int] = id_list_column("Ids of flash sale offers.")
    reception_modes: list[ReceptionMode] = enum_list_column(ReceptionMode, "Reception modes.")


@embedded_type("The conditions for using a coupon.", names={"email_condition": "email"})
class CouponConditions(EmbeddedColumns):
    email_condition: str = Field(
        default="", max_length=254, description="The buyer's e-mail address, or its domain as `@domain`; empty for any."
    )
    minimum_payment_amount: Decimal | None = money_column(default=None, nullable=True)
    minimum_payment = money(
        "minimum_payment_amount",
        description="The minimum amount left to pay for all that it is for, after the coupons before it; null for any.",
        nullable=True,
    )
    minimum_basket_amount: Decimal | None = money_column(default=None, nullable=True)
    minimum_basket = money(
        "minimum_basket_amount", description="The minimum total of all that it is for; null for any.", nullable=True
    )
    minimum_product_price_amount: Decimal | None = money_column(default=None, nullable=True)
    minimum_product_price = money(
        "minimum_product_price_amount",
        description="The minimum price of a discounted product; null for any.",
        nullable=True,
    )


@strawberry.pydantic.type(description="A discount code.")
class Coupon(SchemaModel):
    id: int = id_column("The coupon's id.")
    code: str = Field(max_length=40, description="The code that customers enter; case, spaces and hyphens are ignored.")
    type: str = Field(default="discount", max_length=40, description="The type of campaign it belongs to.")
    is_active: bool = Field(default=True, description="Whether it is active.")
    starts_on: dt.datetime | None = datetime_column(
        "When it becomes valid; null if at once.", default=None, nullable=True
    )
    ends_on: dt.datetime | None = datetime_column("When it expires; null if never.", default=None, nullable=True)
    max_usages: int | None = Field(
        default=None, ge=1, description="The maximum number of uses in total; null if unlimited."
    )
    usage_count: int = Field(default=0, description="How often it has been used, including payments in progress.")
    targets: list[CouponTarget] = enum_list_column(CouponTarget, "What it can be used for.")
    gift_code: str = Field(default="", max_length=40, description="The gift code it was issued with; empty if none.")
    new_validity_period: str = Field(
        default="",
        max_length=40,
        description="The validity it gives to purchased vouchers and gift cards; empty for the usual one.",
    )
    booking_engine_id: str = Field(default="", max_length=80, description="Its id in a booking engine; empty if none.")
    increases_value: bool = Field(
        default=False, description="Whether it increases the value of the purchase instead of reducing its price."
    )
    increases_value_repeatedly: bool = Field(
        default=False,
        description="Whether it increases the value of every line; otherwise only of the most expensive one.",
    )
    free_click_and_collect: bool = Field(default=False, description="Whether it makes click and collect free.")
    is_combinable: bool = Field(
        default=True,
        description="Whether it can be used with other coupons in one order; if not, the one entered first applies.",
    )
    discount = embedded(CouponDiscount, "The discount.")
    limited_to = embedded(CouponScope, "What it is limited to.")
    conditions = embedded(CouponConditions, "The conditions for using it.")
    partner = partner_relation("The partner whose shops accept it.")
    is_running = derived(
        bool,
        ("is_active", "starts_on", "ends_on", "max_usages", "usage_count"),
        "Whether it is valid now, apart from its conditions: active, started, not expired and not used up.",
    )
