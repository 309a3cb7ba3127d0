"""Orders of goods, vouchers and gift cards: which attempts order a cart, which orders have goods."""

import sqlalchemy as sa
from alembic import op

revision = '0072'
down_revision = '0071'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('checkout_attempt', sa.Column('from_cart', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column('shop_order', sa.Column('has_goods', sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    op.drop_column('shop_order', 'has_goods')
    op.drop_column('checkout_attempt', 'from_cart')
