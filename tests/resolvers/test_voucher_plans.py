"""Lists of vouchers go along an index whatever is asked of them, and take as many statements for many rows as for few."""

import pathlib
from collections.abc import Sequence
from typing import Any

import httpx
import orjson
import pytest

from resolvers.vouchers import VoucherFilter, VoucherSort
from store import sifting
from tests.bench import vouchers
from tests.bench.world import open_world

ROWS = 4000
FILTERS: Sequence[dict[str, Any]] = (
    {},
    {"state": "USED"},
    {"states": ["PAID", "USING"]},
    {"kind": "IMPORTED"},
    {"voucherPrototypeId": None},
    {"prototypeName": "lavender"},
    {"gifter": "nobody at all"},
    {"gifter": "mail.example"},
    {"giftee": "g123@"},
    {"origin": "newsletter"},
    {"code": None},
    {"gifterId": None},
    {"gifteeId": None},
    {"orderId": 1},
    {"createdFrom": "2025-03-01T00:00:00Z", "createdUntil": "2025-03-31T00:00:00Z"},
    {"expiresFrom": "2026-01-01T00:00:00Z", "expiresUntil": "2026-02-01T00:00:00Z"},
)
"""What is asked for; null stands for what one of the vouchers has there."""
COLUMNS = {
    "voucherPrototypeId": "voucher_prototype_id",
    "code": "code",
    "gifterId": "gifter_id",
    "gifteeId": "giftee_id",
}
QUERY = """
query Page($filter: VoucherFilter, $orderBy: VoucherSort) {
  vouchers(first: 20, filter: $filter, orderBy: $orderBy) { nodes { id code } }
}
"""
WHOLE = """
query Whole($first: Int!) {
  vouchers(first: $first) {
    totalCount
    nodes { code coupon { code } options { count option { name { en } } } includedOptions { count } rentals { reference } }
  }
}
"""


async def test_first_pages_go_along_an_index_and_statements_do_not_grow(
    database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {name for filter in FILTERS for name in filter} == {
        "".join(part.capitalize() if at else part for at, part in enumerate(name.split("_")))
        for name in VoucherFilter.model_fields
    }
    monkeypatch.setattr(sifting, "NEXT", 200)  # of so few rows, 5,000 would be all
    async with open_world(database_url, "", tmp_path) as world:
        partner_id, _, token = await vouchers.lay(world, ROWS)
        pool, kept = world.means.pool, world.app.state.house.services.db.kept
        one = await pool.fetchrow("SELECT * FROM voucher WHERE partner_id = $1 AND giftee_id IS NOT NULL", partner_id)
        ran: list[tuple[str, Any]] = []
        fetch = kept.fetch

        async def noted(sql: str, *arguments: Any) -> Any:
            ran.append((sql, arguments))
            return await fetch(sql, *arguments)

        monkeypatch.setattr(kept, "fetch", noted)
        transport, headers = httpx.ASGITransport(world.app), {"Authorization": f"Token {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as client:

            async def asked(query: str, **variables: Any) -> int:
                """How many statements a document takes."""
                ran.clear()
                answer = await client.post("/graphql/", json={"query": query, "variables": variables})
                assert "errors" not in orjson.loads(answer.content), answer.text
                return len(ran)

            async def read(path: str) -> int:
                """How many statements a REST request takes."""
                ran.clear()
                assert (await client.get(path)).status_code == 200
                return len(ran)

            async def all_along_an_index(what: str) -> None:
                assert ran, what
                for sql, arguments in ran:
                    plan = "\n".join(row[0] for row in await fetch(f"EXPLAIN {sql}", *arguments))
                    assert "Seq Scan on voucher" not in plan, f"{what}: {plan}"
                    assert "voucher_" in plan, f"{what}: {plan}"

            for filter in FILTERS:
                own = {name: one[COLUMNS[name]] if value is None else value for name, value in filter.items()}
                await asked(QUERY, filter=own)
                await all_along_an_index(str(own))
            for order in VoucherSort:
                await asked(QUERY, orderBy=order.name)
                await all_along_an_index(order.name)
            await read(f"/api/vouchers/{one['code']}/")
            ran[:] = [each for each in ran if "normal_code =" in each[0]]
            await all_along_an_index("by code")

            await read(f"/api/vouchers/?page={ROWS // 20}&page_size=20")
            (page,) = [each for each in ran if "OFFSET" in each[0]]
            async with pool.acquire() as connection:
                await connection.execute("SET enable_sort = off")  # of so few rows, sorting them all is as quick
                plan = [row[0] for row in await connection.fetch(f"EXPLAIN {page[0]}", *page[1])]
            assert any("Index Only Scan" in line for line in plan), plan  # what is passed over is not read

            await read("/api/vouchers/?page_size=100")
            assert await read("/api/vouchers/?page_size=25") == await read("/api/vouchers/?page_size=100") == 12
            assert await asked(WHOLE, first=25) == await asked(WHOLE, first=100)
