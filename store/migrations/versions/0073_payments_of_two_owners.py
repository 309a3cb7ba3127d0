"""Payments of which a part is the partner's and a part the marketplace's."""

import sqlalchemy as sa
from alembic import op

revision = '0073'
down_revision = '0072'
branch_labels = None
depends_on = None

COLUMNS = {
    'payment': ('partner_share_amount',),
    'payment_source': ('partner_share_back_amount',),
    'payment_transaction': ('partner_share_amount',),
    'dispute': ('partner_share_amount', 'partner_share_held_amount', 'partner_share_settled_amount'),
}
CHECKS = {
    'payment': {
        'shares_no_more': 'partner_share_amount BETWEEN 0 AND card_amount AND (partner_share_amount = 0 OR is_for_marketplace)'
    },
    'payment_source': {
        'gives_back_no_more': 'partner_share_back_amount BETWEEN 0 AND refunded_amount',
    },
    'payment_transaction': {
        'shares_no_more': 'partner_share_amount BETWEEN 0 AND transaction_amount',
    },
    'dispute': {
        'shares_no_more': 'partner_share_amount BETWEEN 0 AND dispute_amount',
        'holds_no_more_of_share': 'partner_share_held_amount BETWEEN 0 AND least(held_amount, partner_share_amount)',
        'settles_no_more_of_share': 'partner_share_settled_amount BETWEEN 0 AND least(settled_amount, partner_share_amount)',
    },
}


def upgrade() -> None:
    for table, names in COLUMNS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.Numeric(12, 2), server_default='0', nullable=False))
    for table, checks in CHECKS.items():
        for name, condition in checks.items():
            op.create_check_constraint(op.f(f'{table}_{name}'), table, condition)


def downgrade() -> None:
    op.execute("""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM payment WHERE partner_share_amount > 0) THEN
                RAISE EXCEPTION 'There are payments of two owners, which the release before cannot account for.';
            END IF;
        END $$
    """)
    for table, checks in CHECKS.items():
        for name in checks:
            op.drop_constraint(op.f(f'{table}_{name}'), table)
    for table, names in COLUMNS.items():
        for name in names:
            op.drop_column(table, name)
