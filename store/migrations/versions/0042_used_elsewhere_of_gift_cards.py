"""What was used of networks' gift cards in the system that they come from."""

import sqlalchemy as sa
from alembic import op

revision = '0042'
down_revision = '0041'
branch_labels = None
depends_on = None

USED_ELSEWHERE = """
    UPDATE gift_card c SET used_elsewhere_amount = c.value_amount - c.remaining_amount - coalesce((
        SELECT sum(e.amount) / 10::numeric ^ b.minor_digits
        FROM ledger_account a JOIN ledger_book b ON b.id = a.book_id
        JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id
        WHERE a.book_id = c.book_id AND a.role = 'card' AND a.owner_id = c.id
            AND j.kind NOT IN ('issue', 'void', 'breakage', 'breakage_reversal')
        GROUP BY b.minor_digits
    ), 0) WHERE c.network_id IS NOT NULL
"""


def upgrade() -> None:
    op.add_column(
        'gift_card', sa.Column('used_elsewhere_amount', sa.Numeric(12, 2), server_default='0.00', nullable=False)
    )
    op.alter_column('gift_card', 'used_elsewhere_amount', server_default=None)
    op.execute(USED_ELSEWHERE)
    op.create_check_constraint(
        op.f('gift_card_counts_what_was_used_elsewhere'),
        'gift_card',
        'used_elsewhere_amount BETWEEN 0 AND value_amount - remaining_amount',
    )


def downgrade() -> None:
    op.drop_constraint(op.f('gift_card_counts_what_was_used_elsewhere'), 'gift_card')
    op.drop_column('gift_card', 'used_elsewhere_amount')
