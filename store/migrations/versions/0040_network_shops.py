"""Shops of networks."""

import sqlalchemy as sa
from alembic import op

revision = '0040'
down_revision = '0039'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('partner', sa.Column('is_network_shop', sa.Boolean(), nullable=False, server_default='false'))
    op.alter_column('partner', 'is_network_shop', server_default=None)
    op.create_index(
        'partner_network_shop_key',
        'partner',
        ['marketplace_id'],
        unique=True,
        postgresql_where=sa.text('is_network_shop'),
    )


def downgrade() -> None:
    op.drop_index('partner_network_shop_key', 'partner')
    op.drop_column('partner', 'is_network_shop')
