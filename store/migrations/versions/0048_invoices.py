"""Invoices."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0048'
down_revision = '0047'
branch_labels = None
depends_on = None

OF_PAYMENTS = """
    UPDATE payment p SET commission_vat_rate = r.vat_rate FROM fee_rule r
    WHERE r.id = p.fee_rule_id AND p.commission_vat_amount > 0
"""
"""The rate of old payments is that of their rule. Where the rule has changed since, it is that of today."""
OF_USAGES = """
    UPDATE {usages} u SET fees_vat_rate = coalesce(r.vat_rate, m.{prefix}_vat_rate)
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id, {usages} o LEFT JOIN fee_rule r ON r.id = o.fee_rule_id
    WHERE o.id = u.id AND p.id = u.partner_id AND u.commission_vat_amount + u.management_fee_vat_amount > 0
"""
OF_CARD_USAGES = OF_USAGES.format(usages="network_gift_card_usage", prefix="network_gift_card")
OF_VOUCHER_USAGES = OF_USAGES.format(usages="network_voucher_usage", prefix="network_voucher")
LINE = "id, invoice_id, position, kind, count, vat_category, vat_rate, net_amount, vat_amount, total_amount, currency"
FINAL = """
    CREATE FUNCTION invoice_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'What is issued is never changed: correct an invoice by a credit note.'; END $$
"""


def upgrade() -> None:
    op.create_table('invoice_series',
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('last_number', sa.Integer(), nullable=False),
    sa.Column('invoiced_until', sa.Date(), nullable=True),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('invoice_series_marketplace_id_fkey')),
    sa.PrimaryKeyConstraint('marketplace_id', name=op.f('invoice_series_pkey'))
    )
    op.create_table('invoice',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('number', sa.String(30), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('invoicing_date', sa.Date(), nullable=False),
    sa.Column('first_day', sa.Date(), nullable=False),
    sa.Column('last_day', sa.Date(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('net_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('vat_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('total_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('reason', sa.String(300), nullable=False),
    sa.Column('customer_marketplace_id', sa.Integer(), nullable=True),
    sa.Column('provider_invoicer_id', sa.Integer(), nullable=True),
    sa.Column('customer_company_name', sa.String(120), nullable=False),
    sa.Column('customer_address_line_1', sa.String(255), nullable=False),
    sa.Column('customer_address_line_2', sa.String(255), nullable=False),
    sa.Column('customer_postal_code', sa.String(20), nullable=False),
    sa.Column('customer_city', sa.String(120), nullable=False),
    sa.Column('customer_country_code', sa.String(2), nullable=False),
    sa.Column('customer_registration_number', sa.String(40), nullable=False),
    sa.Column('customer_vat_id', sa.String(40), nullable=False),
    sa.Column('issuer_company_name', sa.String(120), nullable=False),
    sa.Column('issuer_address_line_1', sa.String(255), nullable=False),
    sa.Column('issuer_postal_code', sa.String(20), nullable=False),
    sa.Column('issuer_city', sa.String(120), nullable=False),
    sa.Column('issuer_country_code', sa.String(2), nullable=False),
    sa.Column('issuer_registration_number', sa.String(40), nullable=False),
    sa.Column('issuer_vat_id', sa.String(40), nullable=False),
    sa.Column('issuer_exemption_reason', sa.String(200), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('sequence_number', sa.Integer(), nullable=False),
    sa.Column('corrects_id', sa.Uuid(), nullable=True),
    sa.Column('language', sa.String(2), nullable=False),
    sa.CheckConstraint("(kind = 'invoice') = (total_amount > 0) AND total_amount <> 0", name=op.f('invoice_sign')),
    sa.CheckConstraint("corrects_id IS NULL OR kind = 'credit_note'", name=op.f('invoice_corrects')),
    sa.CheckConstraint('(partner_id IS NULL) <> (customer_marketplace_id IS NULL)', name=op.f('invoice_one_customer')),
    sa.CheckConstraint('first_day <= last_day', name=op.f('invoice_period')),
    sa.CheckConstraint('net_amount + vat_amount = total_amount', name=op.f('invoice_is_a_sum')),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('invoice_book_id_fkey')),
    sa.ForeignKeyConstraint(['corrects_id'], ['invoice.id'], name=op.f('invoice_corrects_id_fkey')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('invoice_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('invoice_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('invoice_pkey')),
    sa.UniqueConstraint('marketplace_id', 'sequence_number', name='invoice_sequence_key')
    )
    op.create_index('invoice_corrects_idx', 'invoice', ['corrects_id'], unique=False, postgresql_where=sa.text('corrects_id IS NOT NULL'))
    op.create_index('invoice_created_on_list_idx', 'invoice', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('invoice_largest_idx', 'invoice', ['total_amount', 'id'], unique=False)
    op.create_index('invoice_newest_idx', 'invoice', ['created_on', 'id'], unique=False)
    op.create_index('invoice_of_marketplace_idx', 'invoice', ['marketplace_id', 'created_on', 'id'], unique=False)
    op.create_index('invoice_total_amount_list_idx', 'invoice', ['partner_id', 'total_amount', 'id'], unique=False)
    op.create_table('invoice_line',
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('invoice_id', sa.Uuid(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('vat_category', sa.String(2), nullable=False),
    sa.Column('vat_rate', sa.Numeric(precision=5, scale=2), nullable=False),
    sa.Column('net_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('vat_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('total_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('credited_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.CheckConstraint("vat_rate = 0 OR vat_category = 'S'", name=op.f('invoice_line_vat_rate')),
    sa.CheckConstraint('credited_amount BETWEEN 0 AND greatest(total_amount, 0)', name=op.f('invoice_line_credits_no_more')),
    sa.CheckConstraint('net_amount + vat_amount = total_amount', name=op.f('invoice_line_is_a_sum')),
    sa.ForeignKeyConstraint(['invoice_id'], ['invoice.id'], name=op.f('invoice_line_invoice_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('invoice_line_pkey')),
    sa.UniqueConstraint('invoice_id', 'position', name='invoice_line_key')
    )
    op.create_table('invoiced_fee',
    sa.Column('journal_id', sa.BigInteger(), nullable=False),
    sa.Column('invoice_line_id', sa.Integer(), nullable=False),
    sa.Column('amount', sa.BigInteger(), nullable=False),
    sa.Column('vat', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['invoice_line_id'], ['invoice_line.id'], name=op.f('invoiced_fee_invoice_line_id_fkey')),
    sa.PrimaryKeyConstraint('journal_id', name=op.f('invoiced_fee_pkey'))
    )
    op.create_index(op.f('invoiced_fee_invoice_line_id_idx'), 'invoiced_fee', ['invoice_line_id'], unique=False)
    op.add_column('checkout_attempt', sa.Column('commission_vat_rate', sa.Numeric(precision=5, scale=2), server_default='0.00', nullable=False))
    op.alter_column('checkout_attempt', 'commission_vat_rate',
               existing_type=sa.Numeric(precision=5, scale=2),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_company_name', sa.String(120), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_company_name',
               existing_type=sa.String(120),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_address_line_1', sa.String(255), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_address_line_1',
               existing_type=sa.String(255),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_postal_code', sa.String(20), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_postal_code',
               existing_type=sa.String(20),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_city', sa.String(120), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_city',
               existing_type=sa.String(120),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_country_code', sa.String(2), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_country_code',
               existing_type=sa.String(2),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_registration_number', sa.String(40), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_registration_number',
               existing_type=sa.String(40),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_vat_id', sa.String(40), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_vat_id',
               existing_type=sa.String(40),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_exemption_reason', sa.String(200), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_exemption_reason',
               existing_type=sa.String(200),
               server_default=None,
               existing_nullable=False)
    op.add_column('marketplace', sa.Column('invoicer_starts_on', sa.Date(), nullable=True))
    op.add_column('marketplace', sa.Column('invoicer_number_prefix', sa.String(10), server_default='', nullable=False))
    op.alter_column('marketplace', 'invoicer_number_prefix',
               existing_type=sa.String(10),
               server_default=None,
               existing_nullable=False)
    op.add_column('network_gift_card_usage', sa.Column('fees_vat_rate', sa.Numeric(precision=5, scale=2), server_default='0.00', nullable=False))
    op.alter_column('network_gift_card_usage', 'fees_vat_rate',
               existing_type=sa.Numeric(precision=5, scale=2),
               server_default=None,
               existing_nullable=False)
    op.add_column('network_voucher_usage', sa.Column('fees_vat_rate', sa.Numeric(precision=5, scale=2), server_default='0.00', nullable=False))
    op.alter_column('network_voucher_usage', 'fees_vat_rate',
               existing_type=sa.Numeric(precision=5, scale=2),
               server_default=None,
               existing_nullable=False)
    op.add_column('payment', sa.Column('commission_vat_rate', sa.Numeric(precision=5, scale=2), server_default='0.00', nullable=False))
    op.alter_column('payment', 'commission_vat_rate',
               existing_type=sa.Numeric(precision=5, scale=2),
               server_default=None,
               existing_nullable=False)
    for statement in (OF_PAYMENTS, OF_CARD_USAGES, OF_VOUCHER_USAGES):
        op.execute(statement)
    op.execute(FINAL)
    op.execute("CREATE TRIGGER is_final BEFORE UPDATE OR DELETE ON invoice FOR EACH ROW EXECUTE FUNCTION invoice_is_final()")
    op.execute("CREATE TRIGGER is_final BEFORE UPDATE OR DELETE ON invoiced_fee FOR EACH ROW EXECUTE FUNCTION invoice_is_final()")
    op.execute(f"""
        CREATE TRIGGER is_final BEFORE DELETE OR UPDATE OF {LINE} ON invoice_line
        FOR EACH ROW EXECUTE FUNCTION invoice_is_final()
    """)


def downgrade() -> None:
    op.drop_column('payment', 'commission_vat_rate')
    op.drop_column('network_voucher_usage', 'fees_vat_rate')
    op.drop_column('network_gift_card_usage', 'fees_vat_rate')
    op.drop_column('marketplace', 'invoicer_number_prefix')
    op.drop_column('marketplace', 'invoicer_starts_on')
    op.drop_column('marketplace', 'invoicer_exemption_reason')
    op.drop_column('marketplace', 'invoicer_vat_id')
    op.drop_column('marketplace', 'invoicer_registration_number')
    op.drop_column('marketplace', 'invoicer_country_code')
    op.drop_column('marketplace', 'invoicer_city')
    op.drop_column('marketplace', 'invoicer_postal_code')
    op.drop_column('marketplace', 'invoicer_address_line_1')
    op.drop_column('marketplace', 'invoicer_company_name')
    op.drop_column('checkout_attempt', 'commission_vat_rate')
    op.drop_index(op.f('invoiced_fee_invoice_line_id_idx'), table_name='invoiced_fee')
    op.drop_table('invoiced_fee')
    op.drop_table('invoice_line')
    op.drop_index('invoice_total_amount_list_idx', table_name='invoice')
    op.drop_index('invoice_of_marketplace_idx', table_name='invoice')
    op.drop_index('invoice_newest_idx', table_name='invoice')
    op.drop_index('invoice_largest_idx', table_name='invoice')
    op.drop_index('invoice_created_on_list_idx', table_name='invoice')
    op.drop_index('invoice_corrects_idx', table_name='invoice', postgresql_where=sa.text('corrects_id IS NOT NULL'))
    op.drop_table('invoice')
    op.drop_table('invoice_series')
    op.execute("DROP FUNCTION invoice_is_final()")
