"""The journals as accountants import them: a line for each entry."""

import datetime as dt
from collections.abc import AsyncIterator
from uuid import UUID

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from store.ledger.plan import ACCOUNT_PLAN
from store.providers.money import MinorAmount

COLUMNS = (
    "journal_id", "date", "marketplace", "currency", "mode", "event", "source_kind", "source_id", "partner_id",
    "account_code", "account_name", "account_role", "account_owner", "debit", "credit",
)  # fmt: skip
"""The header. `mode` is `live` or `test`; amounts are decimal numbers in units of the currency, with a point."""
SELECT = text("""
    SELECT j.id, j.effective_on, m.name, b.currency, b.is_live, j.kind, j.source_kind, j.source_id, j.partner_id, a.role,
        a.owner_id, a.owner_uuid, e.amount
    FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
    JOIN ledger_book b ON b.id = j.book_id JOIN marketplace m ON m.id = b.marketplace_id
    WHERE j.effective_on BETWEEN :first AND :last AND (CAST(:marketplace_id AS int) IS NULL OR m.id = :marketplace_id)
    ORDER BY j.effective_on, j.id, e.line
""")


async def exported_lines(
    db: AsyncSession, first: dt.date, last: dt.date, marketplace_id: int | None = None
) -> AsyncIterator[tuple[str, ...]]:
    """The entries of a period, both days included, as the columns of the file; of one marketplace or of all."""
    connection = await db.connection()
    values = {"first": first, "last": last, "marketplace_id": marketplace_id}
    async with connection.stream(SELECT, values) as rows:
        async for row in rows:
            yield (
                *_journal_columns(*row[:9]),
                *_account_columns(*row[9:12]),
                *_amount_columns(row.amount, row.currency),
            )


def _journal_columns(
    id: int,
    day: dt.date,
    marketplace: str,
    currency: str,
    is_live: bool,
    kind: str,
    source_kind: str,
    source_id: str,
    partner_id: int | None,
) -> tuple[str, ...]:
    mode = "live" if is_live else "test"
    partner = "" if partner_id is None else str(partner_id)
    return str(id), day.isoformat(), marketplace, currency, mode, kind, source_kind, source_id, partner


def _account_columns(role: str, owner_id: int | None, owner_uuid: UUID | None) -> tuple[str, ...]:
    account = ACCOUNT_PLAN[Role(role)]
    return str(account.code), account.name, role, account.owner_label(owner_id, owner_uuid)


def _amount_columns(amount: int, currency: str) -> tuple[str, str]:
    told = str(MinorAmount(currency, abs(amount)).decimal)
    return (told, "") if amount > 0 else ("", told)
