"""Media, the catalogue, customers and vouchers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0011'
down_revision = '0010'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('environment',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('environment_marketplace_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('environment_pkey'))
    )
    op.create_index(op.f('environment_marketplace_id_idx'), 'environment', ['marketplace_id'], unique=False)
    op.create_index('environment_ranking_list_idx', 'environment', ['marketplace_id', 'ranking', 'id'], unique=False)
    op.create_table('price_range',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('minimum_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('maximum_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.CheckConstraint('minimum_amount >= 0 AND maximum_amount > minimum_amount', name=op.f('price_range_is_a_range')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('price_range_marketplace_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('price_range_pkey'))
    )
    op.create_index(op.f('price_range_marketplace_id_idx'), 'price_range', ['marketplace_id'], unique=False)
    op.create_index('price_range_ranking_list_idx', 'price_range', ['marketplace_id', 'ranking', 'id'], unique=False)
    op.create_table('universe',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('universe_marketplace_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('universe_pkey'))
    )
    op.create_index(op.f('universe_marketplace_id_idx'), 'universe', ['marketplace_id'], unique=False)
    op.create_index('universe_ranking_list_idx', 'universe', ['marketplace_id', 'ranking', 'id'], unique=False)
    op.create_table('customer',
    sa.Column('first_name', sa.String(80), nullable=False),
    sa.Column('last_name', sa.String(80), nullable=False),
    sa.Column('email', sa.String(254), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('normal_email', sa.String(254), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('customer_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('customer_pkey'))
    )
    op.create_index('customer_email_key', 'customer', ['partner_id', 'normal_email'], unique=True)
    op.create_table('media',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('uuid', sa.Uuid(), nullable=False),
    sa.Column('name', sa.String(200), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('archived_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('content_type', sa.String(40), nullable=False),
    sa.Column('size', sa.Integer(), nullable=False),
    sa.Column('width', sa.Integer(), nullable=False),
    sa.Column('height', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(64), nullable=False),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('media_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('media_pkey')),
    sa.UniqueConstraint('uuid', name=op.f('media_uuid_key'))
    )
    op.create_index('media_created_on_list_idx', 'media', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('media_name_list_idx', 'media', ['partner_id', 'name', 'id'], unique=False)
    op.create_index(op.f('media_partner_id_idx'), 'media', ['partner_id'], unique=False)
    op.create_table('voucher_option_category',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('description', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('min_number_options', sa.Integer(), nullable=True),
    sa.Column('max_number_options', sa.Integer(), nullable=True),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.CheckConstraint('min_number_options >= 0 AND max_number_options >= 0 AND min_number_options <= max_number_options', name=op.f('voucher_option_category_is_a_range')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_option_category_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_option_category_pkey'))
    )
    op.create_index(op.f('voucher_option_category_partner_id_idx'), 'voucher_option_category', ['partner_id'], unique=False)
    op.create_index('voucher_option_category_ranking_list_idx', 'voucher_option_category', ['partner_id', 'ranking', 'id'], unique=False)
    op.create_table('voucher_prototype',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('description', postgresql.JSONB(), nullable=False),
    sa.Column('long_description', postgresql.JSONB(), nullable=False),
    sa.Column('rent_conditions', postgresql.JSONB(), nullable=False),
    sa.Column('how_to_book_html', postgresql.JSONB(), nullable=False),
    sa.Column('pdf_description', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('type', sa.String(20), nullable=False),
    sa.Column('is_highlight', sa.Boolean(), nullable=False),
    sa.Column('price_scope', sa.Integer(), nullable=False),
    sa.Column('max_capacity', sa.Integer(), nullable=False),
    sa.Column('min_capacity', sa.Integer(), nullable=False),
    sa.Column('nb_nights', sa.Integer(), nullable=False),
    sa.Column('vat_rate', sa.Numeric(precision=5, scale=2), nullable=False),
    sa.Column('validity_months', sa.Integer(), nullable=False),
    sa.Column('last_active_day', sa.Date(), nullable=True),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('cover_image', sa.Integer(), nullable=False),
    sa.Column('nb_orders', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('universe_id', sa.Integer(), nullable=False),
    sa.Column('environment_id', sa.Integer(), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('stay_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('adults_price_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.Column('children_price_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.Column('baby_price_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_on', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('min_capacity >= 0 AND (max_capacity = 0 OR max_capacity >= min_capacity)', name=op.f('voucher_prototype_capacity_is_a_range')),
    sa.CheckConstraint('stay_price_amount >= 0 AND coalesce(adults_price_amount, 0) >= 0 AND coalesce(children_price_amount, 0) >= 0 AND coalesce(baby_price_amount, 0) >= 0', name=op.f('voucher_prototype_prices_not_negative')),
    sa.ForeignKeyConstraint(['environment_id'], ['environment.id'], name=op.f('voucher_prototype_environment_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_prototype_partner_id_fkey')),
    sa.ForeignKeyConstraint(['universe_id'], ['universe.id'], name=op.f('voucher_prototype_universe_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_prototype_pkey'))
    )
    op.create_index('voucher_prototype_created_on_list_idx', 'voucher_prototype', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index(op.f('voucher_prototype_environment_id_idx'), 'voucher_prototype', ['environment_id'], unique=False)
    op.create_index(op.f('voucher_prototype_partner_id_idx'), 'voucher_prototype', ['partner_id'], unique=False)
    op.create_index('voucher_prototype_ranking_list_idx', 'voucher_prototype', ['partner_id', 'ranking', 'id'], unique=False)
    op.create_index('voucher_prototype_stay_price_amount_list_idx', 'voucher_prototype', ['partner_id', 'stay_price_amount', 'id'], unique=False)
    op.create_index(op.f('voucher_prototype_universe_id_idx'), 'voucher_prototype', ['universe_id'], unique=False)
    op.create_table('voucher_option',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('description', postgresql.JSONB(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('countable', sa.Boolean(), nullable=False),
    sa.Column('is_global', sa.Boolean(), nullable=False),
    sa.Column('ranking', sa.Integer(), nullable=False),
    sa.Column('source_id', sa.String(80), nullable=False),
    sa.Column('has_been_ordered', sa.Boolean(), nullable=False),
    sa.Column('services', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('category_id', sa.Integer(), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('selling_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.CheckConstraint('selling_price_amount >= 0', name=op.f('voucher_option_price_not_negative')),
    sa.ForeignKeyConstraint(['category_id'], ['voucher_option_category.id'], name=op.f('voucher_option_category_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_option_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_option_pkey'))
    )
    op.create_index(op.f('voucher_option_category_id_idx'), 'voucher_option', ['category_id'], unique=False)
    op.create_index(op.f('voucher_option_partner_id_idx'), 'voucher_option', ['partner_id'], unique=False)
    op.create_index('voucher_option_ranking_list_idx', 'voucher_option', ['partner_id', 'ranking', 'id'], unique=False)
    op.create_table('voucher_prototype_image',
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('voucher_prototype_id', sa.Integer(), nullable=False),
    sa.Column('media_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['media_id'], ['media.id'], name=op.f('voucher_prototype_image_media_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_prototype_image_partner_id_fkey')),
    sa.ForeignKeyConstraint(['voucher_prototype_id'], ['voucher_prototype.id'], name=op.f('voucher_prototype_image_voucher_prototype_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_prototype_image_pkey')),
    sa.UniqueConstraint('voucher_prototype_id', 'position', name='voucher_prototype_image_position_key')
    )
    op.create_index('voucher_prototype_image_media_idx', 'voucher_prototype_image', ['media_id'], unique=False)
    op.create_index(op.f('voucher_prototype_image_partner_id_idx'), 'voucher_prototype_image', ['partner_id'], unique=False)
    op.create_table('voucher',
    sa.Column('code', sa.String(40), nullable=False),
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('summary', sa.String(1000), nullable=True),
    sa.Column('origin', sa.String(300), nullable=False),
    sa.Column('imported_from', sa.String(80), nullable=False),
    sa.Column('language', sa.String(2), nullable=False),
    sa.Column('prototype_name', postgresql.JSONB(), nullable=False),
    sa.Column('prototype_description', postgresql.JSONB(), nullable=False),
    sa.Column('prototype_rent_conditions', postgresql.JSONB(), nullable=False),
    sa.Column('prototype_type', sa.String(20), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('nb_nights', sa.Integer(), nullable=False),
    sa.Column('nb_adults', sa.Integer(), nullable=False),
    sa.Column('nb_children', sa.Integer(), nullable=False),
    sa.Column('nb_babies', sa.Integer(), nullable=False),
    sa.Column('reception_mode', sa.String(40), nullable=False),
    sa.Column('self_gifted', sa.Boolean(), nullable=False),
    sa.Column('message', sa.String(1000), nullable=True),
    sa.Column('to_giftee', sa.String(160), nullable=False),
    sa.Column('from_gifter', sa.String(160), nullable=False),
    sa.Column('payment_type', sa.String(40), nullable=False),
    sa.Column('is_group_payment', sa.Boolean(), nullable=False),
    sa.Column('voucher_prototype_id', sa.Integer(), nullable=False),
    sa.Column('activated_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('used_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('expires_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('coupon_id', sa.Integer(), nullable=True),
    sa.Column('order_id', sa.Integer(), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('normal_code', sa.String(40), nullable=False),
    sa.Column('document_token', sa.String(64), nullable=False),
    sa.Column('gifter_id', sa.Integer(), nullable=True),
    sa.Column('giftee_id', sa.Integer(), nullable=True),
    sa.Column('gifter_civility', sa.String(20), nullable=False),
    sa.Column('gifter_first_name', sa.String(80), nullable=False),
    sa.Column('gifter_last_name', sa.String(80), nullable=False),
    sa.Column('gifter_email', sa.String(254), nullable=False),
    sa.Column('gifter_address', sa.String(255), nullable=False),
    sa.Column('gifter_postal_code', sa.String(20), nullable=False),
    sa.Column('gifter_city', sa.String(80), nullable=False),
    sa.Column('gifter_country', sa.String(80), nullable=False),
    sa.Column('gifter_wired_phone', sa.String(40), nullable=True),
    sa.Column('gifter_mobile_phone', sa.String(40), nullable=True),
    sa.Column('giftee_first_name', sa.String(80), nullable=True),
    sa.Column('giftee_last_name', sa.String(80), nullable=True),
    sa.Column('giftee_email', sa.String(254), nullable=True),
    sa.Column('giftee_phone_number', sa.String(40), nullable=True),
    sa.Column('recipient_address', sa.String(600), nullable=True),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('total_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('purchase_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('rent_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('bought_rent_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('expedition_status', sa.String(20), nullable=False),
    sa.Column('expedition_date', sa.DateTime(timezone=True), nullable=True),
    sa.Column('cover_letter_url', sa.String(300), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_on', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint("(state = 'used') = (used_on IS NOT NULL)", name=op.f('voucher_used_has_its_day')),
    sa.CheckConstraint('total_price_amount >= 0 AND purchase_price_amount >= 0 AND rent_price_amount >= 0 AND bought_rent_price_amount >= 0', name=op.f('voucher_prices_not_negative')),
    sa.ForeignKeyConstraint(['coupon_id'], ['coupon.id'], name=op.f('voucher_coupon_id_fkey')),
    sa.ForeignKeyConstraint(['giftee_id'], ['customer.id'], name=op.f('voucher_giftee_id_fkey')),
    sa.ForeignKeyConstraint(['gifter_id'], ['customer.id'], name=op.f('voucher_gifter_id_fkey')),
    sa.ForeignKeyConstraint(['order_id'], ['shop_order.id'], name=op.f('voucher_order_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_partner_id_fkey')),
    sa.ForeignKeyConstraint(['voucher_prototype_id'], ['voucher_prototype.id'], name=op.f('voucher_voucher_prototype_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_pkey')),
    sa.UniqueConstraint('document_token', name='voucher_document_token_key'),
    sa.UniqueConstraint('normal_code', name='voucher_code_key')
    )
    op.create_index(op.f('voucher_coupon_id_idx'), 'voucher', ['coupon_id'], unique=False)
    op.create_index('voucher_created_on_list_idx', 'voucher', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('voucher_due_idx', 'voucher', ['expires_on', 'id'], unique=False, postgresql_where=sa.text("state IN ('paid', 'using')"))
    op.create_index('voucher_expires_on_list_idx', 'voucher', ['partner_id', 'expires_on', 'id'], unique=False)
    op.create_index(op.f('voucher_giftee_id_idx'), 'voucher', ['giftee_id'], unique=False)
    op.create_index(op.f('voucher_gifter_id_idx'), 'voucher', ['gifter_id'], unique=False)
    op.create_index(op.f('voucher_order_id_idx'), 'voucher', ['order_id'], unique=False)
    op.create_index('voucher_prototype_list_idx', 'voucher', ['partner_id', 'voucher_prototype_id', 'created_on', 'id'], unique=False)
    op.create_index('voucher_state_list_idx', 'voucher', ['partner_id', 'state', 'created_on', 'id'], unique=False)
    op.create_index(op.f('voucher_voucher_prototype_id_idx'), 'voucher', ['voucher_prototype_id'], unique=False)
    op.create_table('voucher_option_link',
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('included', sa.Boolean(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('voucher_prototype_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('option_id', sa.Integer(), nullable=False),
    sa.CheckConstraint('count >= 1', name=op.f('voucher_option_link_count_at_least_one')),
    sa.ForeignKeyConstraint(['option_id'], ['voucher_option.id'], name=op.f('voucher_option_link_option_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_option_link_partner_id_fkey')),
    sa.ForeignKeyConstraint(['voucher_prototype_id'], ['voucher_prototype.id'], name=op.f('voucher_option_link_voucher_prototype_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_option_link_pkey')),
    sa.UniqueConstraint('voucher_prototype_id', 'option_id', name='voucher_option_link_once_key')
    )
    op.create_index(op.f('voucher_option_link_option_id_idx'), 'voucher_option_link', ['option_id'], unique=False)
    op.create_index(op.f('voucher_option_link_partner_id_idx'), 'voucher_option_link', ['partner_id'], unique=False)
    op.create_table('voucher_chosen_option',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('voucher_id', sa.Integer(), nullable=False),
    sa.Column('option_id', sa.Integer(), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('unit_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('total_price_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.ForeignKeyConstraint(['option_id'], ['voucher_option.id'], name=op.f('voucher_chosen_option_option_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_chosen_option_partner_id_fkey')),
    sa.ForeignKeyConstraint(['voucher_id'], ['voucher.id'], name=op.f('voucher_chosen_option_voucher_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_chosen_option_pkey'))
    )
    op.create_index(op.f('voucher_chosen_option_option_id_idx'), 'voucher_chosen_option', ['option_id'], unique=False)
    op.create_index(op.f('voucher_chosen_option_partner_id_idx'), 'voucher_chosen_option', ['partner_id'], unique=False)
    op.create_index(op.f('voucher_chosen_option_voucher_id_idx'), 'voucher_chosen_option', ['voucher_id'], unique=False)
    op.create_table('voucher_included_option',
    sa.Column('name', postgresql.JSONB(), nullable=False),
    sa.Column('source_id', sa.String(80), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('voucher_id', sa.Integer(), nullable=False),
    sa.Column('option_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['option_id'], ['voucher_option.id'], name=op.f('voucher_included_option_option_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_included_option_partner_id_fkey')),
    sa.ForeignKeyConstraint(['voucher_id'], ['voucher.id'], name=op.f('voucher_included_option_voucher_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_included_option_pkey'))
    )
    op.create_index(op.f('voucher_included_option_option_id_idx'), 'voucher_included_option', ['option_id'], unique=False)
    op.create_index(op.f('voucher_included_option_partner_id_idx'), 'voucher_included_option', ['partner_id'], unique=False)
    op.create_index(op.f('voucher_included_option_voucher_id_idx'), 'voucher_included_option', ['voucher_id'], unique=False)
    op.create_table('voucher_rental',
    sa.Column('starts_on', sa.Date(), nullable=False),
    sa.Column('ends_on', sa.Date(), nullable=True),
    sa.Column('reference', sa.String(80), nullable=False),
    sa.Column('comment', sa.String(1000), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('voucher_id', sa.Integer(), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('voucher_rental_partner_id_fkey')),
    sa.ForeignKeyConstraint(['voucher_id'], ['voucher.id'], name=op.f('voucher_rental_voucher_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('voucher_rental_pkey'))
    )
    op.create_index(op.f('voucher_rental_partner_id_idx'), 'voucher_rental', ['partner_id'], unique=False)
    op.create_index(op.f('voucher_rental_voucher_id_idx'), 'voucher_rental', ['voucher_id'], unique=False)


def downgrade() -> None:
    op.drop_index(op.f('voucher_rental_voucher_id_idx'), table_name='voucher_rental')
    op.drop_index(op.f('voucher_rental_partner_id_idx'), table_name='voucher_rental')
    op.drop_table('voucher_rental')
    op.drop_index(op.f('voucher_included_option_voucher_id_idx'), table_name='voucher_included_option')
    op.drop_index(op.f('voucher_included_option_partner_id_idx'), table_name='voucher_included_option')
    op.drop_index(op.f('voucher_included_option_option_id_idx'), table_name='voucher_included_option')
    op.drop_table('voucher_included_option')
    op.drop_index(op.f('voucher_chosen_option_voucher_id_idx'), table_name='voucher_chosen_option')
    op.drop_index(op.f('voucher_chosen_option_partner_id_idx'), table_name='voucher_chosen_option')
    op.drop_index(op.f('voucher_chosen_option_option_id_idx'), table_name='voucher_chosen_option')
    op.drop_table('voucher_chosen_option')
    op.drop_index(op.f('voucher_option_link_partner_id_idx'), table_name='voucher_option_link')
    op.drop_index(op.f('voucher_option_link_option_id_idx'), table_name='voucher_option_link')
    op.drop_table('voucher_option_link')
    op.drop_index(op.f('voucher_voucher_prototype_id_idx'), table_name='voucher')
    op.drop_index('voucher_state_list_idx', table_name='voucher')
    op.drop_index('voucher_prototype_list_idx', table_name='voucher')
    op.drop_index(op.f('voucher_order_id_idx'), table_name='voucher')
    op.drop_index(op.f('voucher_gifter_id_idx'), table_name='voucher')
    op.drop_index(op.f('voucher_giftee_id_idx'), table_name='voucher')
    op.drop_index('voucher_expires_on_list_idx', table_name='voucher')
    op.drop_index('voucher_due_idx', table_name='voucher', postgresql_where=sa.text("state IN ('paid', 'using')"))
    op.drop_index('voucher_created_on_list_idx', table_name='voucher')
    op.drop_index(op.f('voucher_coupon_id_idx'), table_name='voucher')
    op.drop_table('voucher')
    op.drop_index(op.f('voucher_prototype_image_partner_id_idx'), table_name='voucher_prototype_image')
    op.drop_index('voucher_prototype_image_media_idx', table_name='voucher_prototype_image')
    op.drop_table('voucher_prototype_image')
    op.drop_index('voucher_option_ranking_list_idx', table_name='voucher_option')
    op.drop_index(op.f('voucher_option_partner_id_idx'), table_name='voucher_option')
    op.drop_index(op.f('voucher_option_category_id_idx'), table_name='voucher_option')
    op.drop_table('voucher_option')
    op.drop_index(op.f('voucher_prototype_universe_id_idx'), table_name='voucher_prototype')
    op.drop_index('voucher_prototype_ranking_list_idx', table_name='voucher_prototype')
    op.drop_index(op.f('voucher_prototype_partner_id_idx'), table_name='voucher_prototype')
    op.drop_index(op.f('voucher_prototype_environment_id_idx'), table_name='voucher_prototype')
    op.drop_index('voucher_prototype_created_on_list_idx', table_name='voucher_prototype')
    op.drop_table('voucher_prototype')
    op.drop_index('voucher_option_category_ranking_list_idx', table_name='voucher_option_category')
    op.drop_index(op.f('voucher_option_category_partner_id_idx'), table_name='voucher_option_category')
    op.drop_table('voucher_option_category')
    op.drop_index(op.f('media_partner_id_idx'), table_name='media')
    op.drop_index('media_name_list_idx', table_name='media')
    op.drop_index('media_created_on_list_idx', table_name='media')
    op.drop_table('media')
    op.drop_index('customer_email_key', table_name='customer')
    op.drop_table('customer')
    op.drop_index('universe_ranking_list_idx', table_name='universe')
    op.drop_index(op.f('universe_marketplace_id_idx'), table_name='universe')
    op.drop_table('universe')
    op.drop_index('price_range_ranking_list_idx', table_name='price_range')
    op.drop_index(op.f('price_range_marketplace_id_idx'), table_name='price_range')
    op.drop_table('price_range')
    op.drop_index('environment_ranking_list_idx', table_name='environment')
    op.drop_index(op.f('environment_marketplace_id_idx'), table_name='environment')
    op.drop_table('environment')
