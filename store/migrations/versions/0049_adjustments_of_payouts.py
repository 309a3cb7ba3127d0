"""Adjustments of payouts."""

import sqlalchemy as sa
from alembic import op

revision = '0049'
down_revision = '0048'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('payout_adjustment',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('status', sa.String(10), nullable=False),
    sa.Column('adjustment_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('reason', sa.String(200), nullable=False),
    sa.Column('requires_approval', sa.Boolean(), nullable=False),
    sa.Column('requested_by_id', sa.Integer(), nullable=False),
    sa.Column('decided_by_id', sa.Integer(), nullable=True),
    sa.Column('rejection_reason', sa.String(200), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('booked_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('rejected_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.CheckConstraint("(status = 'booked') = (booked_on IS NOT NULL)", name=op.f('payout_adjustment_is_booked_once')),
    sa.CheckConstraint("(status = 'rejected') = (rejected_on IS NOT NULL)", name=op.f('payout_adjustment_is_rejected_once')),
    sa.CheckConstraint("status = 'pending' AND decided_by_id IS NULL OR status = 'booked' AND NOT requires_approval OR status <> 'pending' AND decided_by_id IS NOT NULL", name=op.f('payout_adjustment_is_decided')),
    sa.CheckConstraint('adjustment_amount <> 0', name=op.f('payout_adjustment_changes_something')),
    sa.CheckConstraint('decided_by_id <> requested_by_id', name=op.f('payout_adjustment_second_user')),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('payout_adjustment_book_id_fkey')),
    sa.ForeignKeyConstraint(['decided_by_id'], ['app_user.id'], name=op.f('payout_adjustment_decided_by_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payout_adjustment_partner_id_fkey')),
    sa.ForeignKeyConstraint(['requested_by_id'], ['app_user.id'], name=op.f('payout_adjustment_requested_by_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payout_adjustment_pkey'))
    )
    op.create_index('payout_adjustment_created_on_list_idx', 'payout_adjustment', ['partner_id', 'created_on', 'id'])
    op.create_index('payout_adjustment_newest_idx', 'payout_adjustment', ['created_on', 'id'])
    op.create_index('payout_adjustment_status_list_idx', 'payout_adjustment', ['partner_id', 'status', 'created_on', 'id'])
    op.add_column('payout_request', sa.Column('settlement_tries', sa.Integer(), server_default='0', nullable=False))
    op.alter_column('payout_request', 'settlement_tries', existing_type=sa.Integer(), server_default=None, existing_nullable=False)
    op.add_column('marketplace', sa.Column('payout_approval_from_amount', sa.Numeric(precision=12, scale=2), nullable=True))


def downgrade() -> None:
    op.drop_column('payout_request', 'settlement_tries')
    op.drop_column('marketplace', 'payout_approval_from_amount')
    op.drop_index('payout_adjustment_status_list_idx', table_name='payout_adjustment')
    op.drop_index('payout_adjustment_newest_idx', table_name='payout_adjustment')
    op.drop_index('payout_adjustment_created_on_list_idx', table_name='payout_adjustment')
    op.drop_table('payout_adjustment')
