"""What managing a shop takes: products and what belongs to them, delivery modes."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.ownership import FOR_WHOM
from schema.core.resource import Fields, TextInput, writable_as
from schema.core.text_input import in_one_line_each
from schema.delivery import DeliveryKind, DeliveryMode, DeliveryRate
from schema.media import MediaSize
from schema.product.product import AttributeValue, Product, ProductAttribute, ProductVariant
from schema.validation.characters import up_to
from schema.validation.contact import CountryCode
from schema.validation.numbers import Amount, MoneyAmount

VatRate = Annotated[Decimal, Amount(ge=Decimal(0), le=Decimal(100))]
Name = Annotated[TextInput, in_one_line_each]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
_SIZES = "|".join(MediaSize)
PicturePath = Annotated[
    str,
    Field(
        max_length=300,
        pattern=rf"^((https?://[^/?#\s]+)?/media/([A-Za-z0-9._-]+|[0-9a-f-]{{36}}/({_SIZES})\.webp))?$",
    ),
]
"""Where a picture is found here, with scheme and host or without: `/media/<uuid>/card.webp`."""
PICTURE = (
    "Where one of the partner's own pictures is found (`Media.cardUrl`), with scheme and host or without; empty: none."
)
Reference = Annotated[str, up_to(64)]
"""A name of the shop's own for what it sells; empty: none."""
STANDARD_VAT = Decimal("20.00")
PRICE = "What one costs, VAT included, in the partner's currency."
FREE_ABOVE = "Free from this value of products on, in the partner's currency; null: never."


@writable_as(Product)
class CreateProduct(Fields):
    """A product to sell."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    name: Name
    description: TextInput | None = None
    price: MoneyAmount = Field(description=PRICE)
    vat_rate: VatRate = STANDARD_VAT
    stock: Count | None = None
    weight_grams: Count = 0
    is_physical: bool = True
    is_active: bool = True
    ranking: Count = 1
    sku: Reference = ""
    source_id: Reference = ""
    picture_url: PicturePath = Field(default="", description=PICTURE)


@writable_as(Product)
class UpdateProduct(Fields):
    """What is left out stays as it is; null clears."""

    id: int
    name: strawberry.Maybe[Name]
    description: strawberry.Maybe[TextInput]
    price: strawberry.Maybe[MoneyAmount] = Field(description=PRICE)
    vat_rate: strawberry.Maybe[VatRate]
    stock: strawberry.Maybe[Count | None]
    weight_grams: strawberry.Maybe[Count]
    is_physical: strawberry.Maybe[bool]
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Count]
    sku: strawberry.Maybe[Reference]
    source_id: strawberry.Maybe[Reference]
    picture_url: strawberry.Maybe[PicturePath] = Field(description=PICTURE)


@writable_as(ProductVariant)
class CreateProductVariant(Fields):
    """A version of a product, with its own price and stock."""

    product_id: int = Field(description="The product it belongs to.")
    name: Name
    price: MoneyAmount = Field(description=PRICE)
    stock: Count | None = None
    weight_grams: Count = 0
    is_active: bool = True
    ranking: Count = 1
    sku: Reference = ""
    source_id: Reference = ""


@writable_as(ProductVariant)
class UpdateProductVariant(Fields):
    """What is left out stays as it is; null clears."""

    id: int
    name: strawberry.Maybe[Name]
    price: strawberry.Maybe[MoneyAmount] = Field(description=PRICE)
    stock: strawberry.Maybe[Count | None]
    weight_grams: strawberry.Maybe[Count]
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Count]
    sku: strawberry.Maybe[Reference]
    source_id: strawberry.Maybe[Reference]


@writable_as(AttributeValue)
class AttributeValueInput(Fields):
    """One value that can be chosen."""

    value: Annotated[str, up_to(120, least=1)]
    label: TextInput | None = None


@writable_as(ProductAttribute)
class CreateProductAttribute(Fields):
    """Something to choose about a product, and the values there are, in their order."""

    product_id: int = Field(description="The product it belongs to.")
    name: Name
    values: list[AttributeValueInput] = Field(min_length=1, max_length=200)
    is_required: bool = False
    ranking: Count = 1


@writable_as(ProductAttribute)
class UpdateProductAttribute(Fields):
    """What is left out stays as it is. Values, where given, replace those there are; one of the same value keeps its id."""

    id: int
    name: strawberry.Maybe[Name]
    values: strawberry.Maybe[Annotated[list[AttributeValueInput], Field(min_length=1, max_length=200)]]
    is_required: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Count]


@writable_as(ProductAttribute)
class DeleteProductAttribute(Fields):
    """An attribute that is no longer asked about."""

    id: int


@writable_as(DeliveryRate)
class DeliveryRateInput(Fields):
    """What delivery costs to a country (empty: every country without rates of its own), up to a weight (null: any)."""

    country: CountryCode = ""
    max_weight_grams: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    price: MoneyAmount = Field(description="What it costs, VAT included, in the partner's currency.")


@writable_as(DeliveryMode)
class CreateDeliveryMode(Fields):
    """A way to deliver, with what it costs."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    kind: DeliveryKind
    name: Name
    description: TextInput | None = None
    rates: list[DeliveryRateInput] = Field(default_factory=list, max_length=1000)
    free_above: MoneyAmount | None = Field(default=None, description=FREE_ABOVE)
    vat_rate: VatRate = STANDARD_VAT
    is_active: bool = True
    ranking: Count = 1


@writable_as(DeliveryMode)
class UpdateDeliveryMode(Fields):
    """What is left out stays as it is; null clears. Rates, where given, replace those there are."""

    id: int
    name: strawberry.Maybe[Name]
    description: strawberry.Maybe[TextInput]
    rates: strawberry.Maybe[Annotated[list[DeliveryRateInput], Field(max_length=1000)]]
    free_above: strawberry.Maybe[MoneyAmount | None] = Field(description=FREE_ABOVE)
    vat_rate: strawberry.Maybe[VatRate]
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Count]
