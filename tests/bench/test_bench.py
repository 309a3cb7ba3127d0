"""Every case of the benchmark still runs, and floors written by hand answer the same; how fast is no test's business."""

import pathlib
from collections.abc import Awaitable, Callable

import orjson
import pytest

from tests.bench import network_cards
from tests.bench.cases import CASES, Case
from tests.bench.floors import Rows
from tests.bench.gathering import gathering_table, measured_gathering
from tests.bench.installation import Installation, open_installation
from tests.bench.payments import Payments
from tests.bench.postings import PARTNERS, measured_postings, postings_table
from tests.bench.proof import measured_proof, proof_table
from tests.bench.voucher_floors import Vouchers
from tests.fixtures.ledger import broken_rules
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import open_tenants


async def test_every_case_can_be_measured(
    database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_cards, "CARDS", 50)
    async with open_installation(database_url, "", tmp_path) as installation:
        for case in CASES:
            await can_be_measured(case, installation)


async def can_be_measured(case: Callable[[Installation], Awaitable[Case]], installation: Installation) -> None:
    made = await case(installation)
    answer = (await made.call.once()).body
    assert answer, made.name
    for floor, call in (await made.beside(installation)).items():
        lowest = (await call.once()).body
        assert (
            lowest
            if not isinstance(floor, Payments | Vouchers | Rows)
            else orjson.loads(lowest) == orjson.loads(answer)
        ), made.name


async def test_gathering_can_be_measured(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        partner_id = tenants.partners["a1"].id
        seconds = await measured_gathering(tenants.services, partner_id, rounds=1, partners=20, lines=400)
        assert all(each > 0 for each in seconds.values())
        assert await tenants.one("SELECT count(*) FROM payable_item WHERE payout_request_id IS NULL") == 0
        sums = "SELECT count(*), sum(payout_amount) * 100, (SELECT sum(own_amount + network_amount) FROM payable_item) FROM payout_request"
        ((requests, amount, lines),) = await tenants.rows(sums)
        assert (requests, amount) == (20, lines)
    assert gathering_table(seconds, 20, 400).row_count == 2


async def test_postings_can_be_measured(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        partner_id = tenants.partners["a1"].id
        paces = await measured_postings(database_url, partner_id, rounds=1, seconds=0.1)
        assert len(paces) == 5
        assert all(pace.journals_per_second > 0 and pace.p50 <= pace.p99 for pace in paces.values())
        counts = await tenants.rows("SELECT count(*), sum(lines) FROM ledger_journal WHERE source_kind = 'bench'")
        assert counts[0][1] == counts[0][0] * 5 > 5 * PARTNERS
        entries = "SELECT count(*) FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id WHERE source_kind = 'bench'"
        assert await tenants.one(entries) == counts[0][1]
    table = postings_table(paces)
    assert table.row_count == 5


async def test_a_proof_can_be_measured(shop: Shop) -> None:
    seconds = await measured_proof(shop, rounds=1, partners=20, entries=1000)
    assert all(each > 0 for each in seconds.values())
    assert await shop.count("ledger_entry") == 1000
    assert await shop.count("(SELECT DISTINCT partner_id FROM payment) p") == 21
    assert await shop.count("ledger_seal") == 20
    assert await broken_rules(shop.services.db) == {}
    assert proof_table(seconds, 1000).row_count == 2
