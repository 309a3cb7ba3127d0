"""Reads journals: those of a source or an account, and their entries in words and amounts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from store.ledger.accounts import LedgerAccount
from store.ledger.plan import ACCOUNT_PLAN
from store.ledger.rows import LedgerJournalRow
from store.providers.money import MinorAmount

K = TypeVar("K")

OF_SOURCES = text("""
    SELECT s.n, j.id FROM unnest(CAST(:n AS int[]), CAST(:kinds AS text[]), CAST(:ids AS text[])) AS s (n, kind, id)
    JOIN ledger_journal j ON j.source_kind = s.kind
        AND (j.source_id = s.id OR (j.source_id ~>=~ (s.id || ':') AND j.source_id ~<~ (s.id || ';')))
""")
OF_ACCOUNTS = text("""
    SELECT DISTINCT s.n, e.journal_id
    FROM unnest(CAST(:n AS int[]), CAST(:roles AS text[]), CAST(:owners AS bigint[]), CAST(:uuids AS uuid[]))
        AS s (n, role, owner_id, owner_uuid)
    JOIN ledger_account a ON a.role = s.role AND (
        a.owner_id = s.owner_id AND (s.owner_uuid IS NULL OR a.owner_uuid = s.owner_uuid)
        OR s.owner_id IS NULL AND a.owner_uuid = s.owner_uuid)
    JOIN ledger_entry e ON e.account_id = a.id
""")
ENTRIES = text("""
    SELECT e.journal_id, e.line, a.role, a.owner_id, a.owner_uuid, b.currency, e.amount, e.balance_after * a.side AS balance
    FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id JOIN ledger_book b ON b.id = a.book_id
    WHERE e.journal_id = ANY(:ids) ORDER BY e.journal_id, e.line
""")


@dataclass(frozen=True, slots=True)
class LedgerSubject:
    """What journals may be about, such as a payment: its own sources, and the accounts that it owns."""

    sources: tuple[tuple[str, str], ...] = ()
    """Kinds and ids of sources: also those whose id begins with this one and a colon."""
    accounts: tuple[LedgerAccount, ...] = ()
    """Accounts with an owner."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry of a journal, as it is read."""

    role: Role
    owner: str
    """Such as `partner:12`; empty if the account belongs to the whole book."""
    amount: MinorAmount
    """Debits positive."""
    balance: MinorAmount | None
    """The account's balance after it, on its natural side; None for accounts that keep none."""

    @property
    def debit(self) -> MinorAmount | None:
        return self.amount if self.amount.minor > 0 else None

    @property
    def credit(self) -> MinorAmount | None:
        return MinorAmount(self.amount.currency, -self.amount.minor) if self.amount.minor < 0 else None


async def journals_of(db: AsyncSession, subjects: Mapping[K, LedgerSubject]) -> dict[K, list[LedgerJournalRow]]:
    """The journals about each subject, by ascending id."""
    keys = list(subjects)
    ids_by_key: dict[int, set[int]] = defaultdict(set)
    for n, id in [*await _of_sources(db, subjects, keys), *await _of_accounts(db, subjects, keys)]:
        ids_by_key[n].add(id)
    ids = sorted(set().union(*ids_by_key.values()))
    rows = {row.id: row for row in await db.exec(select(LedgerJournalRow).where(col(LedgerJournalRow.id).in_(ids)))}
    return {key: [rows[id] for id in sorted(ids_by_key[n])] for n, key in enumerate(keys)}


async def entries_of(db: AsyncSession, journal_ids: Sequence[int]) -> dict[int, list[JournalEntry]]:
    """The entries of journals, by the id of the journal, in their order."""
    entries: dict[int, list[JournalEntry]] = defaultdict(list)
    for row in (await (await db.connection()).execute(ENTRIES, {"ids": list(journal_ids)})).all():
        role = Role(row.role)
        balance = None if row.balance is None else MinorAmount(row.currency, row.balance)
        owner = ACCOUNT_PLAN[role].owner_label(row.owner_id, row.owner_uuid)
        entries[row.journal_id].append(JournalEntry(role, owner, MinorAmount(row.currency, row.amount), balance))
    return entries


async def _of_sources(
    db: AsyncSession, subjects: Mapping[K, LedgerSubject], keys: Sequence[K]
) -> Sequence[tuple[int, int]]:
    sources = [(n, kind, id) for n, key in enumerate(keys) for kind, id in subjects[key].sources]
    if not sources:
        return []
    n, kinds, ids = map(list, zip(*sources, strict=True))
    rows = await (await db.connection()).execute(OF_SOURCES, {"n": n, "kinds": kinds, "ids": ids})
    return [(row[0], row[1]) for row in rows]


async def _of_accounts(
    db: AsyncSession, subjects: Mapping[K, LedgerSubject], keys: Sequence[K]
) -> Sequence[tuple[int, int]]:
    accounts = [(n, account) for n, key in enumerate(keys) for account in subjects[key].accounts]
    if not accounts:
        return []
    owners: list[int | None] = [account.owner_id for _, account in accounts]
    uuids: list[UUID | None] = [account.owner_uuid for _, account in accounts]
    roles = [account.role.value for _, account in accounts]
    values = {"n": [n for n, _ in accounts], "roles": roles, "owners": owners, "uuids": uuids}
    rows = await (await db.connection()).execute(OF_ACCOUNTS, values)
    return [(row[0], row[1]) for row in rows]
