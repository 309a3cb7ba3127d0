"""The table of wallets."""

from collections.abc import Sequence

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.wallet import Wallet, WalletKind
from store.ledger.books import book_of_partner, is_current_book
from store.ledger.rows import LedgerBookRow

ONE_IN_A_BOOK = "wallet_at_provider_key"


class WalletRow(Wallet, table=True):
    """A wallet. A partner has one for each wallet that it ever had at the provider; a gift card has one.

    A partner that was a test partner before keeps its wallet in the sandbox: it has a row in either book then.
    """

    __tablename__ = "wallet"
    __table_args__ = (
        CheckConstraint("(kind = 'gift_card') = (provider_wallet_id IS NULL)", name="lies_at_provider"),
        CheckConstraint("kind = 'gift_card' OR (kind = 'marketplace') = (partner_id IS NULL)", name="has_owner"),
        UniqueConstraint("provider_wallet_id", "book_id", name=ONE_IN_A_BOOK),
        Index("wallet_of_marketplace_key", "book_id", unique=True, postgresql_where=text("kind = 'marketplace'")),
    )
    book_id: int = Field(foreign_key="ledger_book.id", index=True)
    marketplace_id: int = Field(foreign_key="marketplace.id")
    partner_id: int | None = Field(default=None, foreign_key="partner.id", index=True)
    provider_wallet_id: str | None = Field(default=None, max_length=128)


async def open_card_wallets(db: AsyncSession, book_id: int, partner_id: int | None, count: int) -> Sequence[WalletRow]:
    """Wallets for new gift cards of a partner, or without one of a network, in a book."""
    book = await _book(db, book_id)
    rows = [_wallet(book, WalletKind.GIFT_CARD, partner_id) for _ in range(count)]
    db.add_all(rows)
    await db.flush()
    return rows


async def marketplace_wallet(db: AsyncSession, book_id: int) -> WalletRow | None:
    """The own wallet of a book's marketplace; None if it has none."""
    query = select(WalletRow).where(col(WalletRow.book_id) == book_id, col(WalletRow.kind) == WalletKind.MARKETPLACE)
    return (await db.exec(query)).one_or_none()


async def open_marketplace_wallet(db: AsyncSession, book_id: int, provider_wallet_id: str) -> WalletRow:
    """Store the own wallet of a book's marketplace, with its id at the provider."""
    row = _wallet(await _book(db, book_id), WalletKind.MARKETPLACE, None, provider_wallet_id)
    db.add(row)
    await db.flush()
    return row


async def wallet_of_partner(db: AsyncSession, partner_id: int, provider_wallet_id: str) -> WalletRow:
    """The wallet of a partner with this id at the provider, in the partner's present mode. It is stored when it is first
    needed.
    """
    find = select(WalletRow).where(
        col(WalletRow.provider_wallet_id) == provider_wallet_id, is_current_book(col(WalletRow.book_id), partner_id)
    )
    known = (await db.exec(find)).first()
    if known is not None:
        return known
    book = await _book(db, await book_of_partner(db, partner_id))
    new = _wallet(book, WalletKind.PARTNER, partner_id, provider_wallet_id)
    values = new.model_dump(exclude={"id"})
    await db.exec(insert(WalletRow).values(**values).on_conflict_do_nothing(constraint=ONE_IN_A_BOOK))
    return (await db.exec(find)).one()


async def lock_wallet(db: AsyncSession, id: int) -> None:
    """Lock a wallet, so that what is free in it is promised once."""
    await db.exec(select(WalletRow.id).where(col(WalletRow.id) == id).with_for_update(key_share=True))


def _wallet(
    book: LedgerBookRow, kind: WalletKind, partner_id: int | None, provider_wallet_id: str | None = None
) -> WalletRow:
    return WalletRow(
        kind=kind,
        is_live=book.is_live,
        book_id=book.id,
        marketplace_id=book.marketplace_id,
        partner_id=partner_id,
        provider_wallet_id=provider_wallet_id,
    )


async def _book(db: AsyncSession, book_id: int) -> LedgerBookRow:
    return (await db.exec(select(LedgerBookRow).where(col(LedgerBookRow.id) == book_id))).one()
