"""Network vouchers and their usages."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0038'
down_revision = '0037'
branch_labels = None
depends_on = None

AMOUNT = sa.Numeric(precision=12, scale=2)
RATE = sa.Numeric(precision=5, scale=2)
USABLE = "status IN ('paid', 'using', 'test')"
EMAILS = "array_remove(ARRAY[lower(gifter_email)::text, lower(coalesce(giftee_email, ''))::text], '')"
INDEXES = {
    'network_voucher': {
        'box_id_idx': ('box_id',),
        'order_id_idx': ('order_id',),
        'created_on_list_idx': ('marketplace_id', 'created_on', 'id'),
        'expires_on_list_idx': ('marketplace_id', 'expires_on', 'id'),
        'status_list_idx': ('marketplace_id', 'status', 'created_on', 'id'),
        'newest_idx': ('created_on', 'id'),
        'ending_idx': ('expires_on', 'id'),
    },
    'network_voucher_usage': {
        'network_voucher_id_idx': ('network_voucher_id',),
        'newest_idx': ('used_on', 'id'),
        'used_on_list_idx': ('partner_id', 'used_on', 'id'),
    },
}


def upgrade() -> None:
    op.create_table('network_voucher',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('code', sa.String(40), nullable=False),
        sa.Column('status', sa.String(20), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('starts_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('expires_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('price_amount', AMOUNT, nullable=False),
        sa.Column('used_amount', AMOUNT, nullable=False),
        sa.Column('max_usages', sa.Integer(), nullable=False),
        sa.Column('usage_count', sa.Integer(), nullable=False),
        sa.Column('max_days_after_first_usage', sa.Integer(), nullable=False),
        sa.Column('first_used_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('usable_until', sa.DateTime(timezone=True), nullable=True),
        sa.Column('is_active', sa.Boolean(), nullable=False),
        sa.Column('frozen_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('message', sa.String(1000), nullable=True),
        sa.Column('language', sa.String(2), nullable=False),
        sa.Column('box_id', sa.Integer(), nullable=False),
        sa.Column('order_id', sa.Integer(), nullable=True),
        sa.Column('giftee_first_name', sa.String(80), nullable=True),
        sa.Column('giftee_last_name', sa.String(80), nullable=True),
        sa.Column('giftee_email', sa.String(254), nullable=True),
        sa.Column('recipient_address', sa.String(600), nullable=True),
        sa.Column('gifter_first_name', sa.String(80), nullable=False),
        sa.Column('gifter_last_name', sa.String(80), nullable=False),
        sa.Column('gifter_email', sa.String(254), nullable=False),
        sa.Column('currency', sa.String(3), nullable=False),
        sa.Column('marketplace_id', sa.Integer(), nullable=False),
        sa.Column('uuid', sa.Uuid(), nullable=False),
        sa.Column('is_test', sa.Boolean(), nullable=False),
        sa.Column('normal_code', sa.String(40), nullable=False),
        sa.Column('unowed_amount', AMOUNT, nullable=False),
        sa.Column('usages_elsewhere', sa.Integer(), nullable=False),
        sa.Column('used_elsewhere_amount', AMOUNT, nullable=False),
        sa.Column('first_used_elsewhere_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('book_id', sa.Integer(), nullable=False),
        sa.Column('document_token', sa.String(64), nullable=False),
        sa.Column('emails', postgresql.ARRAY(sa.String()), sa.Computed(EMAILS, persisted=True), nullable=False),
        sa.CheckConstraint('(usage_count = 0) = (first_used_on IS NULL)', name=op.f('network_voucher_has_first_usage')),
        sa.CheckConstraint('max_usages >= 1 AND max_days_after_first_usage >= 0', name=op.f('network_voucher_limits_in_range')),
        sa.CheckConstraint('unowed_amount BETWEEN 0 AND price_amount - used_amount', name=op.f('network_voucher_owes_no_less_than_nothing')),
        sa.CheckConstraint('usage_count BETWEEN 0 AND max_usages', name=op.f('network_voucher_uses_no_more')),
        sa.CheckConstraint('usages_elsewhere BETWEEN 0 AND usage_count', name=op.f('network_voucher_counts_usages_elsewhere')),
        sa.CheckConstraint('used_amount BETWEEN 0 AND price_amount', name=op.f('network_voucher_uses_no_more_than_its_price')),
        sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('network_voucher_book_id_fkey')),
        sa.ForeignKeyConstraint(['box_id'], ['box.id'], name=op.f('network_voucher_box_id_fkey')),
        sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('network_voucher_marketplace_id_fkey')),
        sa.ForeignKeyConstraint(['order_id'], ['shop_order.id'], name=op.f('network_voucher_order_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('network_voucher_pkey')),
        sa.UniqueConstraint('document_token', name='network_voucher_document_token_key'),
        sa.UniqueConstraint('normal_code', name='network_voucher_code_key'),
        sa.UniqueConstraint('uuid', name=op.f('network_voucher_uuid_key'))
    )
    op.create_table('network_voucher_usage',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('used_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('recorded_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('value_amount', AMOUNT, nullable=False),
        sa.Column('management_fee_amount', AMOUNT, nullable=False),
        sa.Column('management_fee_vat_amount', AMOUNT, nullable=False),
        sa.Column('commission_rate', RATE, nullable=False),
        sa.Column('commission_amount', AMOUNT, nullable=False),
        sa.Column('commission_vat_amount', AMOUNT, nullable=False),
        sa.Column('fees_paid_by', sa.String(20), nullable=False),
        sa.Column('net_amount', AMOUNT, nullable=False),
        sa.Column('is_active', sa.Boolean(), nullable=False),
        sa.Column('cancelled_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('comment', sa.String(500), nullable=False),
        sa.Column('reservation_id', sa.String(80), nullable=False),
        sa.Column('freeze_payout_date', sa.DateTime(timezone=True), nullable=True),
        sa.Column('network_voucher_id', sa.Integer(), nullable=False),
        sa.Column('offer_id', sa.Integer(), nullable=True),
        sa.Column('currency', sa.String(3), nullable=False),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('fee_rule_id', sa.Integer(), nullable=True),
        sa.Column('payout_request_id', sa.Integer(), nullable=True),
        sa.CheckConstraint('is_active = (cancelled_on IS NULL)', name=op.f('network_voucher_usage_is_cancelled_once')),
        sa.CheckConstraint('is_active OR payout_request_id IS NULL', name=op.f('network_voucher_usage_pays_out_active_ones')),
        sa.CheckConstraint('net_amount BETWEEN 0 AND value_amount', name=op.f('network_voucher_usage_earns_no_more')),
        sa.CheckConstraint('value_amount >= 0', name=op.f('network_voucher_usage_takes_no_less_than_nothing')),
        sa.ForeignKeyConstraint(['fee_rule_id'], ['fee_rule.id'], name=op.f('network_voucher_usage_fee_rule_id_fkey')),
        sa.ForeignKeyConstraint(['network_voucher_id'], ['network_voucher.id'], name=op.f('network_voucher_usage_network_voucher_id_fkey')),
        sa.ForeignKeyConstraint(['offer_id'], ['offer.id'], name=op.f('network_voucher_usage_offer_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('network_voucher_usage_partner_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('network_voucher_usage_pkey'))
    )
    for table, indexes in INDEXES.items():
        for name, columns in indexes.items():
            op.create_index(f'{table}_{name}', table, columns)
    op.create_index('network_voucher_due_idx', 'network_voucher', ('expires_on', 'id'), postgresql_where=sa.text(USABLE))
    op.create_index('network_voucher_emails_idx', 'network_voucher', ('emails',), postgresql_using='gin')


REFUSE = """
    DO $$ BEGIN
        IF EXISTS (SELECT FROM network_voucher) THEN
            RAISE EXCEPTION 'There are network vouchers, which the ledger counts: this revision cannot be undone.';
        END IF;
    END $$
"""


def downgrade() -> None:
    op.execute(REFUSE)
    op.drop_table('network_voucher_usage')
    op.drop_table('network_voucher')
