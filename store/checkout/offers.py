"""The products and delivery modes that a partner's shop offers, with weights, VAT rates and shipping rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import OfferedAttribute, OfferedProduct, OfferedValue, OfferedVariant
from schema.core.text import Text
from schema.delivery.delivery import DeliveryMode, DeliveryRate
from schema.product.product import AttributeValue, Product, ProductAttribute, ProductVariant
from store.database.loaders import is_any_of
from store.database.projection_fields import RelatedRows
from store.database.related_rows import related_column, related_rows
from store.delivery import DeliveryModeRow, DeliveryRateRow
from store.product.products import AttributeValueRow, ProductAttributeRow, ProductRow, ProductVariantRow

MAX_OTHER_PRODUCTS = 60
"""Maximum number of products offered besides those of the cart, by ranking."""


@dataclass(frozen=True, slots=True)
class ShopProduct:
    """A product as offered to customers, with internal data for pricing."""

    offered: OfferedProduct
    is_active: bool
    vat_rate: Decimal
    weight: int
    variant_weights: dict[int, int]


class ShopVariant(NamedTuple):
    """What the shop needs of a variant, by the names of its columns."""

    id: int
    is_active: bool
    name: dict[str, str]
    price_amount: Decimal
    stock: int | None
    weight_grams: int


class ShippingRate(NamedTuple):
    """What the shop needs of a rate, by the names of its columns."""

    country: str
    max_weight_grams: int | None
    price_amount: Decimal


@dataclass(frozen=True, slots=True)
class DeliveryWithRates:
    mode: DeliveryModeRow
    rates: tuple[ShippingRate, ...]


_TABLES: dict[Any, Any] = {
    AttributeValue: AttributeValueRow,
    DeliveryRate: DeliveryRateRow,
    ProductAttribute: ProductAttributeRow,
    ProductVariant: ProductVariantRow,
}


def _related(row: Any, *of: RelatedRows) -> list[ColumnElement[Any]]:
    return [related_column(each, row.__table__, _TABLES.__getitem__) for each in of]


_VALUES = related_rows(ProductAttribute, "values", ("value", "label"))
_VARIANTS, _ATTRIBUTES = _related(
    ProductRow,
    related_rows(Product, "variants", ShopVariant._fields),
    related_rows(Product, "attributes", ("name", "is_required"), _VALUES),
)
(_RATES,) = _related(DeliveryModeRow, related_rows(DeliveryMode, "rates", ShippingRate._fields))


async def load_products(
    db: AsyncSession, partner_id: int, product_ids: Sequence[int], *, others: bool
) -> dict[int, ShopProduct]:
    """The requested products by id, in any state; with `others`, the best-ranked active products as well."""
    own = select(ProductRow, _VARIANTS, _ATTRIBUTES).where(col(ProductRow.partner_id) == partner_id)
    wanted = is_any_of(col(ProductRow.id), product_ids)
    if others:
        ranked = select(ProductRow.id).where(col(ProductRow.partner_id) == partner_id, col(ProductRow.is_active))
        ranked = ranked.order_by(col(ProductRow.ranking), col(ProductRow.id)).limit(MAX_OTHER_PRODUCTS)
        wanted = or_(wanted, col(ProductRow.id).in_(ranked))
    elif not product_ids:
        return {}
    rows = (await db.exec(own.where(wanted).order_by(col(ProductRow.ranking), col(ProductRow.id)))).all()
    return {
        row.id: _shop_product(row, [ShopVariant(*variant[2:]) for variant in variants], _attributes(attributes))
        for row, variants, attributes in rows
    }


def _attributes(rows: Sequence[Any]) -> tuple[OfferedAttribute, ...]:
    return tuple(
        OfferedAttribute(id, Text(**name), required, tuple(_value(value, Text(**label)) for *_, value, label in values))
        for _, id, name, required, values in rows
    )


def _value(value: str, label: Text) -> OfferedValue:
    return OfferedValue(value, label if any(label.model_dump().values()) else Text(en=value))


def _shop_product(
    row: ProductRow, versions: Sequence[ShopVariant], attributes: tuple[OfferedAttribute, ...]
) -> ShopProduct:
    variants = [version for version in versions if version.is_active]
    offered = OfferedProduct(
        id=row.id,
        name=row.name,
        description=row.description,
        picture_url=row.picture_url,
        price=min((v.price_amount for v in variants), default=row.price_amount),
        variants=tuple(OfferedVariant(v.id, Text(**v.name), v.price_amount, v.stock) for v in variants),
        attributes=attributes,
        available=row.stock if not variants else _total_stock([v.stock for v in variants]),
        is_physical=row.is_physical,
    )
    weights = {v.id: v.weight_grams for v in variants}
    # A product that has variants is sold as one of its active variants only.
    is_active = row.is_active and (not versions or bool(variants))
    return ShopProduct(offered, is_active, row.vat_rate, row.weight_grams, weights)


def _total_stock(stocks: Sequence[int | None]) -> int | None:
    counted = [s for s in stocks if s is not None]
    return sum(counted) if len(counted) == len(stocks) else None


async def load_deliveries(db: AsyncSession, partner_id: int) -> list[DeliveryWithRates]:
    """The active delivery modes with their rates, by ranking."""
    query = (
        select(DeliveryModeRow, _RATES)
        .where(col(DeliveryModeRow.partner_id) == partner_id, col(DeliveryModeRow.is_active))
        .order_by(col(DeliveryModeRow.ranking), col(DeliveryModeRow.id))
    )
    return [
        DeliveryWithRates(mode, tuple(ShippingRate(*rate[2:]) for rate in rates))
        for mode, rates in (await db.exec(query)).all()
    ]
