"""The table of transfers between wallets."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.transfer import Transfer
from store.core.provider_process import ReferencedRow
from store.core.row import CreatedOn, InCurrency


class TransferRow(InCurrency, CreatedOn, Transfer, ReferencedRow, table=True):
    """A transfer. Those of gift cards are written with their journal: no money moves at the provider."""

    __tablename__ = "transfer"
    __table_args__ = (
        Index("transfer_debited_idx", "debited_wallet_id", "created_on", "id"),
        Index("transfer_credited_idx", "credited_wallet_id", "created_on", "id"),
        Index("transfer_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("transfer_transfer_amount_list_idx", "partner_id", "transfer_amount", "id"),
        Index("transfer_status_list_idx", "partner_id", "status", "id"),
        Index("transfer_of_marketplace_idx", "marketplace_id", "created_on", "id"),
        Index("transfer_newest_idx", "created_on", "id"),
        Index("transfer_of_payout_idx", "payout_request_id", postgresql_where=text("payout_request_id IS NOT NULL")),
        Index("transfer_provider_id_key", "provider_id", unique=True, postgresql_where=text("provider_id <> ''")),
        CheckConstraint("transfer_amount > 0", name="moves_something"),
        CheckConstraint("num_nonnulls(debited_wallet_id, credited_wallet_id) > 0", name="has_wallet"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    payment_id: UUID | None = Field(default=None, foreign_key="payment.id", index=True)
    payout_request_id: int | None = Field(default=None)
    debited_wallet_id: int | None = Field(default=None, foreign_key="wallet.id")
    credited_wallet_id: int | None = Field(default=None, foreign_key="wallet.id")


NEWEST_OF_WALLET = 100
"""How many transfers of a wallet are read with it."""
NEWEST = text("""
    SELECT w.id AS wallet_id, t.id FROM unnest(CAST(:ids AS int[])) w(id) CROSS JOIN LATERAL (
        (SELECT id, created_on FROM transfer WHERE debited_wallet_id = w.id ORDER BY created_on DESC, id DESC LIMIT :size)
        UNION
        (SELECT id, created_on FROM transfer WHERE credited_wallet_id = w.id ORDER BY created_on DESC, id DESC LIMIT :size)
        ORDER BY created_on DESC, id DESC LIMIT :size
    ) t ORDER BY t.created_on DESC, t.id DESC
""")


async def newest_transfers(db: AsyncSession, wallet_ids: Sequence[int]) -> Sequence[tuple[int, TransferRow]]:
    """The newest transfers of each wallet, newest first, each with the id of the wallet."""
    values = {"ids": list(wallet_ids), "size": NEWEST_OF_WALLET}
    newest = (await (await db.connection()).execute(NEWEST, values)).all()
    query = select(TransferRow).where(col(TransferRow.id).in_({row.id for row in newest}))
    rows = {row.id: row for row in (await db.exec(query)).all()}
    return [(row.wallet_id, rows[row.id]) for row in newest]
