"""When a gift is sent, and from whom it is."""

import sqlalchemy as sa
from alembic import op

revision = '0059'
down_revision = '0058'
branch_labels = None
depends_on = None

TABLES = ('gift_card', 'network_voucher', 'voucher')
COLUMNS = """id, uuid, code, normal_code, shown_status AS status, created_on, starts_on, expires_on, value_amount,
    remaining_amount, currency, is_active, is_splittable, frozen_on, gifter_first_name, gifter_last_name, gifter_email,
    giftee_first_name, giftee_last_name, giftee_email, recipient_address, message, language, order_id, emails,
    wallet_id, document_token, network_id AS marketplace_id, design_id,
    (SELECT w.uuid FROM wallet w WHERE w.id = gift_card.wallet_id) AS wallet_uuid"""
VIEW = 'CREATE {kind} network_gift_card AS SELECT {columns} FROM gift_card WHERE partner_id IS NULL'

WAITING = """
    UPDATE {table} g SET send_on = (l.line->'{name}'->>'send_on' || ' 08:00')::timestamp AT TIME ZONE m.time_zone
    FROM checkout_attempt a CROSS JOIN LATERAL jsonb_array_elements(a.lines) AS l(line), marketplace m
    WHERE a.kind = 'network' AND a.state = 'completed' AND a.delivery->>'reception' = 'giftee_email'
        AND l.line->'{name}'->>'send_on' >= current_date::text
        AND g.id = (l.line->>'{name}_id')::int AND m.id = g.{network}
"""
"""Gifts of networks that wait for their day: so far only the attempts knew it."""


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column('send_on', sa.DateTime(timezone=True), nullable=True))
    for table in ('gift_card', 'network_voucher'):
        op.add_column(table, sa.Column('from_gifter', sa.String(160), nullable=True))
    op.execute(VIEW.format(kind='OR REPLACE VIEW', columns=f'{COLUMNS}, from_gifter, send_on'))
    for table, network, name in (
        ('gift_card', 'network_id', 'network_gift_card'),
        ('network_voucher', 'marketplace_id', 'network_voucher'),
    ):
        op.execute(WAITING.format(table=table, network=network, name=name))


def downgrade() -> None:
    op.execute('DROP VIEW network_gift_card')
    op.execute(VIEW.format(kind='VIEW', columns=COLUMNS))
    for table in ('network_voucher', 'gift_card'):
        op.drop_column(table, 'from_gifter')
    for table in reversed(TABLES):
        op.drop_column(table, 'send_on')
