"""Look-up of products and variants by SKU or source id."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, literal_column, null, or_, select, union_all
from sqlalchemy.sql.expression import cast

from store.database.db import Database
from store.database.loaders import column, is_any_of
from store.product.products import ProductRow, ProductVariantRow


@dataclass(frozen=True)
class ProductIdentifiers:
    """The identifiers of a product or a variant."""

    product_id: int
    variant_id: int | None
    sku: str
    source_id: str


async def find_by_identifiers(
    db: Database, partner_id: int, skus: Collection[str], source_ids: Collection[str]
) -> list[ProductIdentifiers]:
    """A partner's products and variants with these SKUs or source ids, in one statement."""

    def of(table: Any, product: Any, variant: Any) -> Any:
        names = column(table, "sku"), column(table, "source_id")
        condition = or_(is_any_of(names[0], list(skus)), is_any_of(names[1], list(source_ids)))
        return select(product, variant, *names).where(column(table, "partner_id") == partner_id, condition)

    variant = ProductVariantRow
    products = of(ProductRow, column(ProductRow, "id"), cast(null(), Integer))
    variants = of(variant, column(variant, "product_id"), column(variant, "id"))
    rows = await db.rows(union_all(products, variants).order_by(literal_column("1"), literal_column("2")))
    return [ProductIdentifiers(*row) for row in rows]
