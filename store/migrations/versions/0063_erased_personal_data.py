"""Mark the orders and checkouts whose personal data were erased, and find those that are still to be erased."""

import sqlalchemy as sa
from alembic import op

revision = '0063'
down_revision = '0062'
branch_labels = None
depends_on = None

COLUMN = 'personal_data_erased_on'
NEVER_ORDERED = f"state IN ('failed', 'refunded') AND {COLUMN} IS NULL"


def upgrade() -> None:
    for table in ('shop_order', 'checkout_attempt'):
        op.add_column(table, sa.Column(COLUMN, sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        'shop_order_unerased_idx', 'shop_order', ['created_on', 'id'], postgresql_where=sa.text(f'{COLUMN} IS NULL')
    )
    op.create_index(
        'checkout_attempt_unerased_idx', 'checkout_attempt', ['created_on', 'id'], postgresql_where=sa.text(NEVER_ORDERED)
    )


def downgrade() -> None:
    op.drop_index('checkout_attempt_unerased_idx', table_name='checkout_attempt')
    op.drop_index('shop_order_unerased_idx', table_name='shop_order')
    for table in ('checkout_attempt', 'shop_order'):
        op.drop_column(table, COLUMN)
