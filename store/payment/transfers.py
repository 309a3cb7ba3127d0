"""The table of transfers between wallets."""

from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlmodel import Field

from schema.payment.transfer import Transfer
from store.core.row import CreatedOn, InCurrency


class TransferRow(InCurrency, CreatedOn, Transfer, table=True):
    """A transfer. Those of gift cards are written with their journal: no money moves at the provider."""

    __tablename__ = "transfer"
    __table_args__ = (
        Index("transfer_debited_idx", "debited_wallet_id", "created_on", "id"),
        Index("transfer_credited_idx", "credited_wallet_id", "created_on", "id"),
        CheckConstraint("transfer_amount > 0", name="moves_something"),
        CheckConstraint("num_nonnulls(debited_wallet_id, credited_wallet_id) > 0", name="has_wallet"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    partner_id: int | None = Field(default=None, foreign_key="partner.id", index=True)
    payment_id: UUID | None = Field(default=None, foreign_key="payment.id", index=True)
    debited_wallet_id: int | None = Field(default=None, foreign_key="wallet.id")
    credited_wallet_id: int | None = Field(default=None, foreign_key="wallet.id")
