"""The products and delivery modes that a partner's shop offers, with weights, VAT rates and shipping rates."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import OfferedAttribute, OfferedProduct, OfferedValue, OfferedVariant
from schema.core.text import Text
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


@dataclass(frozen=True, slots=True)
class DeliveryWithRates:
    mode: DeliveryModeRow
    rates: tuple[DeliveryRateRow, ...]


async def load_products(
    db: AsyncSession, partner_id: int, product_ids: Sequence[int], *, others: bool
) -> dict[int, ShopProduct]:
    """The requested products by id, in any state; with `others`, the best-ranked active products as well."""
    query = select(ProductRow).where(col(ProductRow.partner_id) == partner_id)
    ranked = (
        query.where(col(ProductRow.is_active))
        .order_by(col(ProductRow.ranking), col(ProductRow.id))
        .limit(MAX_OTHER_PRODUCTS)
    )
    rows = list((await db.exec(query.where(col(ProductRow.id).in_(product_ids)))).all()) if product_ids else []
    if others:
        known = {row.id for row in rows}
        rows += [row for row in (await db.exec(ranked)).all() if row.id not in known]
    ids = [row.id for row in rows]
    variants = (
        await db.exec(
            select(ProductVariantRow)
            .where(col(ProductVariantRow.product_id).in_(ids))
            .order_by(col(ProductVariantRow.ranking), col(ProductVariantRow.id))
        )
    ).all()
    versions: defaultdict[int, list[ProductVariantRow]] = defaultdict(list)
    for variant in variants:
        versions[variant.product_id].append(variant)
    attributes = await _attributes(db, ids)
    return {
        row.id: _shop_product(row, versions[row.id], attributes.get(row.id, ()))
        for row in sorted(rows, key=lambda r: (r.ranking, r.id))
    }


async def _attributes(db: AsyncSession, products: Sequence[int]) -> dict[int, tuple[OfferedAttribute, ...]]:
    rows = (
        await db.exec(
            select(ProductAttributeRow)
            .where(col(ProductAttributeRow.product_id).in_(products))
            .order_by(col(ProductAttributeRow.ranking), col(ProductAttributeRow.id))
        )
    ).all()
    values = (
        await db.exec(
            select(AttributeValueRow)
            .where(col(AttributeValueRow.attribute_id).in_([row.id for row in rows]))
            .order_by(col(AttributeValueRow.ranking), col(AttributeValueRow.id))
        )
    ).all()
    offered: defaultdict[int, list[OfferedValue]] = defaultdict(list)
    for value in values:
        label = value.label if any(value.label.model_dump().values()) else Text(en=value.value)
        offered[value.attribute_id].append(OfferedValue(value.value, label))
    attributes: dict[int, tuple[OfferedAttribute, ...]] = {}
    for row in rows:
        attribute = OfferedAttribute(row.id, row.name, row.is_required, tuple(offered[row.id]))
        attributes[row.product_id] = (*attributes.get(row.product_id, ()), attribute)
    return attributes


def _shop_product(
    row: ProductRow, versions: Sequence[ProductVariantRow], attributes: tuple[OfferedAttribute, ...]
) -> ShopProduct:
    variants = [version for version in versions if version.is_active]
    offered = OfferedProduct(
        id=row.id,
        name=row.name,
        description=row.description,
        picture_url=row.picture_url,
        price=min((v.price_amount for v in variants), default=row.price_amount),
        variants=tuple(OfferedVariant(v.id, v.name, v.price_amount, v.stock) for v in variants),
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
    modes = (
        await db.exec(
            select(DeliveryModeRow)
            .where(col(DeliveryModeRow.partner_id) == partner_id, col(DeliveryModeRow.is_active))
            .order_by(col(DeliveryModeRow.ranking), col(DeliveryModeRow.id))
        )
    ).all()
    rates = (
        await db.exec(
            select(DeliveryRateRow).where(col(DeliveryRateRow.delivery_mode_id).in_([mode.id for mode in modes]))
        )
    ).all()
    return [DeliveryWithRates(mode, tuple(r for r in rates if r.delivery_mode_id == mode.id)) for mode in modes]
