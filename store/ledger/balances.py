"""Balances of accounts without a floor: a snapshot and the entries since.

A position is the id of the transaction that wrote an entry. Entries below the oldest running transaction are final:
what is folded never changes, whatever order transactions commit in.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.ledger.accounts import LedgerAccount
from store.providers.money import MinorAmount

FINAL_POSITION = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ledger_shift()"
"""SQL: all entries below this position are visible, and no other can appear."""
BALANCE = """
    CASE WHEN {a}.has_floor THEN {a}.balance ELSE
        coalesce((SELECT s.balance FROM ledger_snapshot s WHERE s.account_id = {a}.id), 0)
        + coalesce((SELECT sum(e.amount) FROM ledger_entry e WHERE e.account_id = {a}.id AND e.position >=
            coalesce((SELECT s.before_position FROM ledger_snapshot s WHERE s.account_id = {a}.id), 0)), 0)::bigint
    END
"""
"""SQL: the balance of the account with this alias, in minor units, debits positive."""
BALANCES = text(f"""
    SELECT a.id, {BALANCE.format(a="a")} * a.side AS balance FROM ledger_account a WHERE a.id = ANY(:ids)
""")  # noqa: S608 - of SQL in this file
FOLD = text(f"""
    WITH horizon AS MATERIALIZED (SELECT {FINAL_POSITION} AS position),
    tails AS (
        SELECT a.id, t.amount, t.entries, h.position
        FROM horizon h CROSS JOIN ledger_account a LEFT JOIN ledger_snapshot s ON s.account_id = a.id
        CROSS JOIN LATERAL (
            SELECT sum(e.amount) AS amount, count(*) AS entries FROM ledger_entry e
            WHERE e.account_id = a.id AND e.position >= coalesce(s.before_position, 0) AND e.position < h.position
        ) t
        WHERE NOT a.has_floor AND t.entries >= :least
    )
    INSERT INTO ledger_snapshot (account_id, before_position, balance, entries)
    SELECT id, position, amount, entries FROM tails ORDER BY id
    ON CONFLICT (account_id) DO UPDATE SET before_position = excluded.before_position,
        balance = ledger_snapshot.balance + excluded.balance, entries = ledger_snapshot.entries + excluded.entries
    WHERE ledger_snapshot.before_position < excluded.before_position
    RETURNING account_id
""")  # noqa: S608 - of SQL in this file
LOCK = """
    SELECT balance * side FROM ledger_account
    WHERE book_id = :book_id AND role = :role AND {owner} AND owner_uuid IS NULL FOR NO KEY UPDATE
"""
LOCK_SHARED, LOCK_OWNED = text(LOCK.format(owner="owner_id IS NULL")), text(LOCK.format(owner="owner_id = :owner_id"))
WALLETS = text(f"""
    SELECT w.id, b.currency, b.minor_digits, coalesce(sum({BALANCE.format(a="a")} * a.side), 0)::bigint AS balance
    FROM wallet w JOIN ledger_book b ON b.id = w.book_id
    LEFT JOIN gift_card c ON w.kind = 'gift_card' AND c.wallet_id = w.id
    LEFT JOIN ledger_account a ON a.role = CASE w.kind WHEN 'gift_card' THEN 'card' ELSE 'wallet' END
        AND a.owner_id = CASE w.kind WHEN 'gift_card' THEN c.id ELSE w.id END
    WHERE w.id = ANY(:ids) GROUP BY w.id, b.id
""")  # noqa: S608 - of SQL in this file
LEAST_ENTRIES = 100
"""A tail shorter than this is summed as fast as a snapshot is read."""


async def balances_of(db: AsyncSession, account_ids: Sequence[int]) -> Mapping[int, int]:
    """Balances in minor units, each on the natural side of its account."""
    rows = (await (await db.connection()).execute(BALANCES, {"ids": list(account_ids)})).all()
    return {row.id: row.balance for row in rows}


async def fold_snapshots(db: AsyncSession, least: int = LEAST_ENTRIES) -> int:
    """Fold final entries into snapshots, of accounts with at least `least` of them; returns the number of accounts."""
    connection = await db.connection()
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('ledger_snapshot'))"))
    return len((await connection.execute(FOLD, {"least": least})).all())


async def wallet_balances(db: AsyncSession, wallet_ids: Sequence[int]) -> Mapping[int, MinorAmount]:
    """The balances of wallets; of a gift card's wallet, what can be spent."""
    rows = (await (await db.connection()).execute(WALLETS, {"ids": list(wallet_ids)})).all()
    return {row.id: MinorAmount(row.currency, row.balance) for row in rows}


async def lock_balance(db: AsyncSession, book_id: int, account: LedgerAccount) -> int:
    """Lock an account with a floor; returns its balance in minor units, on its natural side."""
    values = {"book_id": book_id, "role": account.role.value}
    statement = LOCK_SHARED
    if account.owner_id is not None:
        statement, values = LOCK_OWNED, {**values, "owner_id": account.owner_id}
    return (await (await db.connection()).execute(statement, values)).scalar_one_or_none() or 0
