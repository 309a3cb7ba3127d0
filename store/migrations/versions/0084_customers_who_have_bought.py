"""Customers are who has bought, found by their names and addresses.

Buyers of goods become customers, as the givers of vouchers are. It rewrites the table of customers, which is locked first:
a checkout that has stored one customer and wants to store another is waited for.
"""

import sqlalchemy as sa
from alembic import op

revision = '0084'
down_revision = '0083'
branch_labels = None
depends_on = None

PERSON = "search_text(first_name || ' ' || last_name || chr(10) || email)"
KNOWN = sa.text('normal_email IS NOT NULL')
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
    op.execute('LOCK TABLE customer IN ACCESS EXCLUSIVE MODE')
    op.execute(BUYERS)
    op.execute(f'ALTER TABLE customer ADD COLUMN person_text text NOT NULL GENERATED ALWAYS AS ({PERSON}) STORED')
    op.execute("CREATE INDEX customer_search_idx ON customer USING gin ((search_grams('p', person_text)))")
    op.create_index('customer_created_on_list_idx', 'customer', ['partner_id', 'created_on', 'id'], postgresql_where=KNOWN)
    op.create_index('customer_last_name_list_idx', 'customer', ['partner_id', 'last_name', 'id'], postgresql_where=KNOWN)
    op.create_index('customer_newest_idx', 'customer', ['created_on', 'id'], postgresql_where=KNOWN)
    op.create_index('customer_name_idx', 'customer', ['last_name', 'id'], postgresql_where=KNOWN)


def downgrade() -> None:
    for name in ('name_idx', 'newest_idx', 'last_name_list_idx', 'created_on_list_idx', 'search_idx'):
        op.drop_index(f'customer_{name}', 'customer')
    op.drop_column('customer', 'person_text')
