"""Searching a table of some size: along the index where few rows match, along the list where many do, and never through all."""

import pathlib

from tests.fixtures.tenants import Tenants, open_tenants
from tests.fixtures.voucher import sell, voucher_of
from tests.statements import fetched

OWN = {"id", "code", "normal_code", "document_token", "gifter_email", "created_on"}
COPIES = """
    INSERT INTO voucher ({columns}, code, normal_code, document_token, gifter_email, created_on)
    SELECT {columns}, n, n, 't' || n, 'x' || n || '@mail.example', now() - n * interval '1 minute'
    FROM voucher, generate_series(1, 20000) n RETURNING 1
"""
LISTED = ["voucher_created_on_list_idx", "voucher_newest_idx"]
"""Which of the two is no matter where one partner has all there are."""
SEARCHED = {
    "x19999@": (1, True),
    "x1999": (11, True),
    "nobody": (0, True),
    "MAIL.example": (20000, False),
    "x1": (11111, False),
}
"""What is searched for -> how many there are, and whether the index is asked: the newest 5,000 hold less than a page."""


async def test_whatever_is_searched_no_page_is_found_by_walking_through_the_table(
    database_url: str, tmp_path: pathlib.Path
) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        await _fill(tenants)
        db = tenants.services.db
        headers = {"Authorization": f"Token {tenants.tokens['a1']}"}
        for term, (count, along_index) in SEARCHED.items():
            query: dict[str, str | int] = {"gifter": term, "page_size": 5}
            with fetched(db) as ran:
                answer = (await tenants.client.get("/api/vouchers/", params=query, headers=headers)).json()
            assert answer["count"] == count, term
            wanted = [n for n in range(1, 20001) if term.lower() in f"x{n}@mail.example"][:5]
            assert [int(row["code"]) for row in answer["results"]] == wanted
            pages = [(sql, arguments) for sql, arguments in ran if "WITH " in sql]
            assert any("search_grams" in sql for sql, _ in pages) is along_index, term
            for sql, arguments in pages:
                plan = "\n".join(row[0] for row in await db.fetch(f"EXPLAIN {sql}", *arguments))
                assert "Seq Scan on voucher" not in plan, plan
                along = ["voucher_search_idx"] if "search_grams" in sql else LISTED
                assert any(index in plan for index in along), plan


async def _fill(tenants: Tenants) -> None:
    """Twenty thousand vouchers of a partner, a minute apart."""
    first = await tenants.add(voucher_of(await sell(tenants, "a1")))
    names = await tenants.rows(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'voucher' AND is_generated = 'NEVER'"
    )
    await tenants.rows(COPIES.format(columns=", ".join(name for (name,) in names if name not in OWN)))
    await tenants.rows("DELETE FROM voucher WHERE id = :id RETURNING 1", id=first.id)
    async with tenants.services.db.autocommit_engine.connect() as connection:
        await connection.exec_driver_sql("ANALYZE voucher")
