"""Voucher options, their categories and their links to prototypes."""

import datetime as dt
from decimal import Decimal

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField
from sqlmodel import Field

from schema.core.columns import datetime_column, id_column
from schema.core.json_lists import json_list_column
from schema.core.money import Money, money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, relation, relations
from schema.core.text import Text, translated_text_column


@strawberry.pydantic.type(description="A group of options, with the minimum and maximum that a buyer chooses from it.")
class VoucherOptionCategory(SchemaModel):
    id: int = id_column("The category's id.")
    name: Text = translated_text_column("The name that customers see.")
    description: Text = translated_text_column("A short description.")
    is_active: bool = Field(default=True, description="Whether its options are on sale.")
    ranking: int = Field(default=1, description="Its position in the checkout; lower values come first.")
    min_number_options: int | None = Field(
        default=None, description="The minimum number of options to choose; null if none is required."
    )
    max_number_options: int | None = Field(
        default=None, description="The maximum number of options to choose; null if unlimited."
    )
    partner = partner_relation()
    created_on: dt.datetime = datetime_column("When it was created.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")


@strawberry.pydantic.type(description="A service that is part of an option, with its cost for the seller.")
class OptionService(BaseModel):
    cost: Money = PydanticField(description="The cost, VAT excluded.")
    buying_vat: Decimal = PydanticField(description="VAT rate in percent, on the cost.")
    selling_vat: Decimal = PydanticField(description="VAT rate in percent, included in the price.")
    price: Money = PydanticField(description="The price, VAT included.")


@strawberry.pydantic.type(description="An option that a buyer can add to a voucher.")
class VoucherOption(SchemaModel):
    id: int = id_column("The option's id.")
    name: Text = translated_text_column("The name that customers see.")
    description: Text = translated_text_column("A short description.")
    selling_price_amount: Decimal = money_column()
    selling_price = money("selling_price_amount", description="The unit price, VAT included.")
    is_active: bool = Field(default=True, description="Whether it is on sale.")
    countable: bool = Field(default=False, description="Whether it can be chosen more than once.")
    is_global: bool = Field(default=False, description="Whether it is available for every prototype of its partner.")
    ranking: int = Field(default=1, description="Its position in the checkout; lower values come first.")
    source_id: str = Field(default="", max_length=80, description="Its id in the partner's own system; empty if none.")
    has_been_ordered: bool = Field(default=False, description="Whether a voucher was sold with it.")
    services: list[OptionService] = json_list_column(OptionService, "The services it consists of.")
    category_id: int | None = Field(
        default=None,
        foreign_key="voucher_option_category.id",
        index=True,
        description="The id of its category; null if none.",
    )
    category = relation(
        VoucherOptionCategory, by="category_id", description="Its category; null if none.", nullable=True
    )
    partner = partner_relation()
    prototype_links = relations(
        "schema.catalogue.option:VoucherOptionLink",
        by="option_id",
        description="Its links to prototypes.",
        order="voucher_prototype_id",
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")


@strawberry.pydantic.type(description="The link between an option and a prototype.")
class VoucherOptionLink(SchemaModel):
    id: int = id_column("The link's id.")
    count: int = Field(default=1, description="The quantity that is included or suggested.")
    included: bool = Field(default=True, description="Whether it is included in the prototype's price.")
    option_id: int = Field(foreign_key="voucher_option.id", index=True, description="The option's id.")
    voucher_prototype_id: int = Field(foreign_key="voucher_prototype.id", description="The prototype's id.")
    option = relation(VoucherOption, by="option_id", description="The option.")
    prototype = relation(
        "schema.catalogue.prototype:VoucherPrototype", by="voucher_prototype_id", description="The prototype."
    )
    partner = partner_relation()
