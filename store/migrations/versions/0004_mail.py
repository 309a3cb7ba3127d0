"""Messages are kept until they are sent."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('mail',
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('marketplace_id', sa.Integer(), nullable=True),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('uuid', sa.Uuid(), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('recipient', sa.String(320), nullable=False),
    sa.Column('language', sa.String(2), nullable=False),
    sa.Column('subject', sa.String(998), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('last_error', sa.String(500), nullable=False),
    sa.Column('content', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('once', sa.String(200), nullable=True),
    sa.Column('message_id', sa.String(320), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('due_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('sent_on', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('mail_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('mail_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('mail_pkey')),
    sa.UniqueConstraint('once', name=op.f('mail_once_key')),
    sa.UniqueConstraint('uuid', name=op.f('mail_uuid_key'))
    )
    op.create_index(op.f('mail_created_on_idx'), 'mail', ['created_on'], unique=False)
    op.create_index('mail_created_on_list_idx', 'mail', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('mail_due_on_idx', 'mail', ['due_on'], unique=False, postgresql_where=sa.text("state = 'queued'"))
    op.create_index(op.f('mail_marketplace_id_idx'), 'mail', ['marketplace_id'], unique=False)
    op.create_index(op.f('mail_partner_id_idx'), 'mail', ['partner_id'], unique=False)
    op.add_column('partner', sa.Column('language', sa.String(2), nullable=False, server_default='en'))
    op.alter_column('partner', 'language', server_default=None)


def downgrade() -> None:
    op.drop_column('partner', 'language')
    op.drop_table('mail')
