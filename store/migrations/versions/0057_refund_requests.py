"""Requests of buyers to withdraw from the contract or for a refund, and what a partner says about them."""

import sqlalchemy as sa
from alembic import op

revision = '0057'
down_revision = '0056'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'refund_request',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(20), nullable=False),
        sa.Column('state', sa.String(20), nullable=False),
        sa.Column('requested_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('customer_name', sa.String(160), nullable=False),
        sa.Column('customer_email', sa.String(254), nullable=False),
        sa.Column('reason', sa.String(1000), nullable=False),
        sa.Column('includes_delivery', sa.Boolean(), nullable=False),
        sa.Column('answer', sa.String(1000), nullable=False),
        sa.Column('answered_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('answered_by_id', sa.Integer(), nullable=True),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('order_id', sa.Integer(), nullable=False),
        sa.Column('refund_id', sa.Uuid(), nullable=True),
        sa.Column('key', sa.Uuid(), nullable=False),
        sa.CheckConstraint("(state = 'approved') = (refund_id IS NOT NULL)", name=op.f('refund_request_approved_with_refund')),
        sa.CheckConstraint("(state = 'pending') = (answered_on IS NULL)", name=op.f('refund_request_is_answered_once')),
        sa.CheckConstraint("state <> 'declined' OR answer <> ''", name=op.f('refund_request_declined_with_message')),
        sa.ForeignKeyConstraint(['answered_by_id'], ['app_user.id'], name=op.f('refund_request_answered_by_id_fkey')),
        sa.ForeignKeyConstraint(['order_id'], ['shop_order.id'], name=op.f('refund_request_order_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('refund_request_partner_id_fkey')),
        sa.ForeignKeyConstraint(['refund_id'], ['refund.id'], name=op.f('refund_request_refund_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('refund_request_pkey')),
        sa.UniqueConstraint('order_id', 'key', name='refund_request_key'),
    )
    op.create_index('refund_request_newest_idx', 'refund_request', ['requested_on', 'id'], unique=False)
    op.create_index(op.f('refund_request_refund_id_idx'), 'refund_request', ['refund_id'], unique=False)
    op.create_index('refund_request_requested_on_list_idx', 'refund_request', ['partner_id', 'requested_on', 'id'], unique=False)
    op.create_index('refund_request_state_list_idx', 'refund_request', ['partner_id', 'state', 'requested_on', 'id'], unique=False)
    op.create_table(
        'refund_request_line',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('quantity', sa.Integer(), nullable=False),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('refund_request_id', sa.Integer(), nullable=False),
        sa.Column('order_product_id', sa.Integer(), nullable=False),
        sa.CheckConstraint('quantity > 0', name=op.f('refund_request_line_asks_for_something')),
        sa.ForeignKeyConstraint(['order_product_id'], ['order_product.id'], name=op.f('refund_request_line_order_product_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('refund_request_line_partner_id_fkey')),
        sa.ForeignKeyConstraint(['refund_request_id'], ['refund_request.id'], name=op.f('refund_request_line_refund_request_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('refund_request_line_pkey')),
        sa.UniqueConstraint('refund_request_id', 'order_product_id', name='refund_request_line_key'),
    )
    op.create_index(op.f('refund_request_line_order_product_id_idx'), 'refund_request_line', ['order_product_id'], unique=False)
    op.create_index(op.f('refund_request_line_partner_id_idx'), 'refund_request_line', ['partner_id'], unique=False)
    op.add_column('partner', sa.Column('withdrawal_days', sa.Integer(), server_default='14', nullable=False))
    op.alter_column('partner', 'withdrawal_days', existing_type=sa.Integer(), server_default=None)
    op.add_column('partner', sa.Column('approves_withdrawals', sa.Boolean(), server_default='false', nullable=False))
    op.alter_column('partner', 'approves_withdrawals', existing_type=sa.Boolean(), server_default=None)
    op.add_column('partner', sa.Column('takes_refund_requests', sa.Boolean(), server_default='false', nullable=False))
    op.alter_column('partner', 'takes_refund_requests', existing_type=sa.Boolean(), server_default=None)
    op.create_check_constraint(op.f('partner_withdrawal_period'), 'partner', 'withdrawal_days BETWEEN 0 AND 365')


def downgrade() -> None:
    op.drop_constraint(op.f('partner_withdrawal_period'), 'partner')
    op.drop_column('partner', 'takes_refund_requests')
    op.drop_column('partner', 'approves_withdrawals')
    op.drop_column('partner', 'withdrawal_days')
    op.drop_index(op.f('refund_request_line_partner_id_idx'), table_name='refund_request_line')
    op.drop_index(op.f('refund_request_line_order_product_id_idx'), table_name='refund_request_line')
    op.drop_table('refund_request_line')
    op.drop_index('refund_request_state_list_idx', table_name='refund_request')
    op.drop_index('refund_request_requested_on_list_idx', table_name='refund_request')
    op.drop_index(op.f('refund_request_refund_id_idx'), table_name='refund_request')
    op.drop_index('refund_request_newest_idx', table_name='refund_request')
    op.drop_table('refund_request')
