"""Products and variants may have a SKU and a source id, by which carts name them."""

import sqlalchemy as sa
from alembic import op

revision = '0017'
down_revision = '0016'
branch_labels = None
depends_on = None

TABLES = ('product', 'product_variant')
NAMES = ('sku', 'source_id')


def upgrade() -> None:
    for table in TABLES:
        for name in NAMES:
            op.add_column(table, sa.Column(name, sa.String(64), nullable=False, server_default=''))
            op.alter_column(table, name, server_default=None)
            op.create_index(
                f'{table}_{name}_key', table, ['partner_id', name], unique=True, postgresql_where=sa.text(f"{name} <> ''")
            )


def downgrade() -> None:
    for table in TABLES:
        for name in NAMES:
            op.drop_index(f'{table}_{name}_key', table)
            op.drop_column(table, name)
