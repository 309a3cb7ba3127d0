"""Statements of a partner's earnings: what came and went in a period, and the balance around it."""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournalKind as Kind
from store.providers.money import MinorAmount

ACCOUNTS = text("""
    SELECT a.id, a.side, b.currency, b.is_live, (coalesce(sum(e.amount), 0) * a.side)::bigint AS opening
    FROM ledger_account a JOIN ledger_book b ON b.id = a.book_id
    LEFT JOIN (ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id AND j.effective_on < :first) ON e.account_id = a.id
    WHERE a.role = 'partner' AND a.owner_id = :partner_id GROUP BY a.id, b.id ORDER BY b.is_live DESC, a.id
""")
LINES = text("""
    SELECT j.effective_on, j.id, j.kind, j.source_kind, j.source_id, sum(e.amount)::bigint AS amount
    FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
    WHERE e.account_id = :account_id AND j.effective_on BETWEEN :first AND :last
    GROUP BY j.id HAVING sum(e.amount) <> 0 ORDER BY j.effective_on, j.recorded_on, j.id LIMIT :most
""")


class StatementTooLong(Exception):
    """A statement would have more lines than were allowed."""


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
    """A statement in one book."""

    is_live: bool
    opening: MinorAmount
    closing: MinorAmount
    lines: tuple[StatementLine, ...]


async def earnings_statements(
    db: AsyncSession, partner_id: int, first: dt.date, last: dt.date, most: int
) -> list[EarningsStatement]:
    """A statement for each book in which the partner has earned something; both days are included.

    Raises StatementTooLong if one would have more than `most` lines.
    """
    connection = await db.connection()
    accounts = (await connection.execute(ACCOUNTS, {"partner_id": partner_id, "first": first})).all()
    statements = []
    for account in accounts:
        values = {"account_id": account.id, "first": first, "last": last, "most": most + 1}
        rows = (await connection.execute(LINES, values)).all()
        if len(rows) > most:
            raise StatementTooLong
        balance, lines = MinorAmount(account.currency, account.opening), []
        for row in rows:
            change = MinorAmount(account.currency, row.amount * account.side)
            balance += change
            lines.append(
                StatementLine(row.effective_on, row.id, Kind(row.kind), row.source_kind, row.source_id, change, balance)
            )
        opening = MinorAmount(account.currency, account.opening)
        statements.append(EarningsStatement(account.is_live, opening, balance, tuple(lines)))
    return statements
