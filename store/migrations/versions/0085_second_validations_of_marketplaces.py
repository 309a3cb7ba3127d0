"""Marketplaces tell from which amount a payout needs a second user."""

import sqlalchemy as sa
from alembic import op

revision = '0085'
down_revision = '0084'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        'marketplace',
        sa.Column('payout_second_validation_from_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    )
    op.create_check_constraint(
        op.f('marketplace_payout_second_validation'), 'marketplace', 'payout_second_validation_from_amount >= 0'
    )


def downgrade() -> None:
    op.drop_column('marketplace', 'payout_second_validation_from_amount')
