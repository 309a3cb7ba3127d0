"""Exports of lists, and saved filters."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0079'
down_revision = '0078'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'export',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('uuid', sa.Uuid(), nullable=False),
        sa.Column('user_id', sa.Integer(), nullable=False),
        sa.Column('role', sa.String(20), nullable=False),
        sa.Column('partner_id', sa.Integer(), nullable=True),
        sa.Column('marketplace_id', sa.Integer(), nullable=True),
        sa.Column('list', sa.String(80), nullable=False),
        sa.Column('format', sa.String(10), nullable=False),
        sa.Column('state', sa.String(10), nullable=False),
        sa.Column('filter', postgresql.JSONB(), nullable=False),
        sa.Column('order_by', sa.String(80), nullable=False),
        sa.Column('columns', postgresql.JSONB(), nullable=False),
        sa.Column('language', sa.String(2), nullable=False),
        sa.Column('include_codes', sa.Boolean(), nullable=False),
        sa.Column('rows_done', sa.Integer(), nullable=False),
        sa.Column('rows_expected', sa.Integer(), nullable=True),
        sa.Column('size', sa.Integer(), nullable=True),
        sa.Column('error', sa.String(500), nullable=False),
        sa.Column('runner', sa.Uuid(), nullable=True),
        sa.Column('tries', sa.Integer(), nullable=False),
        sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('started_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('ended_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('expires_on', sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(state IN ('queued', 'running')) = (check_on IS NOT NULL)", name=op.f('export_is_worked_on')
        ),
        sa.CheckConstraint("(state IN ('queued', 'running')) = (ended_on IS NULL)", name=op.f('export_has_ended')),
        sa.CheckConstraint('rows_done >= 0', name=op.f('export_progress')),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('export_user_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('export_partner_id_fkey')),
        sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('export_marketplace_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('export_pkey')),
        sa.UniqueConstraint('uuid', name=op.f('export_uuid_key')),
    )
    op.create_index('export_user_list_idx', 'export', ['user_id', 'id'])
    op.create_index('export_partner_list_idx', 'export', ['partner_id', 'id'])
    op.create_index('export_marketplace_list_idx', 'export', ['marketplace_id', 'id'])
    op.create_index('export_due_idx', 'export', ['check_on'], postgresql_where=sa.text('check_on IS NOT NULL'))
    op.create_index(
        'export_expires_on_idx', 'export', ['expires_on'], postgresql_where=sa.text("state = 'completed'")
    )
    op.create_table(
        'saved_filter',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('user_id', sa.Integer(), nullable=False),
        sa.Column('list', sa.String(80), nullable=False),
        sa.Column('name', sa.String(80), nullable=False),
        sa.Column('filter', postgresql.JSONB(), nullable=False),
        sa.Column('order_by', sa.String(80), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('saved_filter_user_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('saved_filter_pkey')),
        sa.UniqueConstraint('user_id', 'list', 'name', name=op.f('saved_filter_user_id_list_name_key')),
    )


def downgrade() -> None:
    op.drop_table('saved_filter')
    op.drop_table('export')
