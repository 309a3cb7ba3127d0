"""Refunds of single lines of orders, and what of an order's discounts belongs to each line."""

import sqlalchemy as sa
from alembic import op

from store.migrations.progress import by_range

revision = '0033'
down_revision = '0032'
branch_labels = None
depends_on = None

OF_VOUCHERS = """
    UPDATE order_product p SET discount_amount = greatest(0, least(p.total_amount, p.total_amount - v.purchase_price_amount))
    FROM voucher v WHERE v.id = p.voucher_id AND v.purchase_price_amount < p.total_amount
        AND p.id BETWEEN :first AND :last
"""
OF_GIFT_CARDS = """
    UPDATE order_product p SET discount_amount = greatest(0, least(p.total_amount, p.total_amount - l.paid))
    FROM shop_order o JOIN checkout_attempt a ON a.id = o.attempt_id
    CROSS JOIN LATERAL (
        SELECT (line ->> 'gift_card_id')::int AS gift_card_id, (line -> 'gift_card' ->> 'paid')::numeric AS paid
        FROM jsonb_array_elements(a.lines) line WHERE line ->> 'gift_card_id' IS NOT NULL
    ) l
    WHERE o.id = p.order_id AND o.discount_amount > 0 AND l.gift_card_id = p.gift_card_id
        AND p.id BETWEEN :first AND :last
"""
OF_PRODUCTS = """
    UPDATE order_product p
    SET discount_amount = round(s.discount * s.so_far / s.total, 2) - round(s.discount * (s.so_far - s.line) / s.total, 2)
    FROM (
        SELECT l.id, o.discount_amount AS discount, o.products_amount AS total, l.total_amount AS line,
            sum(l.total_amount) OVER (PARTITION BY o.id ORDER BY l.id) AS so_far
        FROM shop_order o JOIN order_product l ON l.order_id = o.id
        WHERE o.discount_amount > 0 AND o.kind = 'products' AND o.id IN (
            SELECT order_id FROM order_product WHERE id BETWEEN :first AND :last
        )
    ) s WHERE s.id = p.id AND p.id BETWEEN :first AND :last
"""
"""In proportion: which coupon was for which product was not stored. The lines sum to the discount of the order."""


def upgrade() -> None:
    op.add_column('order_product', sa.Column('discount_amount', sa.Numeric(precision=12, scale=2), server_default='0.00', nullable=False))
    op.add_column('order_product', sa.Column('refunded_quantity', sa.Integer(), server_default='0', nullable=False))
    op.add_column('order_product', sa.Column('refunded_amount', sa.Numeric(precision=12, scale=2), server_default='0.00', nullable=False))
    op.add_column('order_product', sa.Column('restocked_quantity', sa.Integer(), server_default='0', nullable=False))
    op.add_column('shop_order', sa.Column('delivery_refunded_amount', sa.Numeric(precision=12, scale=2), server_default='0.00', nullable=False))
    op.add_column('refund', sa.Column('delivery_amount', sa.Numeric(precision=12, scale=2), server_default='0.00', nullable=False))
    for table, column in (
        ('order_product', 'discount_amount'),
        ('order_product', 'refunded_quantity'),
        ('order_product', 'refunded_amount'),
        ('order_product', 'restocked_quantity'),
        ('shop_order', 'delivery_refunded_amount'),
        ('refund', 'delivery_amount'),
    ):
        op.alter_column(table, column, server_default=None)
    op.add_column('voucher', sa.Column('refunded_on', sa.DateTime(timezone=True), nullable=True))
    by_range('order_product', OF_VOUCHERS, OF_GIFT_CARDS, OF_PRODUCTS)
    op.create_check_constraint(op.f('order_product_discounts_no_more'), 'order_product', 'discount_amount BETWEEN 0 AND total_amount')
    op.create_check_constraint(op.f('order_product_refunds_no_more_pieces'), 'order_product', 'refunded_quantity BETWEEN 0 AND quantity')
    op.create_check_constraint(op.f('order_product_refunds_no_more'), 'order_product', 'refunded_amount BETWEEN 0 AND total_amount - discount_amount')
    op.create_check_constraint(op.f('order_product_restocks_no_more'), 'order_product', 'restocked_quantity BETWEEN 0 AND quantity')
    op.create_check_constraint(op.f('shop_order_refunds_no_more'), 'shop_order', 'delivery_refunded_amount BETWEEN 0 AND delivery_amount')
    op.create_check_constraint(op.f('refund_delivers_no_more'), 'refund', 'delivery_amount BETWEEN 0 AND refund_amount')
    op.create_table('refund_line',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('quantity', sa.Integer(), nullable=False),
    sa.Column('restocked_quantity', sa.Integer(), nullable=False),
    sa.Column('line_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('refund_id', sa.Uuid(), nullable=False),
    sa.Column('order_product_id', sa.Integer(), nullable=False),
    sa.CheckConstraint('line_amount >= 0', name=op.f('refund_line_not_negative')),
    sa.CheckConstraint('quantity > 0 OR quantity = 0 AND line_amount > 0', name=op.f('refund_line_refunds_something')),
    sa.CheckConstraint('restocked_quantity BETWEEN 0 AND quantity', name=op.f('refund_line_restocks_no_more')),
    sa.ForeignKeyConstraint(['order_product_id'], ['order_product.id'], name=op.f('refund_line_order_product_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('refund_line_partner_id_fkey')),
    sa.ForeignKeyConstraint(['refund_id'], ['refund.id'], name=op.f('refund_line_refund_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('refund_line_pkey')),
    sa.UniqueConstraint('refund_id', 'order_product_id', name='refund_line_key')
    )
    op.create_index(op.f('refund_line_order_product_id_idx'), 'refund_line', ['order_product_id'], unique=False)
    op.create_index(op.f('refund_line_partner_id_idx'), 'refund_line', ['partner_id'], unique=False)


def downgrade() -> None:
    op.drop_table('refund_line')
    op.drop_constraint(op.f('refund_delivers_no_more'), 'refund')
    op.drop_constraint(op.f('shop_order_refunds_no_more'), 'shop_order')
    for name in ('discounts_no_more', 'refunds_no_more_pieces', 'refunds_no_more', 'restocks_no_more'):
        op.drop_constraint(op.f(f'order_product_{name}'), 'order_product')
    op.drop_column('voucher', 'refunded_on')
    op.drop_column('refund', 'delivery_amount')
    op.drop_column('shop_order', 'delivery_refunded_amount')
    op.drop_column('order_product', 'restocked_quantity')
    op.drop_column('order_product', 'refunded_amount')
    op.drop_column('order_product', 'refunded_quantity')
    op.drop_column('order_product', 'discount_amount')
