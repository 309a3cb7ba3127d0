"""Wallets of marketplaces that are being opened at the payment provider."""

import datetime as dt
from uuid import UUID, uuid4

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column


class WalletOpeningRow(SQLModel, table=True):
    """The call that opens a marketplace's wallet for a book. It is stored, with its key, before the provider is called."""

    __tablename__ = "wallet_opening"
    book_id: int = Field(primary_key=True, foreign_key="ledger_book.id")
    marketplace_id: int = Field(foreign_key="marketplace.id", index=True)
    wallet_id: int | None = Field(default=None, foreign_key="wallet.id", unique=True)
    """The wallet; None until it is open."""
    provider_user_id: str = Field(max_length=128)
    """Whose wallet it is, at the provider."""
    reference: UUID = Field(default_factory=uuid4)
    """Our name for the wallet at the provider."""
    key: UUID = Field(default_factory=uuid4)
    sent_at: dt.datetime | None = datetime_column(
        "When the key was stored; null if it is used up.", default=None, nullable=True
    )

    def forget_key(self) -> None:
        """The key is used up, and nothing was opened with it."""
        self.key, self.sent_at = uuid4(), None


async def begin_opening(db: AsyncSession, book_id: int, marketplace_id: int) -> WalletOpeningRow:
    """The opening of a book's wallet, locked; a new one unless there is one meanwhile."""
    new = WalletOpeningRow(book_id=book_id, marketplace_id=marketplace_id, provider_user_id="")
    await db.exec(insert(WalletOpeningRow).values(**new.model_dump()).on_conflict_do_nothing())
    row = await opening_of_book(db, book_id)
    assert row is not None, "an opening is never deleted"
    return row


async def opening_of_book(db: AsyncSession, book_id: int) -> WalletOpeningRow | None:
    """The opening of a book's wallet, locked and read again; None if it was never asked for."""
    query = select(WalletOpeningRow).where(col(WalletOpeningRow.book_id) == book_id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one_or_none()
