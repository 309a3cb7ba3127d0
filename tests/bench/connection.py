"""A connection of 100 rows with 15 values each, by GraphQL and as one would write it by hand."""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import orjson
from sqlmodel import col, select

from schema.core.text import Text
from store.database.db import Database
from store.partner.partners import PartnerRow
from store.product.products import ProductRow
from tests.bench.floors import Rows, moment

LENGTH = 100
QUERY = """
query Products {
  products(first: 100, filter: {isPhysical: false}) {
    edges {
      node {
        id name { en fr } description { en } price { amount currency } vatRate stock weightGrams
        isPhysical isActive ranking pictureUrl createdOn updatedOn
      }
    }
    pageInfo { hasNextPage }
  }
}
"""
STATEMENT = """
SELECT id, name->>'en' AS name_en, name->>'fr' AS name_fr, description->>'en' AS description_en, price_amount, currency,
  vat_rate, stock, weight_grams, is_physical, is_active, ranking, picture_url, created_on, updated_on
FROM product WHERE partner_id = $1 AND is_physical = $2 ORDER BY ranking, id LIMIT 101
"""


async def lay(db: Database, site_domain: str) -> int:
    """Give a partner a few more products than fit on a page. Answers the partner's id."""
    async with db.sessions() as session, session.begin():
        query = select(PartnerRow.id).where(col(PartnerRow.site_domain) == site_domain)
        partner_id = (await session.exec(query)).one()
        session.add_all(_product(partner_id, number) for number in range(LENGTH + 20))
    return partner_id


def _product(partner_id: int, number: int) -> ProductRow:
    return ProductRow(
        partner_id=partner_id,
        name=Text(en=f"Voucher {number}", fr=f"Bon {number}"),
        description=Text(en=f"Good for {number} euros in our shop, for a year.", fr="Un an."),
        price_amount=Decimal(number),
        is_physical=False,
        is_active=False,
        ranking=number,
        picture_url=f"/media/voucher-{number}.webp",
    )


def floor(partner_id: int, answer: bytes) -> Rows:
    """The same bytes, by asyncpg and orjson."""
    extensions = orjson.loads(answer)["extensions"]
    return Rows(answer, statement=STATEMENT, arguments=(partner_id, False), write=partial(render_by_hand, extensions))


def render_by_hand(extensions: Any, rows: Sequence[Any]) -> bytes:
    """What one would write by hand."""
    edges = [
        {
            "node": {
                "id": r["id"],
                "name": {"en": r["name_en"], "fr": r["name_fr"]},
                "description": {"en": r["description_en"]},
                "price": {"amount": r["price_amount"], "currency": r["currency"]},
                "vatRate": r["vat_rate"],
                "stock": r["stock"],
                "weightGrams": r["weight_grams"],
                "isPhysical": r["is_physical"],
                "isActive": r["is_active"],
                "ranking": r["ranking"],
                "pictureUrl": f"http://127.0.0.1:8000{r['picture_url']}",
                "createdOn": moment(r["created_on"]),
                "updatedOn": moment(r["updated_on"]),
            }
        }
        for r in rows[:LENGTH]
    ]
    data = {"products": {"edges": edges, "pageInfo": {"hasNextPage": len(rows) > LENGTH}}}
    return orjson.dumps({"data": data, "extensions": extensions}, default=str)
