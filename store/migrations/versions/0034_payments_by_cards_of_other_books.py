"""Books know since when no gift card of another book has paid in them."""

import sqlalchemy as sa
from alembic import op

revision = '0034'
down_revision = '0033'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('ledger_book', sa.Column('cards_checked_since', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False))


def downgrade() -> None:
    op.drop_column('ledger_book', 'cards_checked_since')
