"""Which orders have gift cards or boxes of the network."""

import sqlalchemy as sa
from alembic import op

revision = '0074'
down_revision = '0073'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('shop_order', sa.Column('has_network_lines', sa.Boolean(), server_default='false', nullable=False))
    op.execute("UPDATE shop_order SET has_network_lines = true WHERE kind = 'network'")


def downgrade() -> None:
    op.drop_column('shop_order', 'has_network_lines')
