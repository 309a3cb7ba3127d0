"""Books of the ledger: one for each marketplace, currency, and live or test."""

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.providers.money import exponent

FIND = text("""
    SELECT b.id, m.id AS marketplace_id, m.currency, p.status <> 't' AS is_live
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    LEFT JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, p.status <> 't')
    WHERE p.id = :partner_id
""")
OPEN = text("""
    INSERT INTO ledger_book (marketplace_id, currency, is_live, minor_digits)
    VALUES (:marketplace_id, :currency, :is_live, :minor_digits)
    ON CONFLICT ON CONSTRAINT ledger_book_key DO UPDATE SET minor_digits = excluded.minor_digits RETURNING id
""")


async def book_of_partner(db: AsyncSession, partner_id: int) -> int:
    """The book into which a partner's new cards, payments and wallets are posted. It is opened if it is the first."""
    connection = await db.connection()
    found = (await connection.execute(FIND, {"partner_id": partner_id})).one()
    if found.id is not None:
        return int(found.id)
    new = {"marketplace_id": found.marketplace_id, "currency": found.currency, "is_live": found.is_live}
    opened = await connection.execute(OPEN, {**new, "minor_digits": exponent(found.currency)})
    return int(opened.scalar_one())
