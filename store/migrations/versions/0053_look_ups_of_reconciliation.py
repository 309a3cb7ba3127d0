"""Look-ups of reconciliation and of invoices."""

import sqlalchemy as sa
from alembic import op

revision = '0053'
down_revision = '0052'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index('ledger_journal_reported_idx', 'ledger_journal', [sa.text("split_part(source_id, ':', 2)")], postgresql_where=sa.text("kind IN ('payout_returned', 'settlement')"))
    op.create_index('invoice_number_idx', 'invoice', ['number'])


def downgrade() -> None:
    op.drop_index('invoice_number_idx', table_name='invoice')
    op.drop_index('ledger_journal_reported_idx', table_name='ledger_journal', postgresql_where=sa.text("kind IN ('payout_returned', 'settlement')"))
