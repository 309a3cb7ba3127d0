"""Events, and the endpoints that are told of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('event',
    sa.Column('key', sa.String(40), nullable=False),
    sa.Column('type', sa.String(60), nullable=False),
    sa.Column('subject', sa.String(80), nullable=False),
    sa.Column('data', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('occurred_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('once', sa.String(200), nullable=True),
    sa.Column('is_sorted', sa.Boolean(), nullable=False),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('event_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('event_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('event_pkey')),
    sa.UniqueConstraint('key', name=op.f('event_key_key')),
    sa.UniqueConstraint('type', 'once', name='event_once_key')
    )
    op.create_index('event_id_list_idx', 'event', ['partner_id', 'id'], unique=False)
    op.create_index(op.f('event_occurred_on_idx'), 'event', ['occurred_on'], unique=False)
    op.create_index('event_of_marketplace_idx', 'event', ['marketplace_id', 'id'], unique=False)
    op.create_index('event_subject_idx', 'event', ['partner_id', 'subject'], unique=False)
    op.create_index('event_unsorted_idx', 'event', ['id'], unique=False, postgresql_where=sa.text('NOT is_sorted'))
    op.create_table('webhook_endpoint',
    sa.Column('url', sa.String(2048), nullable=False),
    sa.Column('description', sa.String(200), nullable=False),
    sa.Column('event_types', postgresql.ARRAY(sa.String(60)), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('disabled_reason', sa.String(20), nullable=True),
    sa.Column('previous_secret_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('uuid', sa.Uuid(), nullable=False),
    sa.Column('host', sa.String(253), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('secret_salt', sa.LargeBinary(), nullable=False),
    sa.Column('previous_secret_salt', sa.LargeBinary(), nullable=True),
    sa.Column('leased_by', sa.Uuid(), nullable=True),
    sa.Column('leased_until', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint('NOT is_active OR disabled_reason IS NULL', name=op.f('webhook_endpoint_active_for_no_reason')),
    sa.CheckConstraint('num_nulls(leased_by, leased_until) IN (0, 2)', name=op.f('webhook_endpoint_whole_lease')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('webhook_endpoint_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('webhook_endpoint_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('webhook_endpoint_pkey')),
    sa.UniqueConstraint('uuid', name=op.f('webhook_endpoint_uuid_key'))
    )
    op.create_index('webhook_endpoint_id_list_idx', 'webhook_endpoint', ['partner_id', 'id'], unique=False)
    op.create_index('webhook_endpoint_leased_idx', 'webhook_endpoint', ['host'], unique=False, postgresql_where=sa.text('leased_by IS NOT NULL'))
    op.create_index('webhook_endpoint_of_marketplace_idx', 'webhook_endpoint', ['marketplace_id', 'id'], unique=False)
    op.create_table('webhook_delivery',
    sa.Column('key', sa.String(40), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('next_try_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('last_status', sa.Integer(), nullable=True),
    sa.Column('last_error', sa.String(300), nullable=False),
    sa.Column('delivered_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('endpoint_id', sa.Integer(), nullable=False),
    sa.Column('event_id', sa.BigInteger(), nullable=False),
    sa.Column('event_type', sa.String(60), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['endpoint_id'], ['webhook_endpoint.id'], name=op.f('webhook_delivery_endpoint_id_fkey'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['event_id'], ['event.id'], name=op.f('webhook_delivery_event_id_fkey'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('webhook_delivery_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('webhook_delivery_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('webhook_delivery_pkey')),
    sa.UniqueConstraint('endpoint_id', 'event_id', name='webhook_delivery_message_key'),
    sa.UniqueConstraint('key', name=op.f('webhook_delivery_key_key'))
    )
    op.create_index(op.f('webhook_delivery_event_id_idx'), 'webhook_delivery', ['event_id'], unique=False)
    op.create_index('webhook_delivery_id_list_idx', 'webhook_delivery', ['partner_id', 'id'], unique=False)
    op.create_index('webhook_delivery_line_idx', 'webhook_delivery', ['endpoint_id', 'event_id'], unique=False, postgresql_where=sa.text("state = 'waiting'"))
    op.create_index('webhook_delivery_of_endpoint_idx', 'webhook_delivery', ['endpoint_id', 'id'], unique=False)
    op.create_index('webhook_delivery_of_marketplace_idx', 'webhook_delivery', ['marketplace_id', 'id'], unique=False)
    op.create_table('webhook_attempt',
    sa.Column('started_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('duration_ms', sa.Integer(), nullable=False),
    sa.Column('outcome', sa.String(20), nullable=False),
    sa.Column('status', sa.Integer(), nullable=True),
    sa.Column('error', sa.String(300), nullable=False),
    sa.Column('answer', sa.String(1024), nullable=False),
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('delivery_id', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['delivery_id'], ['webhook_delivery.id'], name=op.f('webhook_attempt_delivery_id_fkey'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('webhook_attempt_pkey'))
    )
    op.create_index(op.f('webhook_attempt_delivery_id_idx'), 'webhook_attempt', ['delivery_id'], unique=False)


def downgrade() -> None:
    for table in ('webhook_attempt', 'webhook_delivery', 'webhook_endpoint', 'event'):
        op.drop_table(table)
