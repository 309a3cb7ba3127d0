"""Payments with their sources, movements and refunds, payment requests, transfers and fee rules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0024'
down_revision = '0023'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('fee_rule',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('product', sa.String(80), nullable=True),
    sa.Column('origin', sa.String(80), nullable=True),
    sa.Column('percentage', sa.Numeric(precision=5, scale=2), nullable=False),
    sa.Column('fixed_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('vat_rate', sa.Numeric(precision=5, scale=2), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.CheckConstraint('fixed_amount >= 0', name=op.f('fee_rule_fixed_amount')),
    sa.CheckConstraint('percentage BETWEEN 0 AND 100', name=op.f('fee_rule_percentage')),
    sa.CheckConstraint('vat_rate BETWEEN 0 AND 100', name=op.f('fee_rule_vat_rate')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('fee_rule_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('fee_rule_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('fee_rule_pkey'))
    )
    op.create_index('fee_rule_key', 'fee_rule', ['marketplace_id', 'partner_id', 'product', 'origin'], unique=True, postgresql_where='is_active', postgresql_nulls_not_distinct=True)
    op.create_table('payment_request',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('code', sa.String(40), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('request_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('language', sa.String(2), nullable=False),
    sa.Column('reference', sa.String(80), nullable=False),
    sa.Column('description', sa.String(1000), nullable=False),
    sa.Column('origin', sa.String(80), nullable=False),
    sa.Column('product', sa.String(80), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('modified_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('reminded_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('customer_first_name', sa.String(80), nullable=False),
    sa.Column('customer_last_name', sa.String(80), nullable=False),
    sa.Column('customer_email', sa.String(254), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('link_token', sa.String(64), nullable=False),
    sa.Column('invoicing_marketplace_id', sa.Integer(), nullable=True),
    sa.CheckConstraint('request_amount > 0', name=op.f('payment_request_asks_for_something')),
    sa.ForeignKeyConstraint(['invoicing_marketplace_id'], ['marketplace.id'], name=op.f('payment_request_invoicing_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payment_request_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payment_request_pkey')),
    sa.UniqueConstraint('code', name=op.f('payment_request_code_key')),
    sa.UniqueConstraint('link_token', name='payment_request_link_token_key')
    )
    op.create_index('payment_request_created_on_list_idx', 'payment_request', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('payment_request_due_idx', 'payment_request', ['expires_on', 'id'], unique=False, postgresql_where=sa.text("status = 'pending'"))
    op.create_index('payment_request_newest_idx', 'payment_request', ['created_on', 'id'], unique=False)
    op.create_table('payment',
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('type', sa.String(20), nullable=False),
    sa.Column('payment_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('discount_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('card_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('extra_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('commission_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('net_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('refunded_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('product', sa.String(80), nullable=False),
    sa.Column('origin', sa.String(80), nullable=False),
    sa.Column('description', sa.String(500), nullable=False),
    sa.Column('language', sa.String(2), nullable=False),
    sa.Column('freeze_payout_date', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('modified_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('payin_result_code', sa.String(20), nullable=False),
    sa.Column('payin_result_message', sa.String(200), nullable=False),
    sa.Column('customer_first_name', sa.String(80), nullable=False),
    sa.Column('customer_last_name', sa.String(80), nullable=False),
    sa.Column('customer_email', sa.String(254), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('wallet_id', sa.Integer(), nullable=True),
    sa.Column('order_id', sa.Integer(), nullable=True),
    sa.Column('attempt_id', sa.Uuid(), nullable=True),
    sa.Column('customer_id', sa.Integer(), nullable=True),
    sa.Column('payment_request_id', sa.Integer(), nullable=True),
    sa.Column('fee_rule_id', sa.Integer(), nullable=True),
    sa.Column('commission_vat_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('link_token', sa.String(64), nullable=True),
    sa.Column('document_token', sa.String(64), nullable=False),
    sa.Column('round', sa.Integer(), nullable=False),
    sa.CheckConstraint('net_amount = payment_amount - commission_amount', name=op.f('payment_is_net')),
    sa.CheckConstraint('payment_amount = card_amount + extra_amount', name=op.f('payment_adds_up')),
    sa.CheckConstraint('payment_amount > 0', name=op.f('payment_pays_something')),
    sa.CheckConstraint('refunded_amount BETWEEN 0 AND payment_amount', name=op.f('payment_refunds_no_more')),
    sa.ForeignKeyConstraint(['attempt_id'], ['checkout_attempt.id'], name=op.f('payment_attempt_id_fkey')),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('payment_book_id_fkey')),
    sa.ForeignKeyConstraint(['customer_id'], ['customer.id'], name=op.f('payment_customer_id_fkey')),
    sa.ForeignKeyConstraint(['fee_rule_id'], ['fee_rule.id'], name=op.f('payment_fee_rule_id_fkey')),
    sa.ForeignKeyConstraint(['order_id'], ['shop_order.id'], name=op.f('payment_order_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payment_partner_id_fkey')),
    sa.ForeignKeyConstraint(['payment_request_id'], ['payment_request.id'], name=op.f('payment_payment_request_id_fkey')),
    sa.ForeignKeyConstraint(['wallet_id'], ['wallet.id'], name=op.f('payment_wallet_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payment_pkey')),
    sa.UniqueConstraint('attempt_id', name='payment_attempt_key'),
    sa.UniqueConstraint('document_token', name='payment_document_token_key'),
    sa.UniqueConstraint('link_token', name='payment_link_token_key')
    )
    op.create_index('payment_created_on_list_idx', 'payment', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('payment_customer_email_idx', 'payment', [sa.literal_column('lower(customer_email)'), 'partner_id'], unique=False)
    op.create_index(op.f('payment_customer_id_idx'), 'payment', ['customer_id'], unique=False)
    op.create_index('payment_due_idx', 'payment', ['check_on'], unique=False, postgresql_where=sa.text("status IN ('ip', 'err')"))
    op.create_index('payment_newest_idx', 'payment', ['created_on', 'id'], unique=False)
    op.create_index(op.f('payment_order_id_idx'), 'payment', ['order_id'], unique=False)
    op.create_index('payment_payment_amount_list_idx', 'payment', ['partner_id', 'payment_amount', 'id'], unique=False)
    op.create_index(op.f('payment_payment_request_id_idx'), 'payment', ['payment_request_id'], unique=False)
    op.create_index('payment_status_list_idx', 'payment', ['partner_id', 'status', 'created_on', 'id'], unique=False)
    op.create_index(op.f('payment_wallet_id_idx'), 'payment', ['wallet_id'], unique=False)
    op.create_table('payment_source',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('source_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('refunded_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('gift_card_id', sa.Integer(), nullable=True),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('payment_id', sa.Uuid(), nullable=False),
    sa.Column('wallet_id', sa.Integer(), nullable=True),
    sa.Column('commission_back_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('commission_vat_back_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.CheckConstraint("(kind = 'credit_card') = (wallet_id IS NULL)", name=op.f('payment_source_has_wallet')),
    sa.CheckConstraint('refunded_amount BETWEEN 0 AND source_amount', name=op.f('payment_source_refunds_no_more')),
    sa.CheckConstraint('source_amount > 0', name=op.f('payment_source_pays_something')),
    sa.ForeignKeyConstraint(['gift_card_id'], ['gift_card.id'], name=op.f('payment_source_gift_card_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payment_source_partner_id_fkey')),
    sa.ForeignKeyConstraint(['payment_id'], ['payment.id'], name=op.f('payment_source_payment_id_fkey')),
    sa.ForeignKeyConstraint(['wallet_id'], ['wallet.id'], name=op.f('payment_source_wallet_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payment_source_pkey'))
    )
    op.create_index(op.f('payment_source_partner_id_idx'), 'payment_source', ['partner_id'], unique=False)
    op.create_index(op.f('payment_source_payment_id_idx'), 'payment_source', ['payment_id'], unique=False)
    op.create_index(op.f('payment_source_wallet_id_idx'), 'payment_source', ['wallet_id'], unique=False)
    op.create_table('refund',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('origin', sa.String(20), nullable=False),
    sa.Column('refund_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('reason', sa.String(200), nullable=False),
    sa.Column('detail', sa.String(300), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('payment_id', sa.Uuid(), nullable=False),
    sa.CheckConstraint('refund_amount > 0', name=op.f('refund_refunds_something')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('refund_partner_id_fkey')),
    sa.ForeignKeyConstraint(['payment_id'], ['payment.id'], name=op.f('refund_payment_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('refund_pkey'))
    )
    op.create_index('refund_open_idx', 'refund', ['state', 'created_on'], unique=False, postgresql_where=sa.text("state IN ('pending', 'needs_action')"))
    op.create_index(op.f('refund_partner_id_idx'), 'refund', ['partner_id'], unique=False)
    op.create_index(op.f('refund_payment_id_idx'), 'refund', ['payment_id'], unique=False)
    op.create_table('transfer',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('type', sa.String(20), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('transfer_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('payment_id', sa.Uuid(), nullable=True),
    sa.Column('debited_wallet_id', sa.Integer(), nullable=True),
    sa.Column('credited_wallet_id', sa.Integer(), nullable=True),
    sa.CheckConstraint('num_nonnulls(debited_wallet_id, credited_wallet_id) > 0', name=op.f('transfer_has_wallet')),
    sa.CheckConstraint('transfer_amount > 0', name=op.f('transfer_moves_something')),
    sa.ForeignKeyConstraint(['credited_wallet_id'], ['wallet.id'], name=op.f('transfer_credited_wallet_id_fkey')),
    sa.ForeignKeyConstraint(['debited_wallet_id'], ['wallet.id'], name=op.f('transfer_debited_wallet_id_fkey')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('transfer_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('transfer_partner_id_fkey')),
    sa.ForeignKeyConstraint(['payment_id'], ['payment.id'], name=op.f('transfer_payment_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('transfer_pkey'))
    )
    op.create_index('transfer_credited_idx', 'transfer', ['credited_wallet_id', 'created_on', 'id'], unique=False)
    op.create_index('transfer_debited_idx', 'transfer', ['debited_wallet_id', 'created_on', 'id'], unique=False)
    op.create_index(op.f('transfer_partner_id_idx'), 'transfer', ['partner_id'], unique=False)
    op.create_index(op.f('transfer_payment_id_idx'), 'transfer', ['payment_id'], unique=False)
    op.create_table('payment_transaction',
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('type', sa.String(20), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('payment_method', sa.String(20), nullable=False),
    sa.Column('transaction_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('commission_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('net_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('executed_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('result_code', sa.String(20), nullable=False),
    sa.Column('result_message', sa.String(200), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('payment_id', sa.Uuid(), nullable=False),
    sa.Column('refund_id', sa.Uuid(), nullable=True),
    sa.Column('source_id', sa.Integer(), nullable=False),
    sa.Column('commission_vat_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('sent_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('payer_id', sa.String(128), nullable=False),
    sa.Column('redirect_url', sa.String(2048), nullable=False),
    sa.Column('link_expires_on', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint('net_amount = transaction_amount - commission_amount', name=op.f('payment_transaction_is_net')),
    sa.CheckConstraint('transaction_amount > 0', name=op.f('payment_transaction_moves_something')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payment_transaction_partner_id_fkey')),
    sa.ForeignKeyConstraint(['payment_id'], ['payment.id'], name=op.f('payment_transaction_payment_id_fkey')),
    sa.ForeignKeyConstraint(['refund_id'], ['refund.id'], name=op.f('payment_transaction_refund_id_fkey')),
    sa.ForeignKeyConstraint(['source_id'], ['payment_source.id'], name=op.f('payment_transaction_source_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payment_transaction_pkey'))
    )
    op.create_index('payment_transaction_due_idx', 'payment_transaction', ['check_on'], unique=False, postgresql_where=sa.text("status = 'ip'"))
    op.create_index('payment_transaction_one_payin_key', 'payment_transaction', ['payment_id'], unique=True, postgresql_where=sa.text("type = 'payin' AND payment_method = 'credit_card' AND status = 'ip'"))
    op.create_index(op.f('payment_transaction_partner_id_idx'), 'payment_transaction', ['partner_id'], unique=False)
    op.create_index(op.f('payment_transaction_payment_id_idx'), 'payment_transaction', ['payment_id'], unique=False)
    op.create_index('payment_transaction_provider_key', 'payment_transaction', ['type', 'provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))
    op.create_index(op.f('payment_transaction_refund_id_idx'), 'payment_transaction', ['refund_id'], unique=False)
    op.add_column('checkout_attempt', sa.Column('commission_amount', sa.Numeric(precision=12, scale=2), server_default='0.00', nullable=False))
    op.alter_column('checkout_attempt', 'commission_amount',
               existing_type=sa.Numeric(precision=12, scale=2),
               server_default=None,
               existing_nullable=False)
    op.add_column('checkout_attempt', sa.Column('commission_vat_amount', sa.Numeric(precision=12, scale=2), server_default='0.00', nullable=False))
    op.alter_column('checkout_attempt', 'commission_vat_amount',
               existing_type=sa.Numeric(precision=12, scale=2),
               server_default=None,
               existing_nullable=False)
    op.add_column('checkout_attempt', sa.Column('fee_rule_id', sa.Integer(), nullable=True))
    op.create_foreign_key(op.f('checkout_attempt_fee_rule_id_fkey'), 'checkout_attempt', 'fee_rule', ['fee_rule_id'], ['id'])


def downgrade() -> None:
    op.drop_constraint(op.f('checkout_attempt_fee_rule_id_fkey'), 'checkout_attempt', type_='foreignkey')
    op.drop_column('checkout_attempt', 'fee_rule_id')
    op.drop_column('checkout_attempt', 'commission_vat_amount')
    op.drop_column('checkout_attempt', 'commission_amount')
    op.drop_index(op.f('payment_transaction_refund_id_idx'), table_name='payment_transaction')
    op.drop_index('payment_transaction_provider_key', table_name='payment_transaction', postgresql_where=sa.text("provider_id <> ''"))
    op.drop_index(op.f('payment_transaction_payment_id_idx'), table_name='payment_transaction')
    op.drop_index(op.f('payment_transaction_partner_id_idx'), table_name='payment_transaction')
    op.drop_index('payment_transaction_one_payin_key', table_name='payment_transaction', postgresql_where=sa.text("type = 'payin' AND payment_method = 'credit_card' AND status = 'ip'"))
    op.drop_index('payment_transaction_due_idx', table_name='payment_transaction', postgresql_where=sa.text("status = 'ip'"))
    op.drop_table('payment_transaction')
    op.drop_index(op.f('transfer_payment_id_idx'), table_name='transfer')
    op.drop_index(op.f('transfer_partner_id_idx'), table_name='transfer')
    op.drop_index('transfer_debited_idx', table_name='transfer')
    op.drop_index('transfer_credited_idx', table_name='transfer')
    op.drop_table('transfer')
    op.drop_index(op.f('refund_payment_id_idx'), table_name='refund')
    op.drop_index(op.f('refund_partner_id_idx'), table_name='refund')
    op.drop_index('refund_open_idx', table_name='refund', postgresql_where=sa.text("state IN ('pending', 'needs_action')"))
    op.drop_table('refund')
    op.drop_index(op.f('payment_source_wallet_id_idx'), table_name='payment_source')
    op.drop_index(op.f('payment_source_payment_id_idx'), table_name='payment_source')
    op.drop_index(op.f('payment_source_partner_id_idx'), table_name='payment_source')
    op.drop_table('payment_source')
    op.drop_index(op.f('payment_wallet_id_idx'), table_name='payment')
    op.drop_index('payment_status_list_idx', table_name='payment')
    op.drop_index(op.f('payment_payment_request_id_idx'), table_name='payment')
    op.drop_index('payment_payment_amount_list_idx', table_name='payment')
    op.drop_index(op.f('payment_order_id_idx'), table_name='payment')
    op.drop_index('payment_newest_idx', table_name='payment')
    op.drop_index('payment_due_idx', table_name='payment', postgresql_where=sa.text("status IN ('ip', 'err')"))
    op.drop_index(op.f('payment_customer_id_idx'), table_name='payment')
    op.drop_index('payment_customer_email_idx', table_name='payment')
    op.drop_index('payment_created_on_list_idx', table_name='payment')
    op.drop_table('payment')
    op.drop_index('payment_request_newest_idx', table_name='payment_request')
    op.drop_index('payment_request_due_idx', table_name='payment_request', postgresql_where=sa.text("status = 'pending'"))
    op.drop_index('payment_request_created_on_list_idx', table_name='payment_request')
    op.drop_table('payment_request')
    op.drop_index('fee_rule_key', table_name='fee_rule', postgresql_where='is_active', postgresql_nulls_not_distinct=True)
    op.drop_table('fee_rule')
