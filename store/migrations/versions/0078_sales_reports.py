"""Sales reports read the pay-ins of a period."""

from alembic import op

revision = '0078'
down_revision = '0077'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX payment_transaction_payin_idx ON payment_transaction (partner_id, executed_on) "
        "WHERE type = 'payin' AND status = 'ok'"
    )


def downgrade() -> None:
    op.execute('DROP INDEX payment_transaction_payin_idx')
