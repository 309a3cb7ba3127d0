"""Coupons that cannot be combined with others."""

import sqlalchemy as sa
from alembic import op

revision = '0061'
down_revision = '0060'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('coupon', sa.Column('is_combinable', sa.Boolean(), server_default=sa.true(), nullable=False))


def downgrade() -> None:
    op.drop_column('coupon', 'is_combinable')
