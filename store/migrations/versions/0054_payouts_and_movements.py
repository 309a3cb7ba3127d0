"""Since when payouts wait, where their transfers are confirmed, which requests a line was in, and what is converted."""

import sqlalchemy as sa
from alembic import op

revision = '0054'
down_revision = '0053'
branch_labels = None
depends_on = None

WAITING = """
    UPDATE payout_request SET waiting_since = now() WHERE status = 'validated' AND settlement_sent_at IS NULL
        AND settled_on IS NULL AND detail LIKE 'The marketplace''s wallet holds %'
"""


def upgrade() -> None:
    op.add_column('payout_request', sa.Column('waiting_since', sa.DateTime(timezone=True), nullable=True))
    op.add_column('payout_request', sa.Column('confirmation_url', sa.String(), nullable=True))
    op.execute(WAITING)
    op.add_column('provider_movement', sa.Column('credited_currency', sa.String(length=3), nullable=True))
    op.execute('UPDATE provider_movement SET credited_currency = currency')
    op.alter_column('provider_movement', 'credited_currency', existing_type=sa.String(length=3), nullable=False)
    op.create_index('former_payout_item_of_item_idx', 'former_payout_item', ['payable_item_id'])


def downgrade() -> None:
    op.drop_index('former_payout_item_of_item_idx', table_name='former_payout_item')
    op.drop_column('provider_movement', 'credited_currency')
    op.drop_column('payout_request', 'confirmation_url')
    op.drop_column('payout_request', 'waiting_since')
