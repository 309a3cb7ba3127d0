"""Sales of networks."""

import sqlalchemy as sa
from alembic import op

revision = '0043'
down_revision = '0042'
branch_labels = None
depends_on = None

ONE_THING = 'num_nonnulls(product_id, voucher_id, gift_card_id{more}) = 1'
COLUMNS = {
    'network_id': 'marketplace',
    'network_gift_card_id': 'gift_card',
    'network_voucher_id': 'network_voucher',
}
INDEXED = ('network_gift_card_id', 'network_voucher_id')
REFUSE = """
    DO $$ BEGIN
        IF EXISTS (SELECT FROM order_product WHERE network_id IS NOT NULL)
            OR EXISTS (SELECT FROM payment WHERE is_for_marketplace AND attempt_id IS NOT NULL) THEN
            RAISE EXCEPTION 'There are sales of a network, which the ledger counts: this revision cannot be undone.';
        END IF;
    END $$
"""


def upgrade() -> None:
    op.alter_column('payment', 'is_refill', new_column_name='is_for_marketplace')
    for column, table in COLUMNS.items():
        op.add_column('order_product', sa.Column(column, sa.Integer(), nullable=True))
        op.create_foreign_key(op.f(f'order_product_{column}_fkey'), 'order_product', table, [column], ['id'])
    for column in INDEXED:
        op.create_index(op.f(f'order_product_{column}_idx'), 'order_product', [column])
    op.drop_constraint(op.f('order_product_sells_one_thing'), 'order_product')
    more = ONE_THING.format(more=', network_gift_card_id, network_voucher_id')
    op.create_check_constraint(op.f('order_product_sells_one_thing'), 'order_product', more)
    op.create_check_constraint(
        op.f('order_product_names_the_network'),
        'order_product',
        '(network_id IS NULL) = (num_nonnulls(network_gift_card_id, network_voucher_id) = 0)',
    )


def downgrade() -> None:
    op.execute(REFUSE)
    op.drop_constraint(op.f('order_product_names_the_network'), 'order_product')
    op.drop_constraint(op.f('order_product_sells_one_thing'), 'order_product')
    op.create_check_constraint(op.f('order_product_sells_one_thing'), 'order_product', ONE_THING.format(more=''))
    for column in INDEXED:
        op.drop_index(op.f(f'order_product_{column}_idx'), 'order_product')
    for column in COLUMNS:
        op.drop_column('order_product', column)
    op.alter_column('payment', 'is_for_marketplace', new_column_name='is_refill')
