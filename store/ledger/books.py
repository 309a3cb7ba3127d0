"""Books of the ledger: one for each marketplace, currency, and live or test."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, TextClause, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.partner.partner import PartnerStatus
from store.core.clock import now
from store.ledger.rows import LedgerBookRow
from store.partner.partners import PartnerRow
from store.providers.money import exponent

FIND = text("""
    SELECT b.id, m.id AS marketplace_id, m.currency, p.status <> 't' AS is_live
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    LEFT JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, p.status <> 't')
    WHERE p.id = :partner_id
""")
FIND_OF_MARKETPLACE = text("""
    SELECT b.id, m.id AS marketplace_id, m.currency, w.is_live
    FROM marketplace m CROSS JOIN (VALUES (CAST(:is_live AS bool))) AS w (is_live)
    LEFT JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, w.is_live)
    WHERE m.id = :marketplace_id
""")
OPEN = text("""
    INSERT INTO ledger_book (marketplace_id, currency, is_live, minor_digits, cards_checked_since)
    VALUES (:marketplace_id, :currency, :is_live, :minor_digits, :now)
    ON CONFLICT ON CONSTRAINT ledger_book_key DO UPDATE SET minor_digits = excluded.minor_digits RETURNING id
""")


def is_current_book(book_id: Any, partner_id: Any) -> ColumnElement[bool]:
    """The condition that a book is of the partner's present mode: of a test partner a test book, else a live one."""
    is_live = select(col(PartnerRow.status) != PartnerStatus.TEST).where(col(PartnerRow.id) == partner_id)
    of_mode = col(LedgerBookRow.is_live) == is_live.correlate_except(PartnerRow).scalar_subquery()
    return (
        select(LedgerBookRow.id)
        .where(col(LedgerBookRow.id) == book_id, of_mode)
        .correlate_except(LedgerBookRow)
        .exists()
    )


async def book_of_partner(db: AsyncSession, partner_id: int) -> int:
    """The book into which a partner's new cards, payments and wallets are posted. It is opened if it is the first."""
    return await _found_or_opened(db, FIND, {"partner_id": partner_id})


async def book_of_marketplace(db: AsyncSession, marketplace_id: int, *, is_live: bool) -> int:
    """The book of a marketplace's partners, or of its test partners. It is opened if it is the first."""
    return await _found_or_opened(db, FIND_OF_MARKETPLACE, {"marketplace_id": marketplace_id, "is_live": is_live})


async def _found_or_opened(db: AsyncSession, find: TextClause, values: Mapping[str, Any]) -> int:
    connection = await db.connection()
    found = (await connection.execute(find, values)).one()
    if found.id is not None:
        return int(found.id)
    new = {"marketplace_id": found.marketplace_id, "currency": found.currency, "is_live": found.is_live}
    opened = await connection.execute(OPEN, {**new, "minor_digits": exponent(found.currency), "now": now()})
    return int(opened.scalar_one())
