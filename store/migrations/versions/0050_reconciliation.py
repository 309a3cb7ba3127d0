"""Reconciliation."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0050'
down_revision = '0049'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('provider_movement',
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('debited_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('credited_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('fees_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('debited_wallet_id', sa.String(128), nullable=True),
    sa.Column('credited_wallet_id', sa.String(128), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('executed_on', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('provider_id', name=op.f('provider_movement_pkey'))
    )
    op.create_index('provider_movement_created_on_idx', 'provider_movement', ['created_on'])
    op.create_table('reconciliation_run',
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('since', sa.DateTime(timezone=True), nullable=False),
    sa.Column('until', sa.DateTime(timezone=True), nullable=False),
    sa.Column('finished_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('movements', sa.Integer(), nullable=False),
    sa.Column('detail', sa.String(300), nullable=False),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('sent_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('balances_read_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('differences', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('reconciliation_run_pkey'))
    )
    op.create_index('reconciliation_run_one_key', 'reconciliation_run', ['state'], unique=True, postgresql_where=sa.text("state = 'requested'"))
    op.create_index('reconciliation_run_until_idx', 'reconciliation_run', ['until', 'id'])
    op.create_table('reconciliation_finding',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('subject', sa.String(128), nullable=False),
    sa.Column('provider_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.Column('own_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.Column('detail', sa.String(300), nullable=False),
    sa.Column('reason', sa.String(500), nullable=False),
    sa.Column('first_seen_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('last_seen_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('suspended_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('closed_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=True),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('reconciliation_finding_marketplace_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('reconciliation_finding_pkey')),
    sa.UniqueConstraint('kind', 'subject', name='reconciliation_finding_key')
    )
    op.create_index('reconciliation_finding_first_seen_on_list_idx', 'reconciliation_finding', ['marketplace_id', 'first_seen_on', 'id'])
    op.create_index('reconciliation_finding_newest_idx', 'reconciliation_finding', ['first_seen_on', 'id'])
    op.create_index('reconciliation_finding_state_list_idx', 'reconciliation_finding', ['state', 'first_seen_on', 'id'])


def downgrade() -> None:
    op.drop_index('reconciliation_finding_state_list_idx', table_name='reconciliation_finding')
    op.drop_index('reconciliation_finding_newest_idx', table_name='reconciliation_finding')
    op.drop_index('reconciliation_finding_first_seen_on_list_idx', table_name='reconciliation_finding')
    op.drop_table('reconciliation_finding')
    op.drop_index('reconciliation_run_until_idx', table_name='reconciliation_run')
    op.drop_index('reconciliation_run_one_key', table_name='reconciliation_run', postgresql_where=sa.text("state = 'requested'"))
    op.drop_table('reconciliation_run')
    op.drop_index('provider_movement_created_on_idx', table_name='provider_movement')
    op.drop_table('provider_movement')
