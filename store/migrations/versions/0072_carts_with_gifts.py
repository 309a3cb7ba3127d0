"""Orders of goods, vouchers and gift cards: which attempts order a cart, which orders have goods."""

import sqlalchemy as sa
from alembic import op

revision = '0072'
down_revision = '0071'
branch_labels = None
depends_on = None

ONE_LIVE = 'checkout_attempt_one_live_key'
OF_BASKETS = 'checkout_attempt_one_live_basket_key'
LIVE = "state IN ('starting', 'open')"


def upgrade() -> None:
    op.add_column('checkout_attempt', sa.Column('from_cart', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column('shop_order', sa.Column('has_goods', sa.Boolean(), server_default=sa.false(), nullable=False))
    _replace_keys(['partner_id', 'cart_id', 'session_digest'])
    op.drop_index(OF_BASKETS, 'checkout_attempt')


def downgrade() -> None:
    _replace_keys(['partner_id', 'kind', 'cart_id', 'session_digest'])
    op.create_index(
        OF_BASKETS,
        'checkout_attempt',
        ['partner_id', 'cart_id', 'session_digest'],
        unique=True,
        postgresql_where=sa.text(f"{LIVE} AND kind IN ('vouchers', 'gift_cards', 'mixed')"),
    )
    op.drop_column('shop_order', 'has_goods')
    op.drop_column('checkout_attempt', 'from_cart')


def _replace_keys(columns: list[str]) -> None:
    op.drop_index(ONE_LIVE, 'checkout_attempt')
    op.create_index(ONE_LIVE, 'checkout_attempt', columns, unique=True, postgresql_where=sa.text(LIVE))
