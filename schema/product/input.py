"""Inputs that create and update products, variants and attributes."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import unlimited_line_per_language
from schema.media import MediaSize
from schema.product.product import AttributeValue, Product, ProductAttribute, ProductVariant
from schema.validation.characters import line_up_to
from schema.validation.numbers import AmountRule, MoneyAmount

VatRate = Annotated[Decimal, AmountRule(ge=Decimal(0), le=Decimal(100))]
Name = Annotated[TextInput, unlimited_line_per_language]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
_SIZES = "|".join(MediaSize)
PicturePath = Annotated[
    str,
    Field(
        max_length=300,
        pattern=rf"^((https?://[^/?#\s]+)?/media/([A-Za-z0-9._-]+|[0-9a-f-]{{36}}/({_SIZES})\.webp))?$",
    ),
]
"""The URL of a picture on this service, with or without scheme and host: `/media/<uuid>/card.webp`."""
PICTURE_DESCRIPTION = (
    "The URL of one of the partner's own pictures (`Media.cardUrl`), with or without scheme and host; empty for none."
)
ProductReference = Annotated[str, line_up_to(64)]
"""The shop's own reference; empty for none."""
STANDARD_VAT = Decimal("20.00")
PRICE_DESCRIPTION = "The unit price, VAT included, in the partner's currency."


@graphql_input_for(Product)
class CreateProduct(SchemaModel):
    """Create a product."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    name: Name
    description: TextInput | None = None
    price: MoneyAmount = Field(description=PRICE_DESCRIPTION)
    vat_rate: VatRate = STANDARD_VAT
    stock: Count | None = None
    weight_grams: Count = 0
    is_physical: bool = True
    is_active: bool = True
    ranking: Count = 1
    sku: ProductReference = ""
    source_id: ProductReference = ""
    picture_url: PicturePath = Field(default="", description=PICTURE_DESCRIPTION)


@update_input_of(CreateProduct, without={"partner_uuid"})
class UpdateProduct(SchemaModel):
    """Update a product. Omitted fields stay unchanged; null clears."""

    id: int
    picture_url: strawberry.Maybe[PicturePath] = Field(description=PICTURE_DESCRIPTION)


@graphql_input_for(ProductVariant)
class CreateProductVariant(SchemaModel):
    """Create a variant of a product, with its own price and stock."""

    product_id: int = Field(description="The id of the product it belongs to.")
    name: Name
    price: MoneyAmount = Field(description=PRICE_DESCRIPTION)
    stock: Count | None = None
    weight_grams: Count = 0
    is_active: bool = True
    ranking: Count = 1
    sku: ProductReference = ""
    source_id: ProductReference = ""


@update_input_of(CreateProductVariant, without={"product_id"})
class UpdateProductVariant(SchemaModel):
    """Update a variant. Omitted fields stay unchanged; null clears."""

    id: int


@graphql_input_for(AttributeValue)
class AttributeValueInput(SchemaModel):
    """A value to choose from."""

    value: Annotated[str, line_up_to(120, min_length=1)]
    label: TextInput | None = None


@graphql_input_for(ProductAttribute)
class CreateProductAttribute(SchemaModel):
    """Create an attribute of a product with its values, in order."""

    product_id: int = Field(description="The id of the product it belongs to.")
    name: Name
    values: list[AttributeValueInput] = Field(min_length=1, max_length=200)
    is_required: bool = False
    ranking: Count = 1


@update_input_of(CreateProductAttribute, without={"product_id"})
class UpdateProductAttribute(SchemaModel):
    """Update an attribute. Omitted fields stay unchanged. Values, if sent, replace the current ones; equal values
    keep their ids.
    """

    id: int
    values: strawberry.Maybe[Annotated[list[AttributeValueInput], Field(min_length=1, max_length=200)]]


@graphql_input_for(ProductAttribute)
class DeleteProductAttribute(SchemaModel):
    """Delete an attribute of a product."""

    id: int
