"""Vouchers and gift cards are sold in the funnel."""

import sqlalchemy as sa
from alembic import op

revision = '0015'
down_revision = '0014'
branch_labels = None
depends_on = None

LIVE = sa.text("state IN ('starting', 'open')")


def upgrade() -> None:
    for table in ('checkout_attempt', 'shop_order'):
        op.add_column(table, sa.Column('kind', sa.String(20), nullable=False, server_default='products'))
        op.alter_column(table, 'kind', server_default=None)
    op.drop_index('checkout_attempt_one_live_key', table_name='checkout_attempt', postgresql_where=LIVE)
    op.create_index(
        'checkout_attempt_one_live_key',
        'checkout_attempt',
        ['partner_id', 'kind', 'cart_id', 'session_digest'],
        unique=True,
        postgresql_where=LIVE,
    )
    op.alter_column('order_product', 'product_id', nullable=True)
    for table in ('voucher', 'gift_card'):
        name = f'{table}_id'
        op.add_column('order_product', sa.Column(name, sa.Integer(), nullable=True))
        op.create_foreign_key(op.f(f'order_product_{name}_fkey'), 'order_product', table, [name], ['id'])
        op.create_index(op.f(f'order_product_{name}_idx'), 'order_product', [name], unique=False)
    op.create_check_constraint(
        op.f('order_product_sells_one_thing'),
        'order_product',
        'num_nonnulls(product_id, voucher_id, gift_card_id) = 1',
    )


def downgrade() -> None:
    op.drop_constraint(op.f('order_product_sells_one_thing'), 'order_product', type_='check')
    for table in ('gift_card', 'voucher'):
        name = f'{table}_id'
        op.drop_index(op.f(f'order_product_{name}_idx'), table_name='order_product')
        op.drop_constraint(op.f(f'order_product_{name}_fkey'), 'order_product', type_='foreignkey')
        op.drop_column('order_product', name)
    op.execute('UPDATE order_product SET product_id = 0 WHERE product_id IS NULL')  # lines of vouchers: of no product
    op.alter_column('order_product', 'product_id', nullable=False)
    op.drop_index('checkout_attempt_one_live_key', table_name='checkout_attempt', postgresql_where=LIVE)
    op.create_index(
        'checkout_attempt_one_live_key',
        'checkout_attempt',
        ['partner_id', 'cart_id', 'session_digest'],
        unique=True,
        postgresql_where=LIVE,
    )
    for table in ('shop_order', 'checkout_attempt'):
        op.drop_column(table, 'kind')
