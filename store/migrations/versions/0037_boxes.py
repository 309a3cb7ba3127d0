"""Boxes with their pictures and partners, and offers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0037'
down_revision = '0036'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('box',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('short_description', postgresql.JSONB(), nullable=False),
    sa.Column('long_description', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('is_highlight', sa.Boolean(), nullable=False),
    sa.Column('price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('weight_grams', sa.Integer(), nullable=False),
    sa.Column('price_scope', sa.Integer(), nullable=False),
    sa.Column('max_usages', sa.Integer(), nullable=False),
    sa.Column('max_days_after_first_usage', sa.Integer(), nullable=False),
    sa.Column('orders_count', sa.Integer(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('price_range_id', sa.Integer(), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.CheckConstraint('price_amount > 0', name=op.f('box_price_positive')),
    sa.CheckConstraint('weight_grams >= 0 AND price_scope >= 1 AND max_usages >= 1 AND max_days_after_first_usage >= 0', name=op.f('box_numbers_in_range')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('box_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['price_range_id'], ['price_range.id'], name=op.f('box_price_range_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('box_pkey'))
    )
    op.create_index('box_created_on_list_idx', 'box', ['marketplace_id', 'created_on', 'id'], unique=False)
    op.create_index('box_price_amount_list_idx', 'box', ['marketplace_id', 'price_amount', 'id'], unique=False)
    op.create_index('box_ranking_list_idx', 'box', ['marketplace_id', 'ranking', 'id'], unique=False)
    op.create_table('box_image',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('is_cover', sa.Boolean(), nullable=False),
    sa.Column('media_id', sa.Integer(), nullable=False),
    sa.Column('box_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['box_id'], ['box.id'], name=op.f('box_image_box_id_fkey')),
    sa.ForeignKeyConstraint(['media_id'], ['media.id'], name=op.f('box_image_media_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('box_image_pkey')),
    sa.UniqueConstraint('box_id', 'position', name='box_image_position_key')
    )
    op.create_index('box_image_cover_key', 'box_image', ['box_id'], unique=True, postgresql_where='is_cover')
    op.create_index('box_image_media_idx', 'box_image', ['media_id'], unique=False)
    op.create_table('box_partner',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('box_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['box_id'], ['box.id'], name=op.f('box_partner_box_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('box_partner_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('box_partner_pkey')),
    sa.UniqueConstraint('box_id', 'partner_id', name='box_partner_key')
    )
    op.create_index(op.f('box_partner_partner_id_idx'), 'box_partner', ['partner_id'], unique=False)
    op.create_table('offer',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('description', postgresql.JSONB(), nullable=False),
    sa.Column('terms_of_use', postgresql.JSONB(), nullable=False),
    sa.Column('status', sa.String(20), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('edited_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('submitted_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('accepted_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('rejected_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('rejection_reason', sa.String(1000), nullable=False),
    sa.Column('box_id', sa.Integer(), nullable=False),
    sa.Column('product_id', sa.Integer(), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['box_id'], ['box.id'], name=op.f('offer_box_id_fkey')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('offer_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('offer_partner_id_fkey')),
    sa.ForeignKeyConstraint(['product_id'], ['voucher_prototype.id'], name=op.f('offer_product_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('offer_pkey'))
    )
    op.create_index('offer_created_on_list_idx', 'offer', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('offer_newest_of_box_idx', 'offer', ['box_id', 'created_on', 'id'], unique=False)
    op.create_index('offer_newest_of_marketplace_idx', 'offer', ['marketplace_id', 'created_on', 'id'], unique=False)
    op.create_index('offer_ranking_list_idx', 'offer', ['partner_id', 'ranking', 'id'], unique=False)
    op.create_index('offer_ranking_of_marketplace_idx', 'offer', ['marketplace_id', 'ranking', 'id'], unique=False)


def downgrade() -> None:
    op.drop_index('offer_ranking_of_marketplace_idx', table_name='offer')
    op.drop_index('offer_ranking_list_idx', table_name='offer')
    op.drop_index('offer_newest_of_marketplace_idx', table_name='offer')
    op.drop_index('offer_newest_of_box_idx', table_name='offer')
    op.drop_index('offer_created_on_list_idx', table_name='offer')
    op.drop_table('offer')
    op.drop_index(op.f('box_partner_partner_id_idx'), table_name='box_partner')
    op.drop_table('box_partner')
    op.drop_index('box_image_media_idx', table_name='box_image')
    op.drop_index('box_image_cover_key', table_name='box_image', postgresql_where='is_cover')
    op.drop_table('box_image')
    op.drop_index('box_ranking_list_idx', table_name='box')
    op.drop_index('box_price_amount_list_idx', table_name='box')
    op.drop_index('box_created_on_list_idx', table_name='box')
    op.drop_table('box')
