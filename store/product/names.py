"""Products and variants by the names that their shop gave them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, literal_column, null, or_, select, union_all
from sqlalchemy.sql.expression import cast

from store.database.db import Database
from store.database.loaders import among, column
from store.product.products import ProductRow, ProductVariantRow


@dataclass(frozen=True)
class Named:
    """A product, or a variant of one, with its names."""

    product_id: int
    variant_id: int | None
    sku: str
    source_id: str


async def named_products(
    db: Database, partner_id: int, skus: Collection[str], source_ids: Collection[str]
) -> list[Named]:
    """What a partner has by these names; one statement, however many they are."""

    def of(table: Any, product: Any, variant: Any) -> Any:
        names = column(table, "sku"), column(table, "source_id")
        found = or_(among(names[0], list(skus)), among(names[1], list(source_ids)))
        return select(product, variant, *names).where(column(table, "partner_id") == partner_id, found)

    variant = ProductVariantRow
    products = of(ProductRow, column(ProductRow, "id"), cast(null(), Integer))
    variants = of(variant, column(variant, "product_id"), column(variant, "id"))
    rows = await db.rows(union_all(products, variants).order_by(literal_column("1"), literal_column("2")))
    return [Named(*row) for row in rows]
