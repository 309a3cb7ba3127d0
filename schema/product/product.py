"""Products of a partner's shop, with their variants and attributes."""

import datetime as dt
from decimal import Decimal
from typing import Any

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.columns import datetime_column, id_column
from schema.core.derived import derived
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, relations
from schema.core.text import Text, translated_text_column


def vat_rate_column() -> Any:
    """The column of the VAT rate included in a price."""
    return Field(
        sa_type=Numeric(5, 2),
        default=Decimal("20.00"),
        description="VAT rate in percent, included in the price: `20.00`.",
    )


def reference_column(what: str) -> Any:
    """The column of a partner's own reference to a product, which a cart line may send instead of the id."""
    return Field(
        default="", max_length=64, description=f"{what}, which carts may send instead of the id; empty if none."
    )


@strawberry.pydantic.type(
    description="A variant of a product with its own price and stock, such as a size or a number of persons."
)
class ProductVariant(SchemaModel):
    id: int = id_column("The variant's id, as sent in carts.")
    name: Text = translated_text_column("The name that customers choose.")
    price_amount: Decimal = money_column()
    price = money("price_amount", description="The unit price, VAT included.")
    stock: int | None = Field(default=None, description="The stock left; null if unlimited.")
    weight_grams: int = Field(default=0, description="The unit weight in grams, for delivery prices.")
    is_active: bool = Field(default=True, description="Whether it is on sale.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    sku: str = reference_column("Its stock keeping unit (SKU)")
    source_id: str = reference_column("Its id in the system it comes from")
    partner = partner_relation()


@strawberry.pydantic.type(description="A value of an attribute.")
class AttributeValue(SchemaModel):
    id: int = id_column("The value's id.")
    value: str = Field(max_length=120, description="The value, as sent in carts.")
    label: Text = translated_text_column("The label that customers see.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    partner = partner_relation()


@strawberry.pydantic.type(
    description="An attribute of a product that the customer chooses and that changes neither price nor "
    "stock, such as an engraving."
)
class ProductAttribute(SchemaModel):
    id: int = id_column("The attribute's id, as sent in carts.")
    name: Text = translated_text_column("The name that customers see.")
    is_required: bool = Field(default=False, description="Whether a value must be chosen.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    values = relations(AttributeValue, by="attribute_id", description="The values to choose from.", order="ranking")
    partner = partner_relation()


@strawberry.pydantic.type(description="A product of a partner's shop.")
class Product(SchemaModel):
    id: int = id_column("The product's id, as sent in carts.")
    name: Text = translated_text_column("The product's name.")
    description: Text = translated_text_column("A short description.")
    price_amount: Decimal = money_column()
    price = money("price_amount", description="The unit price, VAT included; variants have their own prices.")
    vat_rate: Decimal = vat_rate_column()
    stock: int | None = Field(
        default=None, description="The stock left; null if unlimited. Variants have their own stock."
    )
    weight_grams: int = Field(default=0, description="The unit weight in grams, for delivery prices.")
    is_physical: bool = Field(
        default=True, description="Whether it must be collected or sent; other products can be delivered by e-mail."
    )
    is_active: bool = Field(default=True, description="Whether it is on sale.")
    ranking: int = Field(default=1, description="Its position in the shop; lower values come first.")
    sku: str = reference_column("Its stock keeping unit (SKU)")
    source_id: str = reference_column("Its id in the system it comes from")
    picture_address = derived(
        str, ("picture_url",), "The URL of its picture, on this service; empty if none.", name="pictureUrl"
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")
    variants = relations(ProductVariant, by="product_id", description="The product's variants.", order="ranking")
    attributes = relations(ProductAttribute, by="product_id", description="The product's attributes.", order="ranking")
    partner = partner_relation()
