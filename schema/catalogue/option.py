"""What can be added to a voucher: options, their categories, and which prototypes they go with."""

import datetime as dt
from decimal import Decimal

import strawberry
from pydantic import BaseModel
from pydantic import Field as Part
from sqlmodel import Field

from schema.core.json_lists import kept_list
from schema.core.ownership import of_partner
from schema.core.resource import Fields, Money, Text, moment, money, relation, relations, text


@strawberry.pydantic.type(description="A group of options, with how many of them a buyer must and may choose.")
class VoucherOptionCategory(Fields):
    """A group of options."""

    id: int = Field(description="Its id.")
    name: Text = text("What customers read.")
    description: Text = text("A few lines about it.")
    is_active: bool = Field(default=True, description="Whether its options are offered.")
    ranking: int = Field(default=1, description="Its place in the funnel, lowest first.")
    min_number_options: int | None = Field(default=None, description="The fewest to choose; null: none need be.")
    max_number_options: int | None = Field(default=None, description="The most to choose; null: any number.")
    partner = of_partner()
    created_on: dt.datetime = moment("When it was made.")
    updated_on: dt.datetime = moment("When it last changed.")


@strawberry.pydantic.type(description="A service that an option consists of, with what it costs its seller.")
class OptionService(BaseModel):
    """A service that an option consists of."""

    cost: Money = Part(description="What it costs, VAT left out.")
    buying_vat: Decimal = Part(description="Per cent of VAT on what it costs.")
    selling_vat: Decimal = Part(description="Per cent of VAT contained in its price.")
    price: Money = Part(description="What it is sold for, VAT included.")


@strawberry.pydantic.type(description="Something that a buyer can add to a voucher.")
class VoucherOption(Fields):
    """Something to add to a voucher."""

    id: int = Field(description="Its id.")
    name: Text = text("What customers read.")
    description: Text = text("A few lines about it.")
    selling_price = money("selling_price_amount", description="What one costs, VAT included.")
    is_active: bool = Field(default=True, description="Whether it is offered.")
    countable: bool = Field(default=False, description="Whether it can be chosen more than once.")
    is_global: bool = Field(default=False, description="Whether it is offered with every prototype of its partner.")
    ranking: int = Field(default=1, description="Its place in the funnel, lowest first.")
    source_id: str = Field(default="", max_length=80, description="Its id in the partner's own system; empty: none.")
    has_been_ordered: bool = Field(default=False, description="Whether a voucher was sold with it.")
    services: list[OptionService] = kept_list(OptionService, "What it consists of.")
    category_id: int | None = Field(default=None, description="The category it belongs to; null: none.")
    category = relation(VoucherOptionCategory, by="category_id", description="Its category.", nullable=True)
    partner = of_partner()
    prototype_links = relations(
        "schema.catalogue.option:VoucherOptionLink",
        by="option_id",
        description="The prototypes that it goes with.",
        order="voucher_prototype_id",
    )
    created_on: dt.datetime = moment("When it was made.")
    updated_on: dt.datetime = moment("When it last changed.")


@strawberry.pydantic.type(description="An option as one prototype has it.")
class VoucherOptionLink(Fields):
    """An option as one prototype has it."""

    id: int = Field(description="Its id.")
    count: int = Field(default=1, description="How many of it are included, or proposed.")
    included: bool = Field(default=True, description="Whether it is included in the prototype's price.")
    option_id: int = Field(description="The option.")
    voucher_prototype_id: int = Field(description="The prototype.")
    option = relation(VoucherOption, by="option_id", description="The option.")
    prototype = relation(
        "schema.catalogue.prototype:VoucherPrototype", by="voucher_prototype_id", description="The prototype."
    )
    partner = of_partner()
