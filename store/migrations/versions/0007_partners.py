"""What is known of partners, and asked for by payment providers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None


TEXTS = {
    'siret_number': 40,
    'rcs': 80,
    'ape': 20,
    'vat_id': 40,
    'legal_representative_first_name': 100,
    'legal_representative_last_name': 100,
    'legal_representative_email': 254,
    'legal_representative_nationality': 2,
    'legal_representative_country_of_residence': 2,
    'hq_address_line_1': 255,
    'hq_address_line_2': 255,
    'hq_postal_code': 20,
    'hq_city': 120,
    'hq_country_code': 2,
    'iban': 34,
    'bic': 11,
}
FLAGS = (
    'hide_from_stats',
    'third_party_sales_only',
    'auto_validate_payout',
    'freeze_payout',
    'block_payout_validation',
    'linked_to_nv_settings',
    'linked_to_ngc_settings',
)


def upgrade() -> None:
    for name, length in TEXTS.items():
        _add(name, sa.String(length), sa.text("''"))
    for name in FLAGS:
        _add(name, sa.Boolean(), sa.false())
    _add('tags', postgresql.ARRAY(sa.VARCHAR(length=60)), sa.text("'{}'"))
    op.add_column('partner', sa.Column('legal_representative_birthday', sa.Date(), nullable=True))
    op.add_column('partner', sa.Column('company_type', sa.String(20), nullable=True))
    op.add_column('partner', sa.Column('payout_frequency', sa.String(20), nullable=True))
    op.add_column('partner', sa.Column('referrer', sa.Integer(), nullable=True))
    op.alter_column('partner', 'hq_country', type_=sa.String(100), existing_type=sa.String(2), existing_nullable=False)
    op.execute("UPDATE partner SET hq_country_code = upper(hq_country)")
    op.drop_index(op.f('partner_marketplace_id_idx'), table_name='partner')
    op.create_index('partner_id_list_idx', 'partner', ['marketplace_id', 'id'], unique=False)
    op.create_index('partner_commercial_name_list_idx', 'partner', ['marketplace_id', 'commercial_name', 'id'], unique=False)
    op.create_index('partner_source_id_list_idx', 'partner', ['marketplace_id', 'source_id', 'id'], unique=False)
    op.create_index('partner_siret_number_idx', 'partner', ['marketplace_id', 'siret_number'], unique=False)
    op.create_index('partner_tags_idx', 'partner', ['tags'], unique=False, postgresql_using='gin')


def _add(name: str, kind: sa.types.TypeEngine[object], given: sa.sql.elements.ColumnElement[object]) -> None:
    """A column that the rows there are have nothing for."""
    op.add_column('partner', sa.Column(name, kind, nullable=False, server_default=given))
    op.alter_column('partner', name, server_default=None)


def downgrade() -> None:
    for name in ('tags', 'siret_number', 'source_id_list', 'commercial_name_list', 'id_list'):
        op.drop_index(f'partner_{name}_idx', table_name='partner')
    op.create_index(op.f('partner_marketplace_id_idx'), 'partner', ['marketplace_id'], unique=False)
    op.execute("UPDATE partner SET hq_country = hq_country_code")
    op.alter_column('partner', 'hq_country', type_=sa.String(2), existing_type=sa.String(100), existing_nullable=False)
    for name in ('referrer', 'payout_frequency', 'company_type', 'legal_representative_birthday', 'tags'):
        op.drop_column('partner', name)
    for name in (*FLAGS, *TEXTS):
        op.drop_column('partner', name)
