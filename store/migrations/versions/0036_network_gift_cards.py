"""Gift cards of networks: issued by a marketplace, used at its partners."""

import sqlalchemy as sa
from alembic import op

revision = '0036'
down_revision = '0035'
branch_labels = None
depends_on = None

AMOUNT = sa.Numeric(precision=12, scale=2)
RATE = sa.Numeric(precision=5, scale=2)
SETTINGS = (
    ('validity_months', sa.Integer(), '12'),
    ('management_fee_amount', AMOUNT, '0'),
    ('commission_rate', RATE, '0'),
    ('vat_rate', RATE, '0'),
    ('fees_paid_by', sa.String(20), 'partner'),
    ('books_breakage', sa.Boolean(), 'false'),
)
OF_MARKETPLACES = (
    ('email', sa.String(254), ''),
    *((f'network_gift_card_{name}', kind, value) for name, kind, value in SETTINGS),
    ('network_gift_card_is_splittable', sa.Boolean(), 'true'),
    *((f'network_voucher_{name}', kind, value) for name, kind, value in SETTINGS),
)
OF_CARDS = (
    ('is_active', sa.Boolean(), 'true'),
    ('is_splittable', sa.Boolean(), 'true'),
    ('is_test', sa.Boolean(), 'false'),
    ('unowed_amount', AMOUNT, '0'),
)
CHECKS = {
    'marketplace': {
        'network_validity': 'network_gift_card_validity_months BETWEEN 1 AND 120 AND network_voucher_validity_months BETWEEN 1 AND 120',
        'network_management_fee': 'network_gift_card_management_fee_amount >= 0 AND network_voucher_management_fee_amount >= 0',
        'network_rates': 'network_gift_card_commission_rate BETWEEN 0 AND 100 AND network_gift_card_vat_rate BETWEEN 0 AND 100 '
        'AND network_voucher_commission_rate BETWEEN 0 AND 100 AND network_voucher_vat_rate BETWEEN 0 AND 100',
    },
    'gift_card': {
        'owes_no_less_than_nothing': 'unowed_amount BETWEEN 0 AND remaining_amount',
        'one_issuer': '(partner_id IS NULL) <> (network_id IS NULL)',
    },
}
INDEXES = {
    'newest_idx': ('created_on', 'id'),
    'ending_idx': ('expires_on', 'id'),
    'created_on_idx': ('network_id', 'created_on', 'id'),
    'expires_on_idx': ('network_id', 'expires_on', 'id'),
    'status_idx': ('network_id', 'shown_status', 'created_on', 'id'),
}
GENERATED = """
    ALTER TABLE gift_card
        ADD COLUMN shown_status varchar(20) GENERATED ALWAYS AS (CASE WHEN partner_id IS NULL AND is_test
            AND status IN ('paid', 'using') THEN 'test' ELSE status END) STORED NOT NULL,
        ADD COLUMN emails varchar[] GENERATED ALWAYS AS (CASE WHEN partner_id IS NULL THEN
            array_remove(ARRAY[lower(gifter_email)::text, lower(coalesce(giftee_email, ''))::text], '') END) STORED
"""
VIEW = """
    CREATE VIEW network_gift_card AS
    SELECT id, uuid, code, normal_code, shown_status AS status, created_on, starts_on, expires_on, value_amount,
        remaining_amount, currency, is_active, is_splittable, frozen_on, gifter_first_name, gifter_last_name, gifter_email,
        giftee_first_name, giftee_last_name, giftee_email, recipient_address, message, language, order_id, emails,
        wallet_id, document_token, network_id AS marketplace_id
    FROM gift_card WHERE partner_id IS NULL
"""
MOVEMENTS = """
    CREATE OR REPLACE VIEW gift_card_movement AS
    SELECT j.id, j.kind, round(-e.amount::numeric / 10::numeric ^ b.minor_digits, 2) AS amount, b.currency,
        coalesce(h.reference, '') AS reference, h.id AS hold_id, j.recorded_on AS created_on, {partner} AS partner_id,
        a.owner_id::int AS gift_card_id
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id
    JOIN ledger_book b ON b.id = a.book_id
    LEFT JOIN gift_card_hold h ON h.id = CASE j.source_kind WHEN 'gift_card_hold' THEN j.source_id::int END
    WHERE a.role = 'card'
"""


def upgrade() -> None:
    for table, columns in (('marketplace', OF_MARKETPLACES), ('gift_card', OF_CARDS)):
        for name, kind, value in columns:
            op.add_column(table, sa.Column(name, kind, server_default=value, nullable=False))
            op.alter_column(table, name, server_default=None)
    op.add_column('gift_card', sa.Column('network_id', sa.Integer(), nullable=True))
    op.add_column('gift_card', sa.Column('starts_on', sa.DateTime(timezone=True), nullable=True))
    op.add_column('gift_card', sa.Column('uuid', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False))
    op.alter_column('gift_card', 'uuid', server_default=None)
    op.alter_column('gift_card', 'partner_id', existing_type=sa.Integer(), nullable=True)
    op.execute("UPDATE gift_card c SET is_test = true FROM ledger_book b WHERE b.id = c.book_id AND NOT b.is_live")
    op.execute(GENERATED)
    op.create_unique_constraint(op.f('gift_card_uuid_key'), 'gift_card', ['uuid'])
    op.create_foreign_key(op.f('gift_card_network_id_fkey'), 'gift_card', 'marketplace', ['network_id'], ['id'])
    for table, checks in CHECKS.items():
        for name, condition in checks.items():
            op.create_check_constraint(op.f(f'{table}_{name}'), table, condition)
    for name in ('newest_idx', 'ending_idx'):
        op.drop_index(f'gift_card_{name}', 'gift_card')
        op.create_index(f'gift_card_{name}', 'gift_card', INDEXES[name], postgresql_where=sa.text('partner_id IS NOT NULL'))
    for name, columns in INDEXES.items():
        op.create_index(f'network_gift_card_{name}', 'gift_card', columns, postgresql_where=sa.text('partner_id IS NULL'))
    op.create_index(
        'network_gift_card_emails_idx', 'gift_card', ['emails'], postgresql_using='gin',
        postgresql_where=sa.text('partner_id IS NULL'),
    )
    op.execute(VIEW)
    op.execute(MOVEMENTS.format(partner='coalesce(a.partner_id, j.partner_id)'))
    op.alter_column('event', 'partner_id', existing_type=sa.Integer(), nullable=True)
    op.drop_constraint(op.f('wallet_has_owner'), 'wallet')
    op.create_check_constraint(
        op.f('wallet_has_owner'), 'wallet', "kind = 'gift_card' OR (kind = 'marketplace') = (partner_id IS NULL)"
    )
    op.create_table('network_gift_card_usage',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('gift_card_id', sa.Integer(), nullable=False),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('used_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('recorded_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('currency', sa.String(3), nullable=False),
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
        sa.Column('fee_rule_id', sa.Integer(), nullable=True),
        sa.Column('payout_request_id', sa.Integer(), nullable=True),
        sa.CheckConstraint('is_active = (cancelled_on IS NULL)', name=op.f('network_gift_card_usage_is_cancelled_once')),
        sa.CheckConstraint('is_active OR payout_request_id IS NULL', name=op.f('network_gift_card_usage_pays_out_active_ones')),
        sa.CheckConstraint('net_amount BETWEEN 0 AND value_amount', name=op.f('network_gift_card_usage_earns_no_more')),
        sa.CheckConstraint('value_amount > 0', name=op.f('network_gift_card_usage_uses_something')),
        sa.ForeignKeyConstraint(['fee_rule_id'], ['fee_rule.id'], name=op.f('network_gift_card_usage_fee_rule_id_fkey')),
        sa.ForeignKeyConstraint(['gift_card_id'], ['gift_card.id'], name=op.f('network_gift_card_usage_gift_card_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('network_gift_card_usage_partner_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('network_gift_card_usage_pkey')),
    )
    for name, columns in (
        ('gift_card_id_idx', ['gift_card_id']),
        ('newest_idx', ['used_on', 'id']),
        ('used_on_list_idx', ['partner_id', 'used_on', 'id']),
    ):
        op.create_index(f'network_gift_card_usage_{name}', 'network_gift_card_usage', columns)


REFUSE = """
    DO $$ BEGIN
        IF EXISTS (SELECT FROM gift_card WHERE partner_id IS NULL) THEN
            RAISE EXCEPTION 'There are network gift cards, which the ledger counts: this revision cannot be undone.';
        END IF;
    END $$
"""


def downgrade() -> None:
    op.execute(REFUSE)
    op.drop_table('network_gift_card_usage')
    op.execute("DELETE FROM webhook_delivery d USING event e WHERE e.id = d.event_id AND e.partner_id IS NULL")
    op.execute("DELETE FROM event WHERE partner_id IS NULL")
    op.alter_column('event', 'partner_id', existing_type=sa.Integer(), nullable=False)
    op.drop_constraint(op.f('wallet_has_owner'), 'wallet')
    op.create_check_constraint(op.f('wallet_has_owner'), 'wallet', "(kind = 'marketplace') = (partner_id IS NULL)")
    op.execute(MOVEMENTS.format(partner='a.partner_id'))
    op.execute('DROP VIEW network_gift_card')
    op.drop_index('network_gift_card_emails_idx', 'gift_card')
    for name in INDEXES:
        op.drop_index(f'network_gift_card_{name}', 'gift_card')
    for name in ('newest_idx', 'ending_idx'):
        op.drop_index(f'gift_card_{name}', 'gift_card')
        op.create_index(f'gift_card_{name}', 'gift_card', INDEXES[name])
    for table, checks in CHECKS.items():
        for name in checks:
            op.drop_constraint(op.f(f'{table}_{name}'), table)
    for name in ('shown_status', 'emails', 'network_id', 'starts_on', 'uuid', *(name for name, _, _ in OF_CARDS)):
        op.drop_column('gift_card', name)
    op.alter_column('gift_card', 'partner_id', existing_type=sa.Integer(), nullable=False)
    for name, _, _ in OF_MARKETPLACES:
        op.drop_column('marketplace', name)
