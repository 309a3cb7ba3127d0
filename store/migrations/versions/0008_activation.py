"""Activations of payments, and the region of a head office, which providers need in some countries."""

import sqlalchemy as sa
from alembic import op

revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None

LIVE = sa.text("status IN ('PENDING_USER_ACTION', 'PROCESSING')")


def upgrade() -> None:
    op.add_column('partner', sa.Column('hq_region', sa.String(120), nullable=False, server_default=''))
    op.alter_column('partner', 'hq_region', server_default=None)
    op.create_table('payment_activation',
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ended_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_key', sa.Uuid(), nullable=False),
    sa.Column('account_sent_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('account_id', sa.String(128), nullable=False),
    sa.Column('company_type', sa.String(20), nullable=True),
    sa.Column('told_digest', sa.String(64), nullable=False),
    sa.Column('session_key', sa.Uuid(), nullable=True),
    sa.Column('session_sent_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('session_email', sa.String(254), nullable=False),
    sa.Column('redirect_url', sa.String(2048), nullable=False),
    sa.Column('link_expires_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('enrolled_email', sa.String(254), nullable=False),
    sa.Column('enrolled_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('wallet_key', sa.Uuid(), nullable=False),
    sa.Column('wallet_sent_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('failure', sa.String(20), nullable=True),
    sa.Column('failure_message', sa.String(500), nullable=False),
    sa.Column('failure_field', sa.String(80), nullable=False),
    sa.Column('failure_request_id', sa.String(128), nullable=False),
    sa.Column('failure_told', sa.Boolean(), nullable=False),
    sa.Column('inflows_blocked', sa.Boolean(), nullable=False),
    sa.Column('outflows_blocked', sa.Boolean(), nullable=False),
    sa.Column('busy_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('asked_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('payment_activation_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payment_activation_pkey'))
    )
    op.create_index('payment_activation_one_live_key', 'payment_activation', ['partner_id'], unique=True, postgresql_where=LIVE)
    op.create_index('payment_activation_latest_idx', 'payment_activation', ['partner_id', 'created_on'], unique=False)
    op.create_index('payment_activation_due_idx', 'payment_activation', ['check_on'], unique=False, postgresql_where=sa.text("check_on IS NOT NULL"))
    op.create_index(op.f('payment_activation_account_key_idx'), 'payment_activation', ['account_key'], unique=False)
    op.create_index(op.f('payment_activation_account_id_idx'), 'payment_activation', ['account_id'], unique=False)


def downgrade() -> None:
    op.drop_table('payment_activation')
    op.drop_column('partner', 'hq_region')
