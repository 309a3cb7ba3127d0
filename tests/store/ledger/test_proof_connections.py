"""The proof over several connections: one snapshot for all, with what the pool has, and none is kept."""

import asyncio

import pytest
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from schema.ledger import LedgerAccountRole as Role
from store.core.clock import clock
from store.database.db import Database
from store.ledger.accounts import LedgerAccount
from store.ledger.verification import run
from store.ledger.verification.rule import Reading, Rule
from store.ledger.verification.run import verify_ledger
from tests.fixtures.ledger import Ledger, broken_rules

SNAPSHOT = "SELECT concat(pg_backend_pid(), ' ', pg_current_snapshot()) AS offender FROM (SELECT pg_sleep(0.05)) s"
SEEN = [Rule(f"seen_{n}", "", SNAPSHOT) for n in range(12)]
SLOW = [Rule(f"slow_{n}", "", "SELECT pg_sleep(60)::text AS offender") for n in range(2)]
WRONG = Rule("wrong", "", "SELECT (1 / 0)::text AS offender")
COUNTED = Reading("counted", "SELECT count(*) AS n FROM ledger_journal")


def connections_in_use(db: Database) -> int:
    pool = db.engine.sync_engine.pool
    assert isinstance(pool, QueuePool)
    return pool.checkedout()


async def test_all_connections_see_one_snapshot(ledger: Ledger) -> None:
    async def sell() -> None:
        for _ in range(8):
            await ledger.post(ledger.earned(100))

    before = connections_in_use(ledger.db)
    found, _ = await asyncio.gather(broken_rules(ledger.db, rules=SEEN), sell())
    assert list(found) == [rule.name for rule in SEEN]
    seen = [tuple(sample.split()) for (sample,) in found.values()]
    assert len({process for process, _ in seen}) == run.CONNECTIONS
    assert len({snapshot for _, snapshot in seen}) == 1
    assert connections_in_use(ledger.db) == before


async def test_one_connection_is_enough(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PATIENCE", 0.05)
    db = Database(database_url, pool_size=1, max_overflow=0)
    try:
        found = await broken_rules(db, rules=SEEN)
        assert len({sample for (sample,) in found.values()}) == 1
        assert len(found) == len(SEEN)
    finally:
        await db.aclose()


async def test_an_error_ends_the_other_connections(ledger: Ledger) -> None:
    before = connections_in_use(ledger.db)
    async with asyncio.timeout(20):
        with pytest.raises(DBAPIError, match="division by zero"):
            await verify_ledger(ledger.db, clock.now(), rules=[SLOW[0], WRONG])
    assert connections_in_use(ledger.db) == before


async def test_a_proof_can_be_cancelled(ledger: Ledger) -> None:
    before = connections_in_use(ledger.db)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await verify_ledger(ledger.db, clock.now(), rules=SLOW)
    assert connections_in_use(ledger.db) == before


async def test_rules_share_a_reading(ledger: Ledger) -> None:
    """Each has its own offenders, and all of them are counted."""
    await ledger.post(*(ledger.earned(100) for _ in range(12)))
    many = Rule("many", "", "SELECT j.id::text AS offender FROM ledger_journal j, counted WHERE n > 0", COUNTED)
    one = Rule("one", "", "SELECT n::text AS offender FROM counted", COUNTED)
    none = Rule("none", "", "SELECT n::text AS offender FROM counted WHERE n = 0", COUNTED)
    found = await verify_ledger(ledger.db, clock.now(), rules=[none, many, one])
    assert [result.rule for result in found] == [none, many, one]
    assert [result.offenders for result in found] == [0, int(found[2].sample[0]), 1]
    assert len(found[1].sample) == run.SAMPLE


async def test_a_journal_of_several_partners(ledger: Ledger) -> None:
    """Each of them has a payable item; the sums of the journal alone would not tell."""
    other = LedgerAccount(Role.PARTNER, ledger.tenants.partners["a2"].id)
    await ledger.post(ledger.earned(200))
    await ledger.post(ledger.journal((ledger.earnings, 30), (other, -30), source="moved"))
    moved = "journal_id = (SELECT id FROM ledger_journal WHERE source_id = 'moved')"
    assert (await ledger.rows(f"SELECT count(*) FROM payable_item WHERE {moved}"))[0][0] == 2  # noqa: S608 - of the line above
    assert await ledger.broken() == {}
    await ledger.forge(f"UPDATE payable_item SET own_amount = own_amount + 1 WHERE {moved} AND own_amount > 0")  # noqa: S608
    assert list(await ledger.broken()) == ["payable_items_are_earnings"]
