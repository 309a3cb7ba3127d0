"""Buyers of goods become customers, as the givers of vouchers are.

It locks no table. A sale to one of these buyers at the same moment waits for its end, or has it begin again.
"""

from alembic import op

revision = '0087'
down_revision = '0086'
branch_labels = None
depends_on = None

BUYERS = """
    INSERT INTO customer (partner_id, first_name, last_name, email, normal_email, created_on)
    SELECT DISTINCT ON (partner_id, lower(buyer_email))
        partner_id, buyer_first_name, buyer_last_name, buyer_email, lower(buyer_email),
        min(created_on) OVER (PARTITION BY partner_id, lower(buyer_email))
    FROM shop_order WHERE buyer_email <> ''
    ORDER BY partner_id, lower(buyer_email), created_on DESC
    ON CONFLICT (partner_id, normal_email) DO NOTHING
"""


def upgrade() -> None:
    op.execute(BUYERS)


def downgrade() -> None:
    """Customers who have only bought goods do no harm."""
