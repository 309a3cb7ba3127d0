"""Identity checks, documents and bank accounts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0009'
down_revision = '0008'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('partner_kyc',
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('account_id', sa.String(128), nullable=False),
    sa.Column('level', sa.String(20), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('checked_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('partner_kyc_partner_id_fkey')),
    sa.PrimaryKeyConstraint('partner_id', name=op.f('partner_kyc_pkey'))
    )
    op.create_index('partner_kyc_check_on_idx', 'partner_kyc', ['check_on'], unique=False, postgresql_where=sa.text('check_on IS NOT NULL'))
    op.create_table('kyc_document',
    sa.Column('document_type', sa.String(30), nullable=False),
    sa.Column('comment', sa.String(1000), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('media_type', sa.String(40), nullable=False),
    sa.Column('size', sa.Integer(), nullable=True),
    sa.Column('processed_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('account_id', sa.String(128), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('request', sa.Uuid(), nullable=True),
    sa.Column('reference', sa.Uuid(), nullable=False),
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('step', sa.String(20), nullable=False),
    sa.Column('digest', sa.String(64), nullable=False),
    sa.Column('create_key', sa.Uuid(), nullable=False),
    sa.Column('page_key', sa.Uuid(), nullable=False),
    sa.Column('refusals', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("step IN ('begun', 'abandoned') OR provider_id <> ''", name=op.f('kyc_document_known_once_made')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('kyc_document_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('kyc_document_pkey')),
    sa.UniqueConstraint('request', name=op.f('kyc_document_request_key'))
    )
    op.create_index('kyc_document_id_list_idx', 'kyc_document', ['partner_id', 'id'], unique=False)
    op.create_index('kyc_document_provider_id_key', 'kyc_document', ['provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))
    op.create_index('kyc_document_unfinished_key', 'kyc_document', ['partner_id', 'account_id', 'document_type', 'digest'], unique=True, postgresql_where=sa.text("step IN ('begun', 'made', 'filed')"))
    op.create_table('identity_check',
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('account_id', sa.String(128), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('path', sa.String(8), nullable=False),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('refusals', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('identity_check_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('identity_check_pkey')),
    sa.UniqueConstraint('path', name=op.f('identity_check_path_key'))
    )
    op.create_index('identity_check_of_partner_idx', 'identity_check', ['partner_id', 'id'], unique=False)
    op.create_index('identity_check_one_begun_key', 'identity_check', ['partner_id', 'account_id'], unique=True, postgresql_where=sa.text("provider_id = ''"))
    op.create_index('identity_check_provider_id_key', 'identity_check', ['provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))
    op.create_table('bank_account',
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('iban_end', sa.String(4), nullable=False),
    sa.Column('holder', sa.String(255), nullable=False),
    sa.Column('payee_check', sa.String(100), nullable=False),
    sa.Column('redirect_url', sa.String(2048), nullable=True),
    sa.Column('redirect_expires_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('account_id', sa.String(128), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('iban', sa.String(34), nullable=False),
    sa.Column('provider_id', sa.String(128), nullable=False),
    sa.Column('path', sa.String(8), nullable=False),
    sa.Column('key', sa.Uuid(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('bank_account_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('bank_account_pkey')),
    sa.UniqueConstraint('path', name=op.f('bank_account_path_key'))
    )
    op.create_index('bank_account_id_list_idx', 'bank_account', ['partner_id', 'id'], unique=False)
    op.create_index('bank_account_one_begun_key', 'bank_account', ['partner_id', 'account_id', 'iban'], unique=True, postgresql_where=sa.text("status = 'created'"))
    op.create_index('bank_account_provider_id_key', 'bank_account', ['provider_id'], unique=True, postgresql_where=sa.text("provider_id <> ''"))


def downgrade() -> None:
    op.drop_table('bank_account')
    op.drop_table('identity_check')
    op.drop_table('kyc_document')
    op.drop_table('partner_kyc')
