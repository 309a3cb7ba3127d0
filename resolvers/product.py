"""Products of a shop, with their variants and attributes."""

from typing import Annotated

from pydantic import Field
from sqlmodel import col, delete, select

from resolvers.core.input_mapping import ById, apply, collect_owner, currency_of, require_name, text_of, values_of
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.media.media import path_of_picture
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.text import Text
from schema.product.input import (
    AttributeValueInput,
    CreateProduct,
    CreateProductAttribute,
    CreateProductVariant,
    DeleteProductAttribute,
    UpdateProduct,
    UpdateProductAttribute,
    UpdateProductVariant,
)
from schema.product.product import Product, ProductAttribute, ProductVariant
from store.product.products import AttributeValueRow, ProductAttributeRow, ProductRow, ProductVariantRow


@graphql_enum
class ProductSort(DescribedEnum):
    """Sort order of products."""

    RANKING = "ranking", "By ranking, lowest first."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    PRICE = "price_amount", "Lowest price first."
    PRICE_DESCENDING = "-price_amount", "Highest price first."


@graphql_input_for(Product)
class ProductFilter(OfPartner):
    """Filter for products."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    is_physical: Annotated[bool | None, Where("is_physical")] = None
    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only products whose name contains this, in any language, ignoring case and accents.",
    )
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(
        default=None, description="Only products with one of these ids."
    )
    sku: Annotated[str | None, Where("sku")] = Field(
        default=None, description="Only the product with this SKU. SKUs of variants are not searched."
    )
    source_id: Annotated[str | None, Where("source_id")] = Field(
        default=None, description="Only the product with this source id. Source ids of variants are not searched."
    )


products = Listing(
    Product,
    ProductFilter,
    ProductSort,
    Permission.VIEW_CATALOGUE,
    "The products visible to you, by ranking, lowest first.",
)


_product = ById(ProductRow, "product")
_variant = ById(ProductVariantRow, "variant")
_attribute = ById(ProductAttributeRow, "attribute")


product = Lookup(Product, "id", "product", Permission.VIEW_CATALOGUE, "A product by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_product(call: Call, input: CreateProduct) -> Product:
    """Create a product."""
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        picture = await path_of_picture(call, partner.id, input.picture_url)
    findings.raise_problems()
    values = {"description": Text(), **values_of(input), "picture_url": picture}
    row = ProductRow(partner_id=partner.id, currency=await currency_of(call, partner), **values)
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_product)
async def update_product(call: Call, input: UpdateProduct) -> Product:
    """Update a product. Existing orders keep the name and the price at the time of the order."""
    row = await _product.find(call, input.id, lock=True)
    findings = ProblemCollector()
    with call.db.no_autoflush:
        apply(row, input)
        with findings.collect():
            require_name(row.name)
        with findings.collect():
            if input.picture_url is not None:
                row.picture_url = await path_of_picture(call, row.partner_id, row.picture_url)
    findings.raise_problems()
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE)
async def create_product_variant(call: Call, input: CreateProductVariant) -> ProductVariant:
    """Create a variant of a product. A product with variants is sold only as its variants, each with its own price and
    stock.
    """
    owner = await _product.find(call, input.product_id)
    require_name(text_of(input.name))
    row = ProductVariantRow(partner_id=owner.partner_id, currency=owner.currency, **values_of(input))
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_variant)
async def update_product_variant(call: Call, input: UpdateProductVariant) -> ProductVariant:
    """Update a variant of a product."""
    row = await _variant.find(call, input.id, lock=True)
    apply(row, input)
    require_name(row.name)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE)
async def create_product_attribute(call: Call, input: CreateProductAttribute) -> ProductAttribute:
    """Create a product attribute: a choice that the customer makes, with its values."""
    owner = await _product.find(call, input.product_id)
    findings = ProblemCollector()
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        _check_unique(input.values)
    findings.raise_problems()
    row = ProductAttributeRow(partner_id=owner.partner_id, **values_of(input, skip={"values"}))
    call.db.add(row)
    await call.db.flush()
    await _put_values(call, row, input.values)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_attribute)
async def update_product_attribute(call: Call, input: UpdateProductAttribute) -> ProductAttribute:
    """Update a product attribute. If `values` is sent, it replaces all values."""
    row = await _attribute.find(call, input.id, lock=True)
    findings = ProblemCollector()
    apply(row, input, skip={"values"})
    with findings.collect():
        require_name(row.name)
    with findings.collect():
        if input.values is not None:
            _check_unique(input.values.value)
    findings.raise_problems()
    if input.values is not None:
        await _put_values(call, row, input.values.value)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_attribute)
async def delete_product_attribute(call: Call, input: DeleteProductAttribute) -> ProductAttribute:
    """Delete a product attribute. Existing orders keep the chosen values."""
    row = await _attribute.find(call, input.id, lock=True)
    await call.db.exec(delete(AttributeValueRow).where(col(AttributeValueRow.attribute_id) == row.id))
    await call.db.delete(row)
    await call.db.flush()
    return row


def _check_unique(requested: list[AttributeValueInput]) -> None:
    """Raise InvalidInput at each repeated value."""
    values = [each.value for each in requested]
    wrong = [
        Problem(("values", at, "value"), "INVALID", "Send each value once.")
        for at, value in enumerate(values)
        if value in values[:at]
    ]
    if wrong:
        raise InvalidInput(*wrong)


async def _put_values(call: Call, attribute: ProductAttributeRow, values: list[AttributeValueInput]) -> None:
    """Replace the values of an attribute; their order becomes their ranking."""
    query = select(AttributeValueRow).where(col(AttributeValueRow.attribute_id) == attribute.id)
    there = {row.value: row for row in (await call.db.exec(query)).all()}
    for position, value in enumerate(values):
        row = there.pop(value.value, None)
        if row is None:
            label = text_of(value.label)
            row = AttributeValueRow(
                partner_id=attribute.partner_id, attribute_id=attribute.id, value=value.value, label=label
            )
            call.db.add(row)
        elif value.label is not None:
            row.label = row.label.merge(value.label)
        row.ranking = position + 1
    for gone in there.values():
        await call.db.delete(gone)
    await call.db.flush()
