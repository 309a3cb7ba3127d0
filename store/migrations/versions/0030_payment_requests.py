"""Payment requests: found by their texts, one live payment each, refills, and how long each marketplace's can be paid."""

import sqlalchemy as sa
from alembic import op

revision = '0030'
down_revision = '0029'
branch_labels = None
depends_on = None

TEXT = (
    "search_text(reference || chr(10) || description || chr(10) || code || chr(10) || customer_first_name || ' ' "
    "|| customer_last_name || chr(10) || customer_email)"
)


def upgrade() -> None:
    op.add_column('marketplace', sa.Column('payment_request_days', sa.Integer(), server_default='14', nullable=False))
    op.add_column('marketplace', sa.Column('payment_request_reminder_days', sa.Integer(), server_default='3', nullable=False))
    op.add_column('payment', sa.Column('is_refill', sa.Boolean(), server_default='false', nullable=False))
    op.add_column('payment_transaction', sa.Column('failure_reason', sa.String(length=40), server_default='', nullable=False))
    for table, column in (
        ('marketplace', 'payment_request_days'),
        ('marketplace', 'payment_request_reminder_days'),
        ('payment', 'is_refill'),
        ('payment_transaction', 'failure_reason'),
    ):
        op.alter_column(table, column, server_default=None)
    op.create_index('payment_of_request_key', 'payment', ['payment_request_id'], unique=True, postgresql_where=sa.text("status IN ('ip', 'err')"))
    op.execute(f'ALTER TABLE payment_request ADD COLUMN request_text text NOT NULL GENERATED ALWAYS AS ({TEXT}) STORED')
    op.execute("CREATE INDEX payment_request_search_idx ON payment_request USING gin ((search_grams('p', request_text)))")


def downgrade() -> None:
    op.execute('DROP INDEX payment_request_search_idx')
    op.drop_column('payment_request', 'request_text')
    op.drop_index('payment_of_request_key', table_name='payment')
    op.drop_column('payment_transaction', 'failure_reason')
    op.drop_column('payment', 'is_refill')
    op.drop_column('marketplace', 'payment_request_reminder_days')
    op.drop_column('marketplace', 'payment_request_days')
