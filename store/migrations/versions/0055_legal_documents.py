"""Legal texts of partners, and the versions that orders were placed under."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0055'
down_revision = '0054'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'legal_document',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('uuid', sa.Uuid(), nullable=False),
        sa.Column('kind', sa.String(20), nullable=False),
        sa.Column('content', postgresql.JSONB(), nullable=False),
        sa.Column('website', postgresql.JSONB(), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('replaced_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('legal_document_partner_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('legal_document_pkey')),
        sa.UniqueConstraint('uuid', name=op.f('legal_document_uuid_key')),
    )
    op.create_index('legal_document_id_list_idx', 'legal_document', ['partner_id', 'id'], unique=False)
    op.create_index('legal_document_in_force_key', 'legal_document', ['partner_id', 'kind'], unique=True, postgresql_where=sa.text('replaced_on IS NULL'))
    op.add_column('checkout_attempt', sa.Column('terms_id', sa.Integer(), nullable=True))
    op.add_column('checkout_attempt', sa.Column('privacy_policy_id', sa.Integer(), nullable=True))
    op.add_column('checkout_attempt', sa.Column('withdrawal_policy_id', sa.Integer(), nullable=True))
    op.create_foreign_key(op.f('checkout_attempt_privacy_policy_id_fkey'), 'checkout_attempt', 'legal_document', ['privacy_policy_id'], ['id'])
    op.create_foreign_key(op.f('checkout_attempt_terms_id_fkey'), 'checkout_attempt', 'legal_document', ['terms_id'], ['id'])
    op.create_foreign_key(op.f('checkout_attempt_withdrawal_policy_id_fkey'), 'checkout_attempt', 'legal_document', ['withdrawal_policy_id'], ['id'])
    op.add_column('partner', sa.Column('legal_links', postgresql.JSONB(), server_default='[]', nullable=False))
    op.alter_column('partner', 'legal_links', existing_type=postgresql.JSONB(), server_default=None)
    op.add_column('shop_order', sa.Column('terms_id', sa.Integer(), nullable=True))
    op.add_column('shop_order', sa.Column('privacy_policy_id', sa.Integer(), nullable=True))
    op.add_column('shop_order', sa.Column('withdrawal_policy_id', sa.Integer(), nullable=True))
    op.create_foreign_key(op.f('shop_order_withdrawal_policy_id_fkey'), 'shop_order', 'legal_document', ['withdrawal_policy_id'], ['id'])
    op.create_foreign_key(op.f('shop_order_privacy_policy_id_fkey'), 'shop_order', 'legal_document', ['privacy_policy_id'], ['id'])
    op.create_foreign_key(op.f('shop_order_terms_id_fkey'), 'shop_order', 'legal_document', ['terms_id'], ['id'])


def downgrade() -> None:
    op.drop_constraint(op.f('shop_order_terms_id_fkey'), 'shop_order', type_='foreignkey')
    op.drop_constraint(op.f('shop_order_privacy_policy_id_fkey'), 'shop_order', type_='foreignkey')
    op.drop_constraint(op.f('shop_order_withdrawal_policy_id_fkey'), 'shop_order', type_='foreignkey')
    op.drop_column('shop_order', 'withdrawal_policy_id')
    op.drop_column('shop_order', 'privacy_policy_id')
    op.drop_column('shop_order', 'terms_id')
    op.drop_column('partner', 'legal_links')
    op.drop_constraint(op.f('checkout_attempt_withdrawal_policy_id_fkey'), 'checkout_attempt', type_='foreignkey')
    op.drop_constraint(op.f('checkout_attempt_terms_id_fkey'), 'checkout_attempt', type_='foreignkey')
    op.drop_constraint(op.f('checkout_attempt_privacy_policy_id_fkey'), 'checkout_attempt', type_='foreignkey')
    op.drop_column('checkout_attempt', 'withdrawal_policy_id')
    op.drop_column('checkout_attempt', 'privacy_policy_id')
    op.drop_column('checkout_attempt', 'terms_id')
    op.drop_index('legal_document_in_force_key', table_name='legal_document', postgresql_where=sa.text('replaced_on IS NULL'))
    op.drop_index('legal_document_id_list_idx', table_name='legal_document')
    op.drop_table('legal_document')
