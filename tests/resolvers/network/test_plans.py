"""Lists of boxes and offers go along an index, and take as many statements for many rows as for few."""

import httpx

from resolvers.network.boxes import BoxSort
from resolvers.network.offers import OfferSort
from tests.fixtures.box import link_partners, new_prototype, new_range
from tests.fixtures.tenants import Tenants
from tests.plans import PlanReader
from tests.statements import executed

ROWS = 3000
TEXTS = """'{"en": "X"}', '{}', '{}'"""
BOXES = f"""
    INSERT INTO box (name, short_description, long_description, is_active, is_highlight, price_amount, weight_grams,
        price_scope, max_usages, max_days_after_first_usage, orders_count, ranking, currency, marketplace_id, created_on,
        updated_on, price_range_id)
    SELECT {TEXTS}, n % 9 > 0, n % 5 = 0, n, 0, 1, 1, 0, 0, n % 7, 'EUR', m.id, now() - n * interval '1 minute', now(),
        :range
    FROM marketplace m, generate_series(1, {ROWS}) n ORDER BY m.id, n
"""  # noqa: S608 - the test's words
OFFERS = f"""
    INSERT INTO offer (name, description, terms_of_use, status, is_active, ranking, created_on, edited_on,
        rejection_reason, box_id, product_id, partner_id, marketplace_id)
    SELECT {TEXTS}, (ARRAY['DRAFT', 'SUBMITTED', 'ACCEPTED', 'REJECTED'])[n % 4 + 1], n % 8 > 0, n % 7,
        now() - n * interval '1 minute', now(), '', (SELECT min(id) FROM box WHERE marketplace_id = p.marketplace_id) + n / 3,
        :product, p.id, p.marketplace_id
    FROM partner p, generate_series(1, {ROWS}) n
"""  # noqa: S608 - the test's words
BOX_PAGE = "query ($orderBy: BoxSort) { boxes(first: 20, orderBy: $orderBy) { nodes { id name { en } } } }"
OFFER_PAGE = "query ($orderBy: OfferSort) { offers(first: 20, orderBy: $orderBy) { nodes { id name { en } } } }"
WHOLE = """
query ($first: Int!) {
  boxes(first: $first) {
    nodes {
      id priceRange { id } images { media { id } } allowedPartners { partner { id } } products { id priceRange { id } }
      offers { id partner { id } product { id } }
    }
  }
}
"""


async def test_lists_go_along_an_index_and_statements_do_not_grow(tenants: Tenants) -> None:
    await link_partners(tenants, "a1", "a2", "b1")
    product, priced = await new_prototype(tenants, "a1"), await new_range(tenants, "a", "1.00", None)
    await tenants.execute(BOXES, range=priced.id)
    await tenants.execute(OFFERS, product=product.id)
    await tenants.execute("ANALYZE box, offer")
    some = await tenants.one("SELECT min(id) + 7 FROM box WHERE currency = 'EUR'")
    for who in ("a1", "market a"):
        headers = {"Authorization": f"Token {tenants.tokens[who]}"}
        transport = httpx.ASGITransport(tenants.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as http:
            boxes, offers = (PlanReader(http, tenants.services.db, table) for table in ("box", "offer"))
            for order in BoxSort:
                await boxes.count_statements(BOX_PAGE, orderBy=order.name)
                await boxes.went_along_an_index(f"{who} {order.name}", "ORDER BY box.")
            for by in OfferSort:
                await offers.count_statements(OFFER_PAGE, orderBy=by.name)
                await offers.went_along_an_index(f"{who} {by.name}", "ORDER BY offer.")
            await offers.read(f"/api/boxes/{some}/offers/?page_size=20")
            await offers.went_along_an_index(f"{who} of a box", "ORDER BY offer.")
            counts = []
            for first in (10, 100):
                with executed(tenants.services.db) as by_sessions:
                    counts.append((await offers.count_statements(WHOLE, first=first), len(by_sessions)))
            assert counts[0] == counts[1]
            few = await boxes.read("/api/boxes/?page_size=10")
            assert await boxes.read("/api/boxes/?page_size=100") == few
