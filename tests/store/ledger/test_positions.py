# ruff: noqa: S608 - statements are made of numbers
"""Snapshots and seals by position: transactions that commit out of order, and databases that were restored."""

import asyncio
import random

from sqlalchemy import text

from store.ledger.balances import fold_snapshots
from store.ledger.posting import post
from store.ledger.seals import broken_seals, seal_entries
from store.migrations.migrate import migrate
from tests.fixtures.ledger import COMMISSION, FEES, Ledger


async def fold(ledger: Ledger) -> int:
    """Fold and seal what is final; answers the number of entries that were sealed."""
    async with ledger.db.sessions() as session, session.begin():
        await fold_snapshots(session, least=1)
        return await seal_entries(session)


async def test_nothing_is_lost_that_commits_late(ledger: Ledger) -> None:
    await fold(ledger)
    await ledger.post(ledger.earned(10))
    assert await fold(ledger) == 3
    async with ledger.db.sessions() as late:
        await post(late, [ledger.journal((FEES, 100), (COMMISSION, -100))])
        await ledger.post(ledger.journal((FEES, 1000), (COMMISSION, -1000)))
        assert await fold(ledger) == 0, "An older transaction is still open, so nothing after it is final."
        assert await ledger.balance(FEES) == 1010
        await late.commit()
    assert await ledger.balance(FEES) == 1110
    assert await fold(ledger) == 4
    assert (await ledger.balance(FEES), await ledger.balance(COMMISSION)) == (1110, 1101)
    assert await ledger.broken() == {}


async def test_balances_are_right_whatever_order_transactions_commit_in(ledger: Ledger) -> None:
    """Writers hold their transactions open for a while, some give up, and all the time it is folded and sealed."""
    draw, sums, done = random.Random(7), [0], asyncio.Event()

    async def write() -> None:
        for _ in range(12):
            amount, pause = draw.randrange(10, 500), draw.random() / 50
            async with ledger.db.sessions() as session:
                await post(session, [ledger.journal((FEES, amount), (COMMISSION, -amount))])
                await asyncio.sleep(pause)
                if draw.random() < 0.2:
                    await session.rollback()
                    continue
                sums[0] += amount
                await session.commit()

    async def keep_folding() -> int:
        folds = 0
        while not done.is_set():
            folds += bool(await fold(ledger))
            assert await ledger.broken() == {}
        return folds

    folding = asyncio.create_task(keep_folding())
    await asyncio.gather(*(write() for _ in range(8)))
    done.set()
    assert await folding > 1
    assert await ledger.balance(FEES) == sums[0]
    await fold(ledger)
    assert await ledger.balance(FEES) == sums[0]
    assert await ledger.broken() == {}


async def test_positions_go_on_in_a_restored_database(ledger: Ledger) -> None:
    """There, the ids of transactions begin anew: as if all that is stored had been written by far later ones."""
    await ledger.post(ledger.earned(100))
    await fold(ledger)
    await ledger.post(ledger.earned(10))
    assert await ledger.rows("SELECT * FROM ledger_shift") == []
    ahead = 5_000_000_000
    await ledger.forge(
        f"UPDATE ledger_entry SET position = position + {ahead}",
        f"UPDATE ledger_snapshot SET before_position = before_position + {ahead}",
        f"UPDATE ledger_seal SET before_position = before_position + {ahead}",
    )
    await ledger.post(ledger.earned(1000, source="lost without a shift"))
    assert await ledger.balance(FEES) == 110, (
        "What is posted before the shift is not counted: that is why there is one."
    )
    await ledger.forge(f"UPDATE ledger_entry SET position = position + {ahead} WHERE position < {ahead}")
    before = (await ledger.rows("SELECT max(position) FROM ledger_entry"))[0][0]
    for _ in range(2):
        await migrate(ledger.db)
        shift = (await ledger.rows("SELECT shift FROM ledger_shift"))[0][0]
        assert 0 < shift <= ahead
    await ledger.post(ledger.earned(10_000))
    last, least = (await ledger.rows("SELECT max(position), max(position) - :before FROM ledger_entry", before=before))[
        0
    ]
    assert last > before
    assert least < 1000, "It goes on right after what is stored."
    assert await ledger.balance(FEES) == 11_110
    assert await fold(ledger) == 9
    assert await ledger.balance(FEES) == 11_110
    assert await ledger.broken() == {}


async def test_a_shift_is_only_raised_where_it_must_be(ledger: Ledger) -> None:
    await ledger.post(ledger.earned(100))
    await migrate(ledger.db)
    assert await ledger.rows("SELECT * FROM ledger_shift") == []


async def test_what_is_changed_without_triggers_breaks_the_chain(ledger: Ledger) -> None:
    for amount in (100, 200, 300):
        await ledger.post(ledger.earned(amount))
        await fold(ledger)
    await ledger.forge(
        "UPDATE ledger_journal SET source_id = 'elsewhere' WHERE id = (SELECT min(id) FROM ledger_journal j"
        " WHERE j.source_kind = 'test')"
    )
    async with ledger.db.sessions() as session:
        assert [seal.n for seal in await broken_seals(session)] == [1]
        connection = await session.connection()
        assert (await connection.execute(text("SELECT count(*) FROM ledger_seal"))).scalar_one() == 3
    assert list(await ledger.broken()) == ["seals_are_whole"]
