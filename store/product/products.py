"""The tables of products, variants and attributes."""

from functools import partial

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken, OutOfStock
from schema.product.product import AttributeValue, Product, ProductAttribute, ProductVariant
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, UpdatedOn

IDENTIFIER_LABELS = {"sku": "SKU", "source_id": "source id"}
"""Columns that identify products and variants besides their ids -> label in error messages."""


def unique_identifier_indexes(table: str) -> list[Index]:
    """Unique indexes of non-empty identifiers within a partner."""
    return [
        Index(f"{table}_{name}_key", "partner_id", name, unique=True, postgresql_where=text(f"{name} <> ''"))
        for name in IDENTIFIER_LABELS
    ]


class ProductRow(PartnerIndexed, InCurrency, CreatedOn, UpdatedOn, Product, table=True):
    """A product. `stock` excludes pieces reserved by running payments."""

    __tablename__ = "product"
    __table_args__ = (
        CheckConstraint("stock >= 0", name="stock_never_below_zero"),
        CheckConstraint("price_amount >= 0", name="price_not_negative"),
        Index("product_ranking_list_idx", "partner_id", "ranking", "id"),
        Index("product_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("product_price_amount_list_idx", "partner_id", "price_amount", "id"),
        *unique_identifier_indexes("product"),
    )
    picture_url: str = Field(default="", max_length=300)
    """Path of the picture on this service; empty if none."""


class ProductVariantRow(PartnerIndexed, InCurrency, ProductVariant, table=True):
    """A variant, with a stock of its own."""

    __tablename__ = "product_variant"
    __table_args__ = (
        CheckConstraint("stock >= 0", name="stock_never_below_zero"),
        CheckConstraint("price_amount >= 0", name="price_not_negative"),
        *unique_identifier_indexes("product_variant"),
    )
    product_id: int = Field(foreign_key="product.id", index=True)


class ProductAttributeRow(PartnerIndexed, ProductAttribute, table=True):
    __tablename__ = "product_attribute"
    product_id: int = Field(foreign_key="product.id", index=True)


class AttributeValueRow(PartnerIndexed, AttributeValue, table=True):
    __tablename__ = "attribute_value"
    __table_args__ = (UniqueConstraint("attribute_id", "value", name="attribute_value_value_key"),)
    attribute_id: int = Field(foreign_key="product_attribute.id", index=True)


for _table in ("product", "product_variant"):
    for _name, _what in IDENTIFIER_LABELS.items():
        CONSTRAINT_ERRORS[f"{_table}_{_name}_key"] = partial(AlreadyTaken, _name, what=_what)
CONSTRAINT_ERRORS["attribute_value_value_key"] = lambda: AlreadyTaken("value", what="value")
CONSTRAINT_ERRORS["product_stock_never_below_zero"] = OutOfStock
CONSTRAINT_ERRORS["product_variant_stock_never_below_zero"] = OutOfStock
