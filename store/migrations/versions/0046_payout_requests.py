"""Payout requests."""

import sqlalchemy as sa
from alembic import op

revision = '0046'
down_revision = '0045'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('payout_schedule',
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('first_day', sa.Date(), nullable=False),
    sa.Column('gathered_until', sa.Date(), nullable=False),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('payout_schedule_book_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payout_schedule_partner_id_fkey')),
    sa.PrimaryKeyConstraint('partner_id', 'book_id', name=op.f('payout_schedule_pkey'))
    )
    op.create_table('payout_request',
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('payout_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('first_day', sa.Date(), nullable=False),
    sa.Column('last_day', sa.Date(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('validated_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('paid_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('returned_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('detail', sa.String(300), nullable=False),
    sa.Column('bank_account_iban', sa.String(34), nullable=False),
    sa.Column('bank_account_bic', sa.String(11), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('bank_account_id', sa.Integer(), nullable=True),
    sa.Column('wallet_id', sa.Integer(), nullable=True),
    sa.Column('network_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('recovered_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('settlement_key', sa.Uuid(), nullable=False),
    sa.Column('settlement_sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('settled_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('failure_code', sa.String(20), nullable=False),
    sa.CheckConstraint("(status IN ('to be validated', 'cancelled')) = (validated_on IS NULL)", name=op.f('payout_request_is_validated_once')),
    sa.CheckConstraint("network_amount BETWEEN 0 AND payout_amount OR status = 'cancelled'", name=op.f('payout_request_network_part')),
    sa.CheckConstraint("payout_amount > 0 OR status IN ('to be validated', 'cancelled')", name=op.f('payout_request_pays_something')),
    sa.CheckConstraint('first_day <= last_day', name=op.f('payout_request_period')),
    sa.CheckConstraint('recovered_amount >= 0', name=op.f('payout_request_recovers')),
    sa.ForeignKeyConstraint(['bank_account_id'], ['bank_account.id'], name=op.f('payout_request_bank_account_id_fkey')),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('payout_request_book_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payout_request_partner_id_fkey')),
    sa.ForeignKeyConstraint(['wallet_id'], ['wallet.id'], name=op.f('payout_request_wallet_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payout_request_pkey'))
    )
    op.create_index('payout_request_created_on_list_idx', 'payout_request', ['partner_id', 'created_on', 'id'])
    op.create_index('payout_request_due_idx', 'payout_request', ['check_on'], postgresql_where=sa.text("status = 'validated'"))
    op.create_index('payout_request_largest_idx', 'payout_request', ['payout_amount', 'id'])
    op.create_index('payout_request_newest_idx', 'payout_request', ['created_on', 'id'])
    op.create_index('payout_request_of_status_idx', 'payout_request', ['status', 'created_on', 'id'])
    op.create_index('payout_request_payout_amount_list_idx', 'payout_request', ['partner_id', 'payout_amount', 'id'])
    op.create_index('payout_request_provider_id_key', 'payout_request', ['provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))
    op.create_index('payout_request_status_list_idx', 'payout_request', ['partner_id', 'status', 'created_on', 'id'])
    op.create_table('former_payout_item',
    sa.Column('payout_request_id', sa.Integer(), nullable=False),
    sa.Column('payable_item_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['payout_request_id'], ['payout_request.id'], name=op.f('former_payout_item_payout_request_id_fkey')),
    sa.PrimaryKeyConstraint('payout_request_id', 'payable_item_id', name=op.f('former_payout_item_pkey'))
    )
    op.drop_column('network_gift_card_usage', 'payout_request_id')
    op.drop_column('network_voucher_usage', 'payout_request_id')
    op.add_column('payable_item', sa.Column('payout_request_id', sa.Integer(), nullable=True))
    op.drop_index('payable_item_due_idx', table_name='payable_item')
    op.create_index(
        'payable_item_due_idx',
        'payable_item',
        ['partner_id', 'payable_on'],
        postgresql_where=sa.text('payout_request_id IS NULL'),
    )
    op.create_index('payable_item_of_payout_idx', 'payable_item', ['payout_request_id'], postgresql_where=sa.text('payout_request_id IS NOT NULL'))
    op.add_column('transfer', sa.Column('provider_id', sa.String(128), server_default='', nullable=False))
    op.alter_column('transfer', 'provider_id',
               existing_type=sa.String(128),
               server_default=None,
               existing_nullable=False)
    op.add_column('transfer', sa.Column('detail', sa.String(300), server_default='', nullable=False))
    op.alter_column('transfer', 'detail',
               existing_type=sa.String(300),
               server_default=None,
               existing_nullable=False)
    op.add_column('transfer', sa.Column('payout_request_id', sa.Integer(), nullable=True))
    op.create_index('transfer_of_payout_idx', 'transfer', ['payout_request_id'], postgresql_where=sa.text('payout_request_id IS NOT NULL'))
    op.create_index('transfer_provider_id_key', 'transfer', ['provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))


def downgrade() -> None:
    op.drop_index('transfer_provider_id_key', table_name='transfer')
    op.drop_index('transfer_of_payout_idx', table_name='transfer')
    op.drop_column('transfer', 'payout_request_id')
    op.drop_column('transfer', 'detail')
    op.drop_column('transfer', 'provider_id')
    op.drop_index('payable_item_of_payout_idx', table_name='payable_item')
    op.drop_index('payable_item_due_idx', table_name='payable_item')
    op.create_index('payable_item_due_idx', 'payable_item', ['partner_id', 'payable_on'])
    op.drop_column('payable_item', 'payout_request_id')
    for table in ('network_voucher_usage', 'network_gift_card_usage'):
        op.add_column(table, sa.Column('payout_request_id', sa.Integer(), nullable=True))
        op.create_check_constraint(f'{table}_pays_out_active_ones', table, 'is_active OR payout_request_id IS NULL')
    op.drop_table('former_payout_item')
    op.drop_index('payout_request_status_list_idx', table_name='payout_request')
    op.drop_index('payout_request_provider_id_key', table_name='payout_request')
    op.drop_index('payout_request_payout_amount_list_idx', table_name='payout_request')
    op.drop_index('payout_request_of_status_idx', table_name='payout_request')
    op.drop_index('payout_request_newest_idx', table_name='payout_request')
    op.drop_index('payout_request_largest_idx', table_name='payout_request')
    op.drop_index('payout_request_due_idx', table_name='payout_request')
    op.drop_index('payout_request_created_on_list_idx', table_name='payout_request')
    op.drop_table('payout_request')
    op.drop_table('payout_schedule')
