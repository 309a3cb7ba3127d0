"""Orders are found by the address of their buyer in lower case.

The index is one of an expression: a generated column would have all orders and their trigrams rewritten, under a lock.
"""

from alembic import op

revision = '0081'
down_revision = '0080'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        'CREATE INDEX shop_order_buyer_search_idx ON shop_order (partner_id, lower(buyer_email), created_on, id)'
    )
    op.execute('ANALYZE shop_order')  # the planner then knows the expression


def downgrade() -> None:
    op.drop_index('shop_order_buyer_search_idx', 'shop_order')
