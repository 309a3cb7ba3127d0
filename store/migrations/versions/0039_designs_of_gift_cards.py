"""Designs of networks' gift cards."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0039'
down_revision = '0038'
branch_labels = None
depends_on = None

COLUMNS = """id, uuid, code, normal_code, shown_status AS status, created_on, starts_on, expires_on, value_amount,
    remaining_amount, currency, is_active, is_splittable, frozen_on, gifter_first_name, gifter_last_name, gifter_email,
    giftee_first_name, giftee_last_name, giftee_email, recipient_address, message, language, order_id, emails,
    wallet_id, document_token, network_id AS marketplace_id"""
VIEW = 'CREATE {kind} network_gift_card AS SELECT {columns} FROM gift_card WHERE partner_id IS NULL'


def upgrade() -> None:
    op.create_table('gift_card_design',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('name', postgresql.JSONB(), nullable=False),
        sa.Column('short_description', postgresql.JSONB(), nullable=False),
        sa.Column('description', postgresql.JSONB(), nullable=False),
        sa.Column('accent_colour', sa.String(7), nullable=False),
        sa.Column('is_active', sa.Boolean(), nullable=False),
        sa.Column('ranking', sa.Integer(), nullable=False),
        sa.Column('marketplace_id', sa.Integer(), nullable=False),
        sa.Column('picture_url', sa.String(300), nullable=False),
        sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('gift_card_design_marketplace_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('gift_card_design_pkey')),
    )
    op.create_index(op.f('gift_card_design_marketplace_id_idx'), 'gift_card_design', ['marketplace_id'])
    op.create_index('gift_card_design_ranking_list_idx', 'gift_card_design', ['marketplace_id', 'ranking', 'id'])
    op.add_column('gift_card', sa.Column('design_id', sa.Integer(), nullable=True))
    op.create_foreign_key(op.f('gift_card_design_id_fkey'), 'gift_card', 'gift_card_design', ['design_id'], ['id'])
    op.create_check_constraint(
        op.f('gift_card_designs_are_of_networks'), 'gift_card', 'design_id IS NULL OR network_id IS NOT NULL'
    )
    op.execute(VIEW.format(kind='OR REPLACE VIEW', columns=f'{COLUMNS}, design_id'))


def downgrade() -> None:
    op.execute('DROP VIEW network_gift_card')
    op.execute(VIEW.format(kind='VIEW', columns=COLUMNS))
    op.drop_constraint(op.f('gift_card_designs_are_of_networks'), 'gift_card')
    op.drop_constraint(op.f('gift_card_design_id_fkey'), 'gift_card', type_='foreignkey')
    op.drop_column('gift_card', 'design_id')
    op.drop_table('gift_card_design')
