"""Add disputes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0031'
down_revision = '0030'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('dispute',
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('dispute_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('contested_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.Column('held_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('lost_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('settled_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('reason_code', sa.String(60), nullable=False),
    sa.Column('reason_message', sa.String(300), nullable=False),
    sa.Column('status_message', sa.String(300), nullable=False),
    sa.Column('result_message', sa.String(300), nullable=False),
    sa.Column('detail', sa.String(300), nullable=False),
    sa.Column('contest_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('closed_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('payment_id', sa.Uuid(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('commission_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('repudiation_id', sa.String(128), nullable=False),
    sa.Column('author_id', sa.String(128), nullable=False),
    sa.Column('taken_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('returned_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('returned_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('sent_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('settlement_id', sa.String(128), nullable=False),
    sa.Column('settled_on', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint("(state IN ('won', 'lost', 'cancelled')) = (closed_on IS NOT NULL)", name=op.f('dispute_is_closed_once')),
    sa.CheckConstraint('dispute_amount > 0', name=op.f('dispute_disputes_something')),
    sa.CheckConstraint('held_amount BETWEEN 0 AND dispute_amount', name=op.f('dispute_holds_no_more')),
    sa.CheckConstraint('lost_amount BETWEEN 0 AND dispute_amount', name=op.f('dispute_loses_no_more')),
    sa.CheckConstraint('settled_amount BETWEEN 0 AND lost_amount', name=op.f('dispute_settles_no_more')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('dispute_partner_id_fkey')),
    sa.ForeignKeyConstraint(['payment_id'], ['payment.id'], name=op.f('dispute_payment_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('dispute_pkey')),
    sa.UniqueConstraint('provider_id', name='dispute_provider_id_key')
    )
    op.create_index('dispute_contest_until_list_idx', 'dispute', ['partner_id', 'contest_until', 'id'], unique=False)
    op.create_index('dispute_created_on_list_idx', 'dispute', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('dispute_due_idx', 'dispute', ['check_on'], unique=False, postgresql_where=sa.text('settled_on IS NULL'))
    op.create_index('dispute_newest_idx', 'dispute', ['created_on', 'id'], unique=False)
    op.create_index(op.f('dispute_payment_id_idx'), 'dispute', ['payment_id'], unique=False)
    op.create_index('dispute_repudiation_idx', 'dispute', ['repudiation_id'], unique=False, postgresql_where=sa.text("repudiation_id <> ''"))
    op.create_index('dispute_state_list_idx', 'dispute', ['partner_id', 'state', 'created_on', 'id'], unique=False)
    op.create_table('dispute_document',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(40), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('media_type', sa.String(40), nullable=False),
    sa.Column('size', sa.Integer(), nullable=False),
    sa.Column('refused_reason', sa.String(300), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('dispute_id', sa.Uuid(), nullable=False),
    sa.Column('reference', sa.Uuid(), nullable=False),
    sa.Column('step', sa.String(20), nullable=False),
    sa.Column('digest', sa.String(64), nullable=False),
    sa.Column('create_key', sa.Uuid(), nullable=False),
    sa.Column('page_key', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['dispute_id'], ['dispute.id'], name=op.f('dispute_document_dispute_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('dispute_document_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('dispute_document_pkey'))
    )
    op.create_index(op.f('dispute_document_dispute_id_idx'), 'dispute_document', ['dispute_id'], unique=False)
    op.create_index('dispute_document_file_key', 'dispute_document', ['dispute_id', 'kind', 'digest'], unique=True, postgresql_where=sa.text("step <> 'abandoned' AND status <> 'REFUSED'"))
    op.create_index(op.f('dispute_document_partner_id_idx'), 'dispute_document', ['partner_id'], unique=False)
    op.create_index('dispute_document_provider_id_key', 'dispute_document', ['provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))
    op.add_column('gift_card', sa.Column('frozen_on', sa.DateTime(timezone=True), nullable=True))
    op.add_column('voucher', sa.Column('frozen_on', sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column('voucher', 'frozen_on')
    op.drop_column('gift_card', 'frozen_on')
    op.drop_index('dispute_document_provider_id_key', table_name='dispute_document', postgresql_where=sa.text("provider_id <> ''"))
    op.drop_index(op.f('dispute_document_partner_id_idx'), table_name='dispute_document')
    op.drop_index('dispute_document_file_key', table_name='dispute_document', postgresql_where=sa.text("step <> 'abandoned' AND status <> 'REFUSED'"))
    op.drop_index(op.f('dispute_document_dispute_id_idx'), table_name='dispute_document')
    op.drop_table('dispute_document')
    op.drop_index('dispute_state_list_idx', table_name='dispute')
    op.drop_index('dispute_repudiation_idx', table_name='dispute', postgresql_where=sa.text("repudiation_id <> ''"))
    op.drop_index(op.f('dispute_payment_id_idx'), table_name='dispute')
    op.drop_index('dispute_newest_idx', table_name='dispute')
    op.drop_index('dispute_due_idx', table_name='dispute', postgresql_where=sa.text('settled_on IS NULL'))
    op.drop_index('dispute_created_on_list_idx', table_name='dispute')
    op.drop_index('dispute_contest_until_list_idx', table_name='dispute')
    op.drop_table('dispute')
