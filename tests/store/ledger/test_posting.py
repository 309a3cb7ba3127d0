"""Posting: sums, repetitions, floors, and what the database itself refuses."""

import asyncio
import pathlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from resolvers.gift_card.holds import hold_gift_card
from schema.core.errors import InsufficientBalance
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.database.db import Database, dsn
from store.ledger.accounts import LedgerAccount
from store.ledger.posting import FIND_ACCOUNTS, post, post_on
from store.migrations.migrate import migrate
from tests.changes import Direct
from tests.fixtures.gift_card import gift_card
from tests.fixtures.ledger import COMMISSION, FEES, Ledger, broken_rules, open_ledger
from tests.fixtures.tenants import Tenants, open_tenants

COUNT = "SELECT count(*) FROM ledger_journal WHERE source_kind = 'test'"


async def posted(ledger: Ledger) -> int:
    """How many journals of tests there are."""
    return int((await ledger.rows(COUNT))[0][0])


async def test_a_journal_moves_its_accounts(ledger: Ledger) -> None:
    await ledger.post(ledger.earned(100), ledger.earned(50))
    assert [await ledger.balance(account) for account in (FEES, ledger.earnings, COMMISSION)] == [150, 135, 15]
    entries = await ledger.rows(
        "SELECT balance_after, version FROM ledger_entry WHERE version > 0 AND account_id = :id ORDER BY version",
        id=await ledger.account_id(ledger.earnings),
    )
    assert [tuple(entry) for entry in entries] == [(-90, 1), (-135, 2)]
    assert await ledger.broken() == {}


async def test_entries_sum_to_zero_and_those_of_nothing_are_left_out(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="do not sum to zero"):
        await ledger.post(ledger.journal((FEES, 100), (COMMISSION, -99)))
    assert await posted(ledger) == 0
    nothing = ledger.journal((FEES, 0), (COMMISSION, 0))
    some = ledger.journal((FEES, 5), (ledger.earnings, 0), (COMMISSION, -5))
    await ledger.post(nothing, some)
    assert await ledger.rows("SELECT source_id, lines FROM ledger_journal WHERE source_kind = 'test'") == [
        (some.source_id, 2)
    ]
    assert await ledger.account_id(ledger.earnings) is None


async def test_accounts_are_found_among_many(ledger: Ledger) -> None:
    """Whatever owns them: with 20,000 others no row is read but theirs."""
    owners = [(Role.CARD, 7, None), (Role.IN_DISPUTE, None, UUID(int=7)), (Role.PARTNER_HELD, 7, UUID(int=7))]
    accounts = [LedgerAccount(role, id, uuid) for role, id, uuid in owners] + [COMMISSION, ledger.earnings]
    sides = ((account, 5 * account.side) for account in accounts)
    await ledger.post(*(ledger.journal((account, amount), (FEES, -amount)) for account, amount in sides))
    await ledger.tenants.execute(MANY, book_id=ledger.book_id)
    await ledger.tenants.execute("ANALYZE ledger_account")
    keys = [(ledger.book_id, account.role.value, account.owner_id, account.owner_uuid) for account in accounts]
    columns = [list(column) for column in zip(*keys, strict=True)]
    assert len(await ledger.db.fetch(FIND_ACCOUNTS, *columns)) == len(accounts)
    (plan,) = await ledger.db.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {FIND_ACCOUNTS}", *columns)
    assert rows_read(plan[0][0]["Plan"]) <= 2 * len(accounts)


MANY = """
    INSERT INTO ledger_account (book_id, role, owner_id, owner_uuid, side, has_floor, balance, version)
    SELECT :book_id, role, CASE WHEN role <> 'in_dispute' THEN 1000 + n END,
        CASE WHEN role <> 'card' THEN gen_random_uuid() END, -1, false, 0, 0
    FROM generate_series(1, 7000) n, unnest(ARRAY['card', 'in_dispute', 'partner_held']) role
"""


def rows_read(node: Mapping[str, Any]) -> int:
    """How many rows of accounts a plan has looked at."""
    of_this = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    below = sum(map(rows_read, node.get("Plans", ())))
    return int(below + (of_this if "Relation Name" in node else 0))


async def test_a_source_is_posted_once_and_never_means_two_things(ledger: Ledger) -> None:
    journal = ledger.earned(100)
    await ledger.post(journal)
    await ledger.post(journal, ledger.earned(10))
    assert (await posted(ledger), await ledger.balance(FEES)) == (2, 110)
    await ledger.post(replace(journal, kind=Kind.REFUND))
    assert (await posted(ledger), await ledger.balance(FEES)) == (3, 210)
    with pytest.raises(RuntimeError, match="with other entries"):
        await ledger.post(ledger.earned(7), ledger.earned(101, source=journal.source_id))
    assert (await posted(ledger), await ledger.balance(FEES)) == (3, 210)
    assert await ledger.broken() == {}


async def test_what_has_a_floor_is_not_overspent(ledger: Ledger) -> None:
    await ledger.post(ledger.earned(100))
    with pytest.raises(InsufficientBalance):
        await ledger.post(ledger.journal((ledger.earnings, 91), (FEES, -91)))
    assert (await posted(ledger), await ledger.balance(ledger.earnings)) == (1, 90)
    await ledger.post(
        ledger.journal((ledger.earnings, 90), (FEES, -90)), ledger.journal((COMMISSION, 500), (FEES, -500))
    )
    assert await ledger.balance(ledger.earnings) == 0
    assert await ledger.balance(COMMISSION) == -490, "It has no floor: what cannot be spent cannot be overspent."


async def test_two_books_never_meet(ledger: Ledger, tenants: Tenants) -> None:
    other = await open_ledger(tenants, "b1")
    await ledger.post(ledger.earned(100))
    await other.post(other.earned(100))
    account = await other.account_id(COMMISSION)
    with pytest.raises(DBAPIError, match="do not sum to zero in its book"):
        await _insert_entries(ledger, [(await ledger.account_id(FEES), 7), (account, -7)])
    with pytest.raises(DBAPIError, match="do not sum to zero in its book"):
        await _insert_entries(ledger, [(await ledger.account_id(FEES), 7), (await ledger.account_id(COMMISSION), -6)])
    with pytest.raises(DBAPIError, match=r"do not sum to zero in its book|foreign key"):
        await _insert_entries(ledger, [(await ledger.account_id(FEES), 7), (10**9, -7)])
    await _insert_entries(ledger, [(await ledger.account_id(FEES), 7), (await ledger.account_id(COMMISSION), -7)])


async def _insert_entries(ledger: Ledger, entries: Sequence[tuple[int | None, int]]) -> None:
    """A journal by statements of somebody's own."""
    async with ledger.db.engine.begin() as connection:
        journal = await connection.execute(
            text("""
                INSERT INTO ledger_journal (book_id, marketplace_id, kind, source_kind, source_id, lines, effective_on, recorded_on,
                    request_id, fingerprint)
                SELECT id, marketplace_id, 'payment', 'hand', 'made', 2, now(), now(), '', '' FROM ledger_book WHERE id = :id
                RETURNING id
            """),
            {"id": ledger.book_id},
        )
        values = {
            "journal": journal.scalar_one(),
            "accounts": [e[0] for e in entries],
            "amounts": [e[1] for e in entries],
        }
        await connection.execute(
            text("""
                INSERT INTO ledger_entry (journal_id, line, account_id, amount)
                SELECT :journal, n, account, amount
                FROM unnest(CAST(:accounts AS bigint[]), CAST(:amounts AS bigint[])) WITH ORDINALITY AS e (account, amount, n)
            """),
            values,
        )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_journal SET source_id = source_id",
        "DELETE FROM ledger_journal",
        "TRUNCATE ledger_journal CASCADE",
        "UPDATE ledger_entry SET amount = amount",
        "DELETE FROM ledger_entry",
        "TRUNCATE ledger_entry",
        "UPDATE ledger_account SET owner_id = owner_id",
        "UPDATE ledger_account SET side = -side",
        "DELETE FROM ledger_account",
        "TRUNCATE ledger_account CASCADE",
    ],
)
async def test_nothing_is_ever_changed(ledger: Ledger, statement: str) -> None:
    await ledger.post(ledger.earned(100))
    with pytest.raises(DBAPIError, match=r"never changed|for ever"):
        await ledger.tenants.execute(statement)
    assert await ledger.broken() == {}


# ---- who may post


async def test_the_owner_of_the_tables_posts_without_being_a_superuser(
    postgres: str, database_url: str, tmp_path: pathlib.Path
) -> None:
    """A production database is owned by a role of its own, which migrates and posts."""
    parts = urlsplit(database_url)
    name = f"{parts.path.removeprefix('/')}_owned"
    owned = urlunsplit(parts._replace(path=f"/{name}", netloc=f"{name}:secret@{parts.netloc.rpartition('@')[2]}"))
    admin = await asyncpg.connect(dsn(postgres))
    try:
        await admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'secret' NOSUPERUSER")
        await admin.execute(f"GRANT SET ON PARAMETER session_replication_role TO {name}")  # as the fixtures need
        await admin.execute(f"CREATE DATABASE {name} OWNER {name}")
        db = Database(owned)
        try:
            await migrate(db)
        finally:
            await db.aclose()
        async with open_tenants(owned, tmp_path) as tenants:
            await gift_card(tenants)
            assert await tenants.one("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
            assert await broken_rules(tenants.services.db) == {}
    finally:
        await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await admin.execute(f"DROP OWNED BY {name}")
        await admin.execute(f"DROP ROLE {name}")
        await admin.close()


# ---- many at once


async def test_two_hundred_holds_of_one_card_take_no_more_than_it_has(tenants: Tenants) -> None:
    card, ask = await gift_card(tenants, value="50.00"), Direct(tenants)
    outcomes = await asyncio.gather(*(ask.change("a1", hold_gift_card, id=card.id, amount="1.00") for _ in range(200)))
    assert sum(outcome.done for outcome in outcomes) == 50
    assert {code for outcome in outcomes for _, code in outcome.wrong} == {"INSUFFICIENT_BALANCE"}
    assert await tenants.one("SELECT remaining_amount::text FROM gift_card WHERE id = :id", id=card.id) == "0.00"
    assert await broken_rules(tenants.services.db) == {}


async def test_two_hundred_postings_at_once_neither_lose_nor_block_each_other(ledger: Ledger) -> None:
    """Each takes several accounts with floors, named in random order; some would overspend and are refused."""
    draw = random.Random(3)
    accounts = [LedgerAccount(Role.PARTNER, 1000 + n) for n in range(5)]
    await ledger.post(ledger.journal((FEES, 500), *((account, -100) for account in accounts)))
    refused = 0

    async def move(connection: asyncpg.Connection) -> None:
        nonlocal refused
        some = draw.sample(accounts, 3)
        amounts = [draw.randrange(1, 40), draw.randrange(1, 40)]
        moves = [(some[0], amounts[0]), (some[1], amounts[1]), (some[2], -sum(amounts) + 1), (COMMISSION, -1)]
        draw.shuffle(moves)
        try:
            async with connection.transaction():
                await post_on(connection, [ledger.journal(*moves)])
        except InsufficientBalance:
            refused += 1

    pool = await asyncpg.create_pool(dsn(ledger.tenants.services.settings.database_url), min_size=16, max_size=16)

    async def one() -> None:
        async with pool.acquire() as connection:
            await move(connection)

    try:
        await asyncio.gather(*(one() for _ in range(200)))
    finally:
        await pool.close()
    assert 0 < refused < 200
    done = await posted(ledger) - 1
    assert (done + refused, await ledger.balance(COMMISSION)) == (200, done)
    assert sum([await ledger.balance(account) for account in accounts]) == 500 - done
    assert await ledger.broken() == {}


async def test_one_new_account_is_opened_by_many_at_once(ledger: Ledger) -> None:
    await asyncio.gather(*(ledger.post(ledger.earned(10)) for _ in range(20)))
    assert (await ledger.balance(FEES), await ledger.balance(ledger.earnings)) == (200, 180)
    assert await ledger.broken() == {}


async def test_the_same_event_twice_at_once_is_one_journal(ledger: Ledger) -> None:
    await ledger.post(ledger.earned(10))
    journal = ledger.earned(100)
    await asyncio.gather(*(ledger.post(journal) for _ in range(10)))
    assert (await posted(ledger), await ledger.balance(FEES)) == (2, 110)


async def test_a_session_that_only_posts_is_a_transaction(ledger: Ledger) -> None:
    async with ledger.db.sessions() as session:
        await post(session, [ledger.earned(100)])
        await session.rollback()
    assert await posted(ledger) == 0
