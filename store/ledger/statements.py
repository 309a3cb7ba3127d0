"""Statements of a partner's earnings: what came and went in a period, and the balance around it."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournalKind as Kind
from store.providers.money import MinorAmount

ACCOUNTS = text("""
    SELECT p.id AS partner_id, a.id, m.currency, a.side,
        (SELECT (coalesce(sum(e.amount), 0) * a.side)::bigint FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
            WHERE e.account_id = a.id AND j.effective_on < :first) AS opening
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    LEFT JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, CAST(:is_live AS bool))
    LEFT JOIN ledger_account a ON (a.book_id, a.role, a.owner_id) = (b.id, 'partner', p.id)
    WHERE p.id = ANY(:partner_ids)
""")
LINES = text("""
    SELECT a.id AS account_id, l.* FROM unnest(CAST(:account_ids AS bigint[])) AS a (id) CROSS JOIN LATERAL (
        SELECT j.effective_on, j.recorded_on, j.id, j.kind, j.source_kind, j.source_id, sum(e.amount)::bigint AS amount
        FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
        WHERE e.account_id = a.id AND j.effective_on BETWEEN :first AND :last
        GROUP BY j.id HAVING sum(e.amount) <> 0 ORDER BY j.effective_on, j.recorded_on, j.id LIMIT :most
    ) l ORDER BY a.id, l.effective_on, l.recorded_on, l.id
""")


class StatementTooLong(Exception):
    """A statement would have more lines than were allowed."""


@dataclass(frozen=True, slots=True)
class StatementPeriod:
    """The days of a statement, both included, and whether it is of the live book."""

    first: dt.date
    last: dt.date
    is_live: bool


@dataclass(frozen=True, slots=True)
class StatementLine:
    """What one journal did to the account."""

    effective_on: dt.date
    journal_id: int
    kind: Kind
    source_kind: str
    source_id: str
    change: MinorAmount
    """On the account's natural side: positive if the partner has earned it."""
    balance: MinorAmount


@dataclass(frozen=True, slots=True)
class EarningsStatement:
    """A statement of a partner's earnings in one book."""

    opening: MinorAmount
    closing: MinorAmount
    lines: tuple[StatementLine, ...]


async def earnings_statements(
    db: AsyncSession, partner_ids: Sequence[int], period: StatementPeriod, most: int
) -> Mapping[int, EarningsStatement]:
    """The statements of partners by the partner's id. Who has earned nothing in the book has one without lines.

    Raises StatementTooLong if one would have more than `most` lines.
    """
    connection, first = await db.connection(), {"first": period.first}
    of = {"partner_ids": list(partner_ids), "is_live": period.is_live, **first}
    accounts = (await connection.execute(ACCOUNTS, of)).all()
    ids = [account.id for account in accounts if account.id is not None]
    rows_by_account: dict[int | None, list[Any]] = defaultdict(list)
    among = {"account_ids": ids, "last": period.last, "most": most + 1, **first}
    for row in (await connection.execute(LINES, among)).all():
        rows_by_account[row.account_id].append(row)
    if any(len(rows) > most for rows in rows_by_account.values()):
        raise StatementTooLong
    return {account.partner_id: _statement(account, rows_by_account[account.id]) for account in accounts}


def _statement(account: Any, rows: Sequence[Any]) -> EarningsStatement:
    opening = balance = MinorAmount(account.currency, account.opening or 0)
    lines = []
    for row in rows:
        change = MinorAmount(account.currency, row.amount * account.side)
        balance += change
        lines.append(
            StatementLine(row.effective_on, row.id, Kind(row.kind), row.source_kind, row.source_id, change, balance)
        )
    return EarningsStatement(opening, balance, tuple(lines))
