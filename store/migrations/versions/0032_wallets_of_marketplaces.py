"""Marketplaces have wallets of their own at the payment provider, opened by a stored call."""

import sqlalchemy as sa
from alembic import op

revision = '0032'
down_revision = '0031'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('wallet_opening',
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('wallet_id', sa.Integer(), nullable=True),
    sa.Column('provider_user_id', sa.String(128), nullable=False),
    sa.Column('reference', sa.Uuid(), nullable=False),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('wallet_opening_book_id_fkey')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('wallet_opening_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['wallet_id'], ['wallet.id'], name=op.f('wallet_opening_wallet_id_fkey')),
    sa.PrimaryKeyConstraint('book_id', name=op.f('wallet_opening_pkey')),
    sa.UniqueConstraint('wallet_id', name=op.f('wallet_opening_wallet_id_key'))
    )
    op.create_index(op.f('wallet_opening_marketplace_id_idx'), 'wallet_opening', ['marketplace_id'], unique=False)
    op.drop_constraint('wallet_provider_wallet_id_key', 'wallet')
    op.create_unique_constraint('wallet_at_provider_key', 'wallet', ['provider_wallet_id', 'book_id'])
    op.create_index('wallet_of_marketplace_key', 'wallet', ['book_id'], unique=True, postgresql_where=sa.text("kind = 'marketplace'"))


def downgrade() -> None:
    op.drop_index('wallet_of_marketplace_key', table_name='wallet', postgresql_where=sa.text("kind = 'marketplace'"))
    op.drop_constraint('wallet_at_provider_key', 'wallet')
    op.create_unique_constraint('wallet_provider_wallet_id_key', 'wallet', ['provider_wallet_id'])
    op.drop_table('wallet_opening')
