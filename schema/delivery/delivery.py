"""Delivery modes and their rates."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, relations
from schema.core.text import Text as Translated
from schema.core.text import translated_text_column


@graphql_enum
class DeliveryKind(DescribedEnum):
    """How goods reach the customer."""

    DIGITAL = "digital", "By e-mail; only for goods that are not physical."
    CLICK_AND_COLLECT = "click_and_collect", "The customer collects them from the partner."
    HOME_DELIVERY = "home_delivery", "They are sent to an address; the price depends on country and weight."


@strawberry.pydantic.type(description="The price of home delivery to a country, up to a weight.")
class DeliveryRate(SchemaModel):
    id: int = id_column("The rate's id.")
    country: str = Field(
        default="", max_length=2, description="ISO 3166 alpha-2 code; empty for every country without rates of its own."
    )
    max_weight_grams: int | None = Field(
        default=None, ge=1, description="The maximum weight in grams; null for any weight."
    )
    price_amount: Decimal = money_column()
    price = money("price_amount", description="The price.")
    partner = partner_relation()


@strawberry.pydantic.type(description="A delivery mode that a partner offers.")
class DeliveryMode(SchemaModel):
    id: int = id_column("The delivery mode's id.")
    kind: DeliveryKind = enum_column(DeliveryKind, "How goods reach the customer.")
    name: Translated = translated_text_column("The name that customers see.")
    description: Translated = translated_text_column("More information, such as opening hours and delivery times.")
    is_active: bool = Field(default=True, description="Whether customers can choose it.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    vat_rate: Decimal = Field(
        sa_type=Numeric(5, 2), default=Decimal("20.00"), description="VAT rate in percent, included in the price."
    )
    free_above_amount: Decimal | None = money_column(default=None, nullable=True)
    free_above = money(
        "free_above_amount", description="The total of products from which it is free; null if never.", nullable=True
    )
    rates = relations(DeliveryRate, by="delivery_mode_id", description="Its rates; digital delivery needs none.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")
    partner = partner_relation()
