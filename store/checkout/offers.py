"""The products and delivery modes that a partner's shop offers, with weights, VAT rates and shipping rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, bindparam, literal_column, or_, select

from schema.checkout.checkout import OfferedAttribute, OfferedProduct, OfferedValue, OfferedVariant
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind, DeliveryMode, DeliveryRate
from schema.product.product import AttributeValue, Product, ProductAttribute, ProductVariant
from store.database.loaders import column, is_any_of
from store.database.projection_fields import RelatedRows
from store.database.related_rows import related_column, related_rows
from store.database.statement_cache import Statement
from store.database.transaction_reader import DatabaseReader
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
class ShopDelivery:
    """A delivery mode as offered to customers, with internal data for pricing."""

    id: int
    kind: DeliveryKind
    name: Text
    description: Text
    vat_rate: Decimal
    free_above: Decimal | None
    rates: tuple["ShippingRate", ...]


class ShippingRate(NamedTuple):
    """What the shop needs of a rate, by the names of its columns."""

    country: str
    max_weight_grams: int | None
    price_amount: Decimal


class _ProductColumns(NamedTuple):
    """What the shop needs of a product."""

    id: int
    name: Mapping[str, str]
    description: Mapping[str, str]
    picture_url: str
    price_amount: Decimal
    stock: int | None
    is_physical: bool
    is_active: bool
    vat_rate: Decimal
    weight_grams: int


class _VariantColumns(NamedTuple):
    """What the shop needs of a variant."""

    id: int
    is_active: bool
    name: Mapping[str, str]
    price_amount: Decimal
    stock: int | None
    weight_grams: int


class _DeliveryColumns(NamedTuple):
    """What the shop needs of a delivery mode."""

    id: int
    kind: str
    name: Mapping[str, str]
    description: Mapping[str, str]
    vat_rate: Decimal
    free_above_amount: Decimal | None


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
    related_rows(Product, "variants", _VariantColumns._fields),
    related_rows(Product, "attributes", ("name", "is_required"), _VALUES),
)
(_RATES,) = _related(DeliveryModeRow, related_rows(DeliveryMode, "rates", ShippingRate._fields))


async def load_products(
    db: DatabaseReader, partner_id: int, product_ids: Sequence[int], *, others: bool
) -> dict[int, ShopProduct]:
    """The requested products by id, in any state; with `others`, the best-ranked active products as well."""
    if not product_ids and not others:
        return {}
    values = {"partner_id": partner_id, "product_ids": product_ids}
    rows = await db.statements.rows(("products of a shop", others), partial(_products_statement, others=others), values)
    return {
        columns[0]: _shop_product(
            _ProductColumns(*columns), [_VariantColumns(*variant[2:]) for variant in variants], _attributes(attributes)
        )
        for *columns, variants, attributes in rows
    }


def _products_statement(*, others: bool) -> Statement:
    id, ranking = column(ProductRow, "id"), column(ProductRow, "ranking")
    of_partner = column(ProductRow, "partner_id") == bindparam("partner_id", type_=Integer)
    wanted = is_any_of(id, name="product_ids")
    if others:
        ranked = select(id).where(of_partner, column(ProductRow, "is_active")).order_by(ranking, id)
        wanted = or_(wanted, id.in_(ranked.limit(literal_column(str(MAX_OTHER_PRODUCTS)))))
    columns = [column(ProductRow, name) for name in _ProductColumns._fields]
    return select(*columns, _VARIANTS, _ATTRIBUTES).where(of_partner, wanted).order_by(ranking, id)


def _attributes(rows: Sequence[Any]) -> tuple[OfferedAttribute, ...]:
    return tuple(
        OfferedAttribute(id, Text(**name), required, tuple(_value(value, label) for *_, value, label in values))
        for _, id, name, required, values in rows
    )


def _value(value: str, label: Mapping[str, str]) -> OfferedValue:
    return OfferedValue(value, Text(**label) if any(label.values()) else Text(en=value))


def _shop_product(
    row: _ProductColumns, versions: Sequence[_VariantColumns], attributes: tuple[OfferedAttribute, ...]
) -> ShopProduct:
    variants = [version for version in versions if version.is_active]
    offered = OfferedProduct(
        id=row.id,
        name=Text(**row.name),
        description=Text(**row.description),
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


async def load_deliveries(db: DatabaseReader, partner_id: int) -> list[ShopDelivery]:
    """The active delivery modes with their rates, by ranking."""
    rows = await db.statements.rows("deliveries of a shop", _deliveries_statement, {"partner_id": partner_id})
    return [_shop_delivery(_DeliveryColumns(*columns), rates) for *columns, rates in rows]


def _deliveries_statement() -> Statement:
    of_partner = column(DeliveryModeRow, "partner_id") == bindparam("partner_id", type_=Integer)
    columns = [column(DeliveryModeRow, name) for name in _DeliveryColumns._fields]
    return (
        select(*columns, _RATES)
        .where(of_partner, column(DeliveryModeRow, "is_active"))
        .order_by(column(DeliveryModeRow, "ranking"), column(DeliveryModeRow, "id"))
    )


def _shop_delivery(row: _DeliveryColumns, rates: Sequence[Any]) -> ShopDelivery:
    return ShopDelivery(
        id=row.id,
        kind=DeliveryKind(row.kind),
        name=Text(**row.name),
        description=Text(**row.description),
        vat_rate=row.vat_rate,
        free_above=row.free_above_amount,
        rates=tuple(ShippingRate(*rate[2:]) for rate in rates),
    )
