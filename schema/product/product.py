"""What a partner's shop sells: products, their variants, their attributes."""

import datetime as dt
from decimal import Decimal
from typing import Any

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.derived import derived
from schema.core.ownership import of_partner
from schema.core.resource import Fields, Text, moment, money, relations, text


def vat_rate() -> Any:
    """The VAT contained in a price."""
    return Field(
        sa_type=Numeric(5, 2), default=Decimal("20.00"), description="Per cent of VAT contained in the price: `20.00`."
    )


def own_name(what: str) -> Any:
    """What a partner names a product by, which a cart line may send in place of its id."""
    return Field(default="", max_length=64, description=f"{what}, by which carts may name it too; empty: none.")


@strawberry.pydantic.type(
    description="A version of a product with its own price and stock: a size, a number of persons."
)
class ProductVariant(Fields):
    """A version of a product."""

    id: int = Field(description="Its id, as carts send it.")
    name: Text = text("What customers choose.")
    price = money("price_amount", description="What one costs, VAT included.")
    stock: int | None = Field(default=None, description="How many are left; null: not counted.")
    weight_grams: int = Field(default=0, description="Weight of one, in grams, for delivery costs.")
    is_active: bool = Field(default=True, description="Whether it is sold.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    sku: str = own_name("Its stock keeping unit")
    source_id: str = own_name("Its id in the system that it comes from")
    partner = of_partner()


@strawberry.pydantic.type(description="One value that an attribute can take.")
class AttributeValue(Fields):
    """One value of an attribute."""

    id: int = Field(description="Its id.")
    value: str = Field(max_length=120, description="What carts send.")
    label: Text = text("What customers read.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    partner = of_partner()


@strawberry.pydantic.type(
    description="Something to choose about a product that changes neither price nor stock: an engraving, a ribbon."
)
class ProductAttribute(Fields):
    """Something to choose about a product."""

    id: int = Field(description="Its id, as carts send it.")
    name: Text = text("What customers read.")
    is_required: bool = Field(default=False, description="Whether a value must be chosen.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    values = relations(AttributeValue, by="attribute_id", description="What can be chosen.", order="ranking")
    partner = of_partner()


@strawberry.pydantic.type(description="Something that a partner's shop sells.")
class Product(Fields):
    """Something that a partner's shop sells."""

    id: int = Field(description="Its id, as carts send it.")
    name: Text = text("Its name.")
    description: Text = text("A few lines about it.")
    price = money("price_amount", description="What one costs, VAT included; a variant has its own price.")
    vat_rate: Decimal = vat_rate()
    stock: int | None = Field(
        default=None, description="How many are left; null: not counted. A product with variants counts those."
    )
    weight_grams: int = Field(default=0, description="Weight of one, in grams, for delivery costs.")
    is_physical: bool = Field(
        default=True, description="Whether it must be collected or sent; others can go by e-mail."
    )
    is_active: bool = Field(default=True, description="Whether it is sold.")
    ranking: int = Field(default=1, description="Its place in the shop, lowest first.")
    sku: str = own_name("Its stock keeping unit")
    source_id: str = own_name("Its id in the system that it comes from")
    picture_address = derived(
        str, ("picture_url",), "The address of its picture, on this service; empty: none.", name="pictureUrl"
    )
    created_on: dt.datetime = moment("When it was made.")
    updated_on: dt.datetime = moment("When it last changed.")
    variants = relations(ProductVariant, by="product_id", description="Its versions.", order="ranking")
    attributes = relations(
        ProductAttribute, by="product_id", description="What can be chosen about it.", order="ranking"
    )
    partner = of_partner()
