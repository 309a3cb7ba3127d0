"""Lists of vouchers go along an index whatever is asked of them, and take as many statements for many rows as for few."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
import httpx
import pytest

from resolvers.voucher.vouchers import VoucherFilter, VoucherSort
from store.database import filtered_page
from tests.bench import vouchers
from tests.bench.installation import open_installation
from tests.plans import PlanReader

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
    {"partnerUuid": None},
    {"marketplaceUuid": None},
    {"createdFrom": "2025-03-01T00:00:00Z", "createdUntil": "2025-03-31T00:00:00Z"},
    {"expiresFrom": "2026-01-01T00:00:00Z", "expiresUntil": "2026-02-01T00:00:00Z"},
)
"""What is asked for; null stands for what one of the vouchers has there."""
ONE = """
    SELECT voucher.*, partner.uuid::text AS partner_uuid, marketplace.uuid::text AS marketplace_uuid
    FROM voucher JOIN partner ON partner.id = partner_id JOIN marketplace ON marketplace.id = marketplace_id
    WHERE partner_id = $1 AND giftee_id IS NOT NULL LIMIT 1
"""
COLUMNS = {
    "voucherPrototypeId": "voucher_prototype_id",
    "code": "code",
    "gifterId": "gifter_id",
    "gifteeId": "giftee_id",
    "partnerUuid": "partner_uuid",
    "marketplaceUuid": "marketplace_uuid",
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
    monkeypatch.setattr(filtered_page, "SCANNED_ROWS", 200)  # of so few rows, 5,000 would be all
    async with open_installation(database_url, "", tmp_path) as installation:
        partner_id, _, token = await vouchers.lay(installation, ROWS)
        pool = installation.means.pool
        one = await pool.fetchrow(ONE, partner_id)
        transport, headers = httpx.ASGITransport(installation.app), {"Authorization": f"Token {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as client:
            reader = PlanReader(client, installation.app.state.container.services.db, "voucher")
            await _first_pages_and_one_go_along_an_index(reader, one)
            await _a_deep_page_does_not_read_what_it_passes_over(reader, pool)
            await _statements_do_not_grow(reader)


async def _first_pages_and_one_go_along_an_index(reader: PlanReader, one: Mapping[str, Any]) -> None:
    for filter in FILTERS:
        own = {name: one[COLUMNS[name]] if value is None else value for name, value in filter.items()}
        await reader.count_statements(QUERY, filter=own)
        await reader.went_along_an_index(str(own))
    for order in VoucherSort:
        await reader.count_statements(QUERY, orderBy=order.name)
        await reader.went_along_an_index(order.name)
    await reader.read(f"/api/vouchers/{one['code']}/")
    await reader.went_along_an_index("by code", "normal_code =")


async def _a_deep_page_does_not_read_what_it_passes_over(reader: PlanReader, pool: asyncpg.Pool) -> None:
    await reader.read(f"/api/vouchers/?page={ROWS // 20}&page_size=20")
    ((sql, arguments),) = [each for each in reader.ran if "OFFSET" in each[0]]
    async with pool.acquire() as connection:
        await connection.execute("SET enable_sort = off")  # of so few rows, sorting them all is as quick
        plan = [row[0] for row in await connection.fetch(f"EXPLAIN {sql}", *arguments)]
    assert any("Index Only Scan" in line for line in plan), plan


async def _statements_do_not_grow(reader: PlanReader) -> None:
    await reader.read("/api/vouchers/?page_size=100")
    assert await reader.read("/api/vouchers/?page_size=25") == await reader.read("/api/vouchers/?page_size=100") == 10
    assert await reader.count_statements(WHOLE, first=25) == await reader.count_statements(WHOLE, first=100)
