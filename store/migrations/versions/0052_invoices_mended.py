"""Invoices mended: accounts, and the VAT that fees were taken with."""

import sqlalchemy as sa
from alembic import op

revision = '0052'
down_revision = '0051'
branch_labels = None
depends_on = None

OF_NOBODY = """
    UPDATE ledger_account SET partner_id = NULL
    WHERE partner_id IS NOT NULL AND owner_id IS NULL AND owner_uuid IS NULL
"""
"""A credit note could open the marketplace's account as one of the partner that it was for."""

OF_ATTEMPTS = """
    UPDATE {charged} a SET commission_vat_rate = r.vat_rate FROM fee_rule r
    WHERE r.id = a.fee_rule_id AND a.commission_vat_amount > 0 AND a.commission_vat_rate = 0
"""
"""Checkouts that were open when the rate was first stored, and what they led to, have the rate of their rule."""
BY_AMOUNTS = """
    UPDATE payment SET commission_vat_rate = round(100 * commission_vat_amount / (commission_amount - commission_vat_amount), 1)
    WHERE commission_vat_amount > 0 AND commission_amount > commission_vat_amount AND abs(commission_vat_amount
        - (commission_amount - commission_vat_amount) * commission_vat_rate / 100) > 0.01
"""
"""The rule of an old payment may have had another rate then."""
CHARGED = ("checkout_attempt", "payment", "network_gift_card_usage", "network_voucher_usage")
ABROAD = """
    UPDATE {charged} c SET is_reverse_charge = true FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    WHERE p.id = c.partner_id AND c.commission_vat_amount = 0 AND {charged_fees} > 0
        AND p.vat_id ~ '^[A-Z]{{2}}[0-9]' AND m.invoicer_vat_id ~ '^[A-Z]{{2}}[0-9]' AND left(p.vat_id, 2) <> left(m.invoicer_vat_id, 2)
        AND NOT ARRAY[left(p.vat_id, 2), left(m.invoicer_vat_id, 2)] && ARRAY['GB', 'CH', 'NO', 'EU', 'IM', 'XI']
"""


def upgrade() -> None:
    op.execute(OF_NOBODY)
    for table in CHARGED[:2]:
        op.execute(OF_ATTEMPTS.format(charged=table))
    op.execute(BY_AMOUNTS)
    for table in CHARGED:
        op.add_column(table, sa.Column('is_reverse_charge', sa.Boolean(), server_default='false', nullable=False))
        op.alter_column(table, 'is_reverse_charge', existing_type=sa.Boolean(), server_default=None, existing_nullable=False)
        fees = 'c.commission_amount' if table in CHARGED[:2] else 'c.commission_amount + c.management_fee_amount'
        op.execute(ABROAD.format(charged=table, charged_fees=fees))


def downgrade() -> None:
    for table in reversed(CHARGED):
        op.drop_column(table, 'is_reverse_charge')
