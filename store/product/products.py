"""Products, variants and attributes, as rows."""

import datetime as dt
from decimal import Decimal
from functools import partial

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field

from schema.core.errors import CONSTRAINTS, AlreadyTaken, OutOfStock
from schema.core.resource import amount, moment
from schema.product.product import AttributeValue, Product, ProductAttribute, ProductVariant
from store.core.clock import now

NAMES = {"sku": "SKU", "source_id": "source id"}
"""What a shop may name its products and variants by, besides their ids."""


def given_once(table: str) -> list[Index]:
    """Each of a partner's names, where there is one, names one row."""
    return [
        Index(f"{table}_{name}_key", "partner_id", name, unique=True, postgresql_where=text(f"{name} <> ''"))
        for name in NAMES
    ]


class ProductRow(Product, table=True):
    """A product. `stock` is what is left to sell: pieces held by a running payment are already out of it."""

    __tablename__ = "product"
    __table_args__ = (
        CheckConstraint("stock >= 0", name="stock_never_below_zero"),
        CheckConstraint("price_amount >= 0", name="price_not_negative"),
        Index("product_ranking_list_idx", "partner_id", "ranking", "id"),
        Index("product_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("product_price_amount_list_idx", "partner_id", "price_amount", "id"),
        *given_once("product"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    price_amount: Decimal = amount()
    currency: str = Field(default="EUR", max_length=3)
    picture_url: str = Field(default="", max_length=300)
    """The path of its picture on this service; empty: none."""
    created_on: dt.datetime = moment("When it was made.", default_factory=now)
    updated_on: dt.datetime = moment("When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now})


class ProductVariantRow(ProductVariant, table=True):
    """A variant; its stock is counted like a product's."""

    __tablename__ = "product_variant"
    __table_args__ = (
        CheckConstraint("stock >= 0", name="stock_never_below_zero"),
        CheckConstraint("price_amount >= 0", name="price_not_negative"),
        *given_once("product_variant"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    product_id: int = Field(foreign_key="product.id", index=True)
    price_amount: Decimal = amount()
    currency: str = Field(default="EUR", max_length=3)


class ProductAttributeRow(ProductAttribute, table=True):
    """An attribute."""

    __tablename__ = "product_attribute"
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    product_id: int = Field(foreign_key="product.id", index=True)


class AttributeValueRow(AttributeValue, table=True):
    """A value of an attribute."""

    __tablename__ = "attribute_value"
    __table_args__ = (UniqueConstraint("attribute_id", "value", name="attribute_value_value_key"),)
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    attribute_id: int = Field(foreign_key="product_attribute.id", index=True)


for _table in ("product", "product_variant"):
    for _name, _what in NAMES.items():
        CONSTRAINTS[f"{_table}_{_name}_key"] = partial(AlreadyTaken, _name, what=_what)
CONSTRAINTS["attribute_value_value_key"] = lambda: AlreadyTaken("value", what="value")
CONSTRAINTS["product_stock_never_below_zero"] = OutOfStock
CONSTRAINTS["product_variant_stock_never_below_zero"] = OutOfStock
