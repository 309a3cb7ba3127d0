"""Customers are who has bought, found by their names and addresses; mails are found by the order that they are about.

Buyers of goods become customers, as the givers of vouchers are. Orders have the address of their buyer in lower case.
"""

import sqlalchemy as sa
from alembic import op

revision = '0081'
down_revision = '0080'
branch_labels = None
depends_on = None

BUYER = "nullif(lower(buyer_email), '')"
NUMBER = "coalesce(content ->> 'order_number', content ->> 'number')"
PERSON = "search_text(first_name || ' ' || last_name || chr(10) || email)"
KNOWN = sa.text('normal_email IS NOT NULL')
BUYERS = """
    INSERT INTO customer (partner_id, first_name, last_name, email, normal_email, created_on)
    SELECT DISTINCT ON (partner_id, buyer_normal_email)
        partner_id, buyer_first_name, buyer_last_name, buyer_email, buyer_normal_email,
        min(created_on) OVER (PARTITION BY partner_id, buyer_normal_email)
    FROM shop_order WHERE buyer_normal_email IS NOT NULL
    ORDER BY partner_id, buyer_normal_email, created_on DESC
    ON CONFLICT (partner_id, normal_email) DO NOTHING
"""


def upgrade() -> None:
    op.execute(f'ALTER TABLE shop_order ADD COLUMN buyer_normal_email varchar GENERATED ALWAYS AS ({BUYER}) STORED')
    op.create_index('shop_order_buyer_idx', 'shop_order', ['partner_id', 'buyer_normal_email', 'created_on', 'id'])
    op.execute(f'ALTER TABLE mail ADD COLUMN order_number varchar GENERATED ALWAYS AS ({NUMBER}) STORED')
    op.create_index('mail_order_idx', 'mail', ['partner_id', 'order_number'])
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
    op.drop_index('mail_order_idx', 'mail')
    op.drop_column('mail', 'order_number')
    op.drop_index('shop_order_buyer_idx', 'shop_order')
    op.drop_column('shop_order', 'buyer_normal_email')
