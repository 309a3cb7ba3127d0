"""Payments by network gift cards: usages that are parts of payments, and what refunds gave back of them."""

import sqlalchemy as sa
from alembic import op

revision = '0041'
down_revision = '0040'
branch_labels = None
depends_on = None

USAGE = 'network_gift_card_usage'
AMOUNTS = ('returned_amount', 'returned_net_amount')
CHECKS = {
    'returns_no_more': 'returned_amount BETWEEN 0 AND value_amount',
    'gives_back_no_more': 'returned_net_amount BETWEEN 0 AND net_amount',
    'returns_by_payment': 'payment_id IS NOT NULL OR returned_amount = 0',
}

REFUSE = """
    DO $$ BEGIN
        IF EXISTS (SELECT FROM network_gift_card_usage WHERE payment_id IS NOT NULL) THEN
            RAISE EXCEPTION 'Network gift cards have paid, which the ledger counts: this revision cannot be undone.';
        END IF;
    END $$
"""


def upgrade() -> None:
    op.add_column(USAGE, sa.Column('payment_id', sa.Uuid(), nullable=True))
    for name in AMOUNTS:
        op.add_column(USAGE, sa.Column(name, sa.Numeric(12, 2), server_default='0.00', nullable=False))
        op.alter_column(USAGE, name, server_default=None)
    op.create_foreign_key(op.f(f'{USAGE}_payment_id_fkey'), USAGE, 'payment', ['payment_id'], ['id'])
    op.create_index(
        f'{USAGE}_payment_key', USAGE, ['payment_id', 'gift_card_id'], unique=True,
        postgresql_where=sa.text('payment_id IS NOT NULL'),
    )
    for name, condition in CHECKS.items():
        op.create_check_constraint(op.f(f'{USAGE}_{name}'), USAGE, condition)


def downgrade() -> None:
    op.execute(REFUSE)
    for name in CHECKS:
        op.drop_constraint(op.f(f'{USAGE}_{name}'), USAGE)
    op.drop_index(f'{USAGE}_payment_key', USAGE)
    op.drop_constraint(op.f(f'{USAGE}_payment_id_fkey'), USAGE, type_='foreignkey')
    for name in (*AMOUNTS, 'payment_id'):
        op.drop_column(USAGE, name)
