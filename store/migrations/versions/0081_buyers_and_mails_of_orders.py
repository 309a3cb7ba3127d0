"""Orders are found by the address of their buyer in lower case, and mails by the number of the order that they are about."""

from alembic import op

revision = '0081'
down_revision = '0077'
branch_labels = None
depends_on = None

BUYER = "nullif(lower(buyer_email), '')"
NUMBER = "coalesce(content ->> 'order_number', content ->> 'number')"


def upgrade() -> None:
    op.execute(f'ALTER TABLE shop_order ADD COLUMN buyer_normal_email varchar GENERATED ALWAYS AS ({BUYER}) STORED')
    op.create_index('shop_order_buyer_idx', 'shop_order', ['partner_id', 'buyer_normal_email', 'created_on', 'id'])
    op.execute(f'ALTER TABLE mail ADD COLUMN order_number varchar GENERATED ALWAYS AS ({NUMBER}) STORED')
    op.create_index('mail_order_idx', 'mail', ['partner_id', 'order_number'])


def downgrade() -> None:
    op.drop_index('mail_order_idx', 'mail')
    op.drop_column('mail', 'order_number')
    op.drop_index('shop_order_buyer_idx', 'shop_order')
    op.drop_column('shop_order', 'buyer_normal_email')
