"""Posting: writes journals. It is the last thing that a transaction does, so that rows and money cannot disagree.

Locks are taken in one order: the rows of the business first, then accounts with a floor by ascending id. Accounts
without a floor are not touched: nothing waits for what cannot be overspent.
"""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import asyncpg
import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InsufficientFunds
from schema.ledger import LedgerJournalKind
from store.core.clock import now
from store.database.driver import driver_of
from store.ledger.accounts import LedgerAccount
from store.ledger.payables import INSERT as INSERT_PAYABLE_ITEMS
from store.ledger.payables import payable_items

FLOOR = "ledger_account_floor"

INSERT_JOURNALS = """
    INSERT INTO ledger_journal (book_id, marketplace_id, partner_id, kind, source_kind, source_id, lines, effective_on,
        recorded_on, request_id, reverses_id, fingerprint)
    SELECT g.book_id, m.id, g.partner_id, g.kind, g.source_kind, g.source_id, g.lines,
        (g.recorded_on AT TIME ZONE m.time_zone)::date, g.recorded_on, $1, g.reverses_id, g.fingerprint
    FROM unnest($2::int[], $3::int[], $4::text[], $5::text[], $6::text[], $7::int[], $8::timestamptz[], $9::bigint[],
        $10::bytea[]) WITH ORDINALITY
        AS g (book_id, partner_id, kind, source_kind, source_id, lines, recorded_on, reverses_id, fingerprint, n)
    JOIN ledger_book b ON b.id = g.book_id JOIN marketplace m ON m.id = b.marketplace_id
    ORDER BY n ON CONFLICT (source_kind, source_id, kind, book_id) DO NOTHING
    RETURNING id, book_id, source_kind, source_id, kind
"""
FIND_JOURNALS = """
    SELECT j.id, j.book_id, j.source_kind, j.source_id, j.kind, j.fingerprint
    FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) AS g (book_id, source_kind, source_id, kind)
    JOIN ledger_journal j USING (book_id, source_kind, source_id, kind)
"""
FIND_ACCOUNTS = """
    SELECT g.n, a.id FROM unnest($1::int[], $2::text[], $3::bigint[], $4::uuid[]) WITH ORDINALITY
        AS g (book_id, role, owner_id, owner_uuid, n)
    CROSS JOIN LATERAL (
        SELECT id FROM ledger_account WHERE book_id = g.book_id AND role = g.role AND owner_id = g.owner_id
            AND owner_uuid IS NOT DISTINCT FROM g.owner_uuid
        UNION ALL
        SELECT id FROM ledger_account WHERE book_id = g.book_id AND role = g.role AND owner_id IS NULL
            AND g.owner_id IS NULL AND owner_uuid = g.owner_uuid
        UNION ALL
        SELECT id FROM ledger_account WHERE book_id = g.book_id AND role = g.role AND owner_id IS NULL
            AND g.owner_id IS NULL AND owner_uuid IS NULL AND g.owner_uuid IS NULL
    ) a
"""
"""Finds accounts along the index of their key, which `IS NOT DISTINCT FROM` cannot use."""
OPEN_ACCOUNTS = """
    INSERT INTO ledger_account (book_id, role, owner_id, owner_uuid, partner_id, side, has_floor, balance, version)
    SELECT *, 0, 0 FROM unnest($1::int[], $2::text[], $3::bigint[], $4::uuid[], $5::int[], $6::int[], $7::bool[])
    ON CONFLICT DO NOTHING
"""
WRITE_ENTRIES = f"""
    WITH payable AS (
        {INSERT_PAYABLE_ITEMS.format(journal_ids="$8", partner_ids="$9", own="$10", network="$11", payable_at="$12")}
    ), delta AS (
        SELECT account_id, sum(amount)::bigint AS amount, count(*) AS entries
        FROM unnest($3::bigint[], $4::bigint[], $5::bool[]) AS e (account_id, amount, has_floor)
        WHERE has_floor GROUP BY account_id
    ), locked AS MATERIALIZED (
        SELECT a.id FROM ledger_account a JOIN delta d ON d.account_id = a.id ORDER BY a.id FOR NO KEY UPDATE OF a
    ), moved AS (
        UPDATE ledger_account a SET balance = a.balance + d.amount, version = a.version + d.entries
        FROM locked l JOIN delta d ON d.account_id = l.id WHERE a.id = l.id RETURNING a.id, a.balance, a.version
    )
    INSERT INTO ledger_entry (journal_id, line, account_id, amount, balance_after, version)
    SELECT e.journal_id, e.line, e.account_id, e.amount, m.balance - e.later_amount, m.version - e.later_entries
    FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $6::bigint[], $7::bigint[])
        AS e (journal_id, line, account_id, amount, later_amount, later_entries) LEFT JOIN moved m ON m.id = e.account_id
"""  # noqa: S608 - of SQL in this room
"""Locks accounts with a floor by ascending id, moves their balances, and inserts all entries with the balance after each:
the new balance less what the later entries of the same account move. With them it inserts the payable items."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An amount on an account, in minor units: positive for a debit, negative for a credit."""

    account: LedgerAccount
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """A business event to post. `source_kind`, `source_id` and `kind` identify it in its book.

    Entries with an amount of zero are left out; a journal without others is not posted.
    """

    book_id: int
    kind: LedgerJournalKind
    source_kind: str
    source_id: str
    entries: tuple[Entry, ...]
    partner_id: int | None = None
    recorded_on: dt.datetime | None = None
    """When it happened; None: now."""
    reverses_id: int | None = None
    payable_at: dt.datetime | None = None
    """When what it changes about a partner's earnings counts for payouts; None: when it was recorded."""

    @property
    def key(self) -> tuple[int, str, str, str]:
        return self.book_id, self.source_kind, self.source_id, self.kind.value

    @property
    def fingerprint(self) -> bytes:
        """A digest of the entries."""
        said = ";".join(
            f"{e.account.role.value},{e.account.owner_id},{e.account.owner_uuid},{e.amount}" for e in self.entries
        )
        return hashlib.sha256(said.encode()).digest()


def debit(account: LedgerAccount, amount: int) -> Entry:
    return Entry(account, amount)


def credit(account: LedgerAccount, amount: int) -> Entry:
    return Entry(account, -amount)


async def post(db: AsyncSession, journals: Iterable[Journal]) -> None:
    """Post journals in the session's transaction. A journal that is posted already changes nothing.

    Raises InsufficientFunds if an account would fall below its floor, ValueError for entries that do not sum to zero,
    RuntimeError if another event has the same source.
    """
    await db.flush()
    await post_on(await driver_of(db), journals)


async def post_on(connection: asyncpg.Connection, journals: Iterable[Journal]) -> None:
    """`post` on a connection of the driver, which must be in a transaction."""
    journals = [each for journal in journals if (each := _without_zeros(journal)).entries]
    for journal in journals:
        if sum(entry.amount for entry in journal.entries):
            raise ValueError(f"The entries of {journal.key} do not sum to zero.")
    if not journals:
        return
    ids = await _insert_journals(connection, journals)
    new = [journal for journal in journals if journal.key in ids]
    if len(new) < len(journals):
        await _check_repetitions(connection, [journal for journal in journals if journal.key not in ids])
    if new:
        await _insert_entries(connection, new, ids)


def _without_zeros(journal: Journal) -> Journal:
    return replace(journal, entries=tuple(entry for entry in journal.entries if entry.amount))


async def _insert_journals(
    connection: asyncpg.Connection, journals: Sequence[Journal]
) -> Mapping[tuple[int, str, str, str], int]:
    """The ids of the journals that were not posted before."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    time = now()
    rows = await connection.fetch(
        INSERT_JOURNALS,
        str(request_id)[:128],
        *map(
            list,
            zip(
                *(
                    (
                        journal.book_id,
                        journal.partner_id,
                        journal.kind.value,
                        journal.source_kind,
                        journal.source_id,
                        len(journal.entries),
                        journal.recorded_on or time,
                        journal.reverses_id,
                        journal.fingerprint,
                    )
                    for journal in journals
                ),
                strict=True,
            ),
        ),
    )
    return {(row["book_id"], row["source_kind"], row["source_id"], row["kind"]): row["id"] for row in rows}


async def _check_repetitions(connection: asyncpg.Connection, journals: Sequence[Journal]) -> None:
    """Raise RuntimeError if one of these sources stands for other entries: that is a defect, and not a repetition."""
    keys = zip(*(journal.key for journal in journals), strict=True)
    rows = await connection.fetch(FIND_JOURNALS, *map(list, keys))
    stored = {(row["book_id"], row["source_kind"], row["source_id"], row["kind"]): row["fingerprint"] for row in rows}
    for journal in journals:
        if stored.get(journal.key) != journal.fingerprint:
            raise RuntimeError(f"The journal {journal.key} is posted already, with other entries.")


async def _insert_entries(
    connection: asyncpg.Connection, journals: Sequence[Journal], ids: Mapping[tuple[int, str, str, str], int]
) -> None:
    accounts = await _account_ids(connection, journals)
    rows: list[tuple[int, int, int, int, bool, int, int]] = []
    later: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for journal in reversed(journals):
        for line, entry in reversed(list(enumerate(journal.entries, start=1))):
            id = accounts[journal.book_id, entry.account]
            amount, entries = later[id]
            rows.append((ids[journal.key], line, id, entry.amount, entry.account.has_floor, amount, entries))
            later[id] = amount + entry.amount, entries + 1
    try:
        await connection.execute(WRITE_ENTRIES, *map(list, zip(*rows, strict=True)), *_payable_columns(journals, ids))
    except asyncpg.CheckViolationError as error:
        if error.constraint_name == FLOOR:
            raise InsufficientFunds from error
        raise


def _payable_columns(
    journals: Sequence[Journal], ids: Mapping[tuple[int, str, str, str], int]
) -> tuple[list[int], list[int], list[int], list[int], list[dt.datetime | None]]:
    """The columns of the payable items of journals."""
    items = [
        item
        for journal in journals
        for item in payable_items(
            ids[journal.key],
            journal.kind,
            ((entry.account, entry.amount) for entry in journal.entries),
            journal.payable_at,
        )
    ]
    return (
        [item.journal_id for item in items],
        [item.partner_id for item in items],
        [item.own_amount for item in items],
        [item.network_amount for item in items],
        [item.payable_at for item in items],
    )


async def _account_ids(
    connection: asyncpg.Connection, journals: Sequence[Journal]
) -> Mapping[tuple[int, LedgerAccount], int]:
    """The ids of all accounts of these journals. Those that are new are opened, in one order."""
    owners = {(j.book_id, e.account): e.account.partner_id(j.partner_id) for j in journals for e in j.entries}
    keys = sorted(owners, key=_account_key)
    ids = await _find_accounts(connection, keys)
    if len(ids) < len(keys):
        missing = [key for key in keys if key not in ids]
        columns = ((*_columns(key), owners[key], key[1].side, key[1].has_floor) for key in missing)
        await connection.execute(OPEN_ACCOUNTS, *map(list, zip(*columns, strict=True)))
        ids |= await _find_accounts(connection, missing)
    return ids


async def _find_accounts(
    connection: asyncpg.Connection, keys: Sequence[tuple[int, LedgerAccount]]
) -> dict[tuple[int, LedgerAccount], int]:
    rows = await connection.fetch(FIND_ACCOUNTS, *map(list, zip(*map(_columns, keys), strict=True)))
    return {keys[row["n"] - 1]: row["id"] for row in rows}


def _columns(key: tuple[int, LedgerAccount]) -> tuple[int, str, int | None, UUID | None]:
    book_id, account = key
    return book_id, account.role.value, account.owner_id, account.owner_uuid


def _account_key(key: tuple[int, LedgerAccount]) -> tuple[int, str, int, str]:
    book_id, role, owner_id, owner_uuid = _columns(key)
    return book_id, role, owner_id or 0, str(owner_uuid or "")
