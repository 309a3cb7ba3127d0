"""Mails are found by the order that they are about."""

from alembic import op

revision = '0083'
down_revision = '0082'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX mail_order_search_idx ON mail (partner_id, coalesce(content ->> 'order_number', content ->> 'number'))"
    )
    op.execute('ANALYZE mail')  # the planner then knows the expression


def downgrade() -> None:
    op.drop_index('mail_order_search_idx', 'mail')
