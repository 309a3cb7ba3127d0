"""Payments that the provider notifies about are checked less often."""

import sqlalchemy as sa
from alembic import op

revision = '0026'
down_revision = '0025'
branch_labels = None
depends_on = None


def upgrade() -> None:
    notified = sa.Column('notified', sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column('checkout_attempt', notified)
    op.alter_column('checkout_attempt', 'notified', server_default=None)


def downgrade() -> None:
    op.drop_column('checkout_attempt', 'notified')
