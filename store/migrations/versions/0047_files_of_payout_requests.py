"""Files of payout requests."""

import sqlalchemy as sa
from alembic import op

revision = '0047'
down_revision = '0046'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('payout_request', sa.Column('pdf_made_on', sa.DateTime(timezone=True), nullable=True))
    op.add_column('payout_request', sa.Column('xlsx_made_on', sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column('payout_request', 'xlsx_made_on')
    op.drop_column('payout_request', 'pdf_made_on')
