"""Customers are found by their names and addresses.

It rewrites the table of customers and locks no other. Buyers of goods become customers later, when writing them locks nobody out.
"""

import sqlalchemy as sa
from alembic import op

revision = '0084'
down_revision = '0083'
branch_labels = None
depends_on = None

PERSON = "search_text(first_name || ' ' || last_name || chr(10) || email)"
KNOWN = sa.text('normal_email IS NOT NULL')


def upgrade() -> None:
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
