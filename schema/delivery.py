"""Delivery modes and what they cost."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.ownership import of_partner
from schema.core.resource import ClosedSet, Fields, choice, closed_set, moment, money, relations, text
from schema.core.resource import Text as Translated


@closed_set
class DeliveryKind(ClosedSet):
    """How goods reach the customer."""

    DIGITAL = "digital", "By e-mail; only for what is not physical."
    CLICK_AND_COLLECT = "click_and_collect", "The customer collects them from the partner."
    HOME_DELIVERY = "home_delivery", "They are sent to an address, at a cost by country and weight."


@strawberry.pydantic.type(description="What home delivery costs to a country, up to a weight.")
class DeliveryRate(Fields):
    """What delivery costs to a country, up to a weight."""

    id: int = Field(description="Its id.")
    country: str = Field(
        default="", max_length=2, description="ISO 3166 code; empty: every country without rates of its own."
    )
    max_weight_grams: int | None = Field(default=None, ge=1, description="Up to this weight; null: any weight.")
    price = money("price_amount", description="What it costs.")
    partner = of_partner()


@strawberry.pydantic.type(description="A way that a partner delivers.")
class DeliveryMode(Fields):
    """A way that a partner delivers."""

    id: int = Field(description="Its id.")
    kind: DeliveryKind = choice(DeliveryKind, "How goods reach the customer.")
    name: Translated = text("What customers choose.")
    description: Translated = text("More about it: opening hours, delays.")
    is_active: bool = Field(default=True, description="Whether customers can choose it.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    vat_rate: Decimal = Field(
        sa_type=Numeric(5, 2), default=Decimal("20.00"), description="Per cent of VAT contained in its price."
    )
    free_above = money(
        "free_above_amount", description="Free from this value of products on; null: never.", nullable=True
    )
    rates = relations(DeliveryRate, by="delivery_mode_id", description="What it costs; digital delivery needs none.")
    updated_on: dt.datetime = moment("When it last changed.")
    partner = of_partner()
