"""The products of a shop."""

from typing import Annotated

from pydantic import Field
from sqlmodel import col, delete, select

from resolvers.core.input_mapping import ById, apply, currency_of, named, owner_among, text_of, values_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from resolvers.media.media import path_of_picture
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Text, closed_set, writable_as
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


@closed_set
class ProductSort(ClosedSet):
    """How to order products."""

    RANKING = "ranking", "By ranking, lowest first."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    PRICE = "price_amount", "The cheapest first."
    PRICE_DESCENDING = "-price_amount", "The dearest first."


@writable_as(Product)
class ProductFilter(OfPartner):
    """Which products."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    is_physical: Annotated[bool | None, Where("is_physical")] = None
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description="Those with these ids.")
    sku: Annotated[str | None, Where("sku")] = Field(default=None, description="With this SKU of its own.")
    source_id: Annotated[str | None, Where("source_id")] = Field(
        default=None, description="With this source id of its own."
    )


products = Listing(
    Product,
    ProductFilter,
    ProductSort,
    Permission.VIEW_CATALOGUE,
    "The products of the shops you see, best ranked first.",
)


_product = ById(ProductRow, "product")
_variant = ById(ProductVariantRow, "variant")
_attribute = ById(ProductAttributeRow, "attribute")


product = Lookup(Product, "id", "product", Permission.VIEW_CATALOGUE, "A product by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_product(call: Call, input: CreateProduct) -> Product:
    """Add a product to a shop."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        named(text_of(input.name))
    with findings.of_one():
        picture = await path_of_picture(call, partner.id, input.picture_url)
    findings.tell()
    kept = {"description": Text(), **values_of(input), "picture_url": picture}
    row = ProductRow(partner_id=partner.id, currency=await currency_of(call, partner), **kept)
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_product)
async def update_product(call: Call, input: UpdateProduct) -> Product:
    """Change a product. Orders keep the name and the price of their day."""
    row = await _product.find(call, input.id, lock=True)
    findings = Findings()
    with call.db.no_autoflush:
        apply(row, input)
        with findings.of_one():
            named(row.name)
        with findings.of_one():
            if input.picture_url is not None:
                row.picture_url = await path_of_picture(call, row.partner_id, row.picture_url)
    findings.tell()
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE)
async def create_product_variant(call: Call, input: CreateProductVariant) -> ProductVariant:
    """Add a version to a product. From then on it is versions that are sold, at their own price and from their own stock."""
    owner = await _product.find(call, input.product_id)
    named(text_of(input.name))
    row = ProductVariantRow(partner_id=owner.partner_id, currency=owner.currency, **values_of(input))
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_variant)
async def update_product_variant(call: Call, input: UpdateProductVariant) -> ProductVariant:
    """Change a version of a product."""
    row = await _variant.find(call, input.id, lock=True)
    apply(row, input)
    named(row.name)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE)
async def create_product_attribute(call: Call, input: CreateProductAttribute) -> ProductAttribute:
    """Add something to choose about a product."""
    owner = await _product.find(call, input.product_id)
    findings = Findings()
    with findings.of_one():
        named(text_of(input.name))
    with findings.of_one():
        _each_once(input.values)
    findings.tell()
    row = ProductAttributeRow(partner_id=owner.partner_id, **values_of(input, skip={"values"}))
    call.db.add(row)
    await call.db.flush()
    await _put_values(call, row, input.values)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_attribute)
async def update_product_attribute(call: Call, input: UpdateProductAttribute) -> ProductAttribute:
    """Change something to choose about a product."""
    row = await _attribute.find(call, input.id, lock=True)
    findings = Findings()
    apply(row, input, skip={"values"})
    with findings.of_one():
        named(row.name)
    with findings.of_one():
        if input.values is not None:
            _each_once(input.values.value)
    findings.tell()
    if input.values is not None:
        await _put_values(call, row, input.values.value)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_attribute)
async def delete_product_attribute(call: Call, input: DeleteProductAttribute) -> ProductAttribute:
    """Stop asking about something. Orders keep what was chosen."""
    row = await _attribute.find(call, input.id, lock=True)
    await call.db.exec(delete(AttributeValueRow).where(col(AttributeValueRow.attribute_id) == row.id))
    await call.db.delete(row)
    await call.db.flush()
    return row


def _each_once(wanted: list[AttributeValueInput]) -> None:
    """Refuse a value that is sent twice, at each place but the first."""
    values = [each.value for each in wanted]
    wrong = [
        Problem(("values", at, "value"), "INVALID", "Send each value once.")
        for at, value in enumerate(values)
        if value in values[:at]
    ]
    if wrong:
        raise InvalidInput(*wrong)


async def _put_values(call: Call, attribute: ProductAttributeRow, wanted: list[AttributeValueInput]) -> None:
    """Make the values of an attribute these, in this order."""
    query = select(AttributeValueRow).where(col(AttributeValueRow.attribute_id) == attribute.id)
    there = {row.value: row for row in (await call.db.exec(query)).all()}
    for position, sent in enumerate(wanted):
        row = there.pop(sent.value, None)
        if row is None:
            label = text_of(sent.label)
            row = AttributeValueRow(
                partner_id=attribute.partner_id, attribute_id=attribute.id, value=sent.value, label=label
            )
            call.db.add(row)
        elif sent.label is not None:
            row.label = row.label.merged(sent.label)
        row.ranking = position + 1
    for gone in there.values():
        await call.db.delete(gone)
    await call.db.flush()
