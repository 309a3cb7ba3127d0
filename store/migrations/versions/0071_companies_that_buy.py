"""Companies that orders are bought by, for their invoices."""

import sqlalchemy as sa
from alembic import op

revision = '0071'
down_revision = '0070'
branch_labels = None
depends_on = None

COLUMNS = {
    'billing_company_name': 160,
    'billing_vat_id': 40,
    'billing_line_1': 120,
    'billing_line_2': 120,
    'billing_postal_code': 20,
    'billing_city': 80,
    'billing_country': 2,
}


def upgrade() -> None:
    for name, length in COLUMNS.items():
        op.add_column('shop_order', sa.Column(name, sa.String(length), nullable=True))
    op.create_check_constraint(
        op.f('shop_order_whole_billing'), 'shop_order', f'num_nulls({", ".join(COLUMNS)}) IN (0, 7)'
    )


def downgrade() -> None:
    op.drop_constraint(op.f('shop_order_whole_billing'), 'shop_order')
    for name in reversed(COLUMNS):
        op.drop_column('shop_order', name)
