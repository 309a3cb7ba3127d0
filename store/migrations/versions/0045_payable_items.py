"""Payable items: what journals change about the earnings of partners."""

import sqlalchemy as sa
from alembic import op

revision = '0045'
down_revision = '0044'
branch_labels = None
depends_on = None

FILL = """
    WITH counted (kind, id, moment) AS (
        SELECT 'network_gift_card_usage', id::text, coalesce(freeze_payout_date, used_on) FROM network_gift_card_usage
        UNION ALL
        SELECT 'network_voucher_usage', id::text, coalesce(freeze_payout_date, used_on) FROM network_voucher_usage
        UNION ALL
        SELECT 'payment', id::text, freeze_payout_date FROM payment WHERE freeze_payout_date IS NOT NULL
        UNION ALL
        SELECT 'refund', concat(t.refund_id, ':', t.id), p.freeze_payout_date
        FROM payment p JOIN payment_transaction t ON t.payment_id = p.id AND t.refund_id IS NOT NULL
        WHERE p.freeze_payout_date IS NOT NULL
        UNION ALL
        SELECT 'dispute', d.id::text, p.freeze_payout_date FROM payment p JOIN dispute d ON d.payment_id = p.id
        WHERE p.freeze_payout_date IS NOT NULL
    )
    INSERT INTO payable_item (journal_id, book_id, marketplace_id, partner_id, own_amount, network_amount, payable_on)
    SELECT j.id, j.book_id, j.marketplace_id, e.partner_id, e.own_amount, e.network_amount,
        CASE WHEN j.kind IN ('payment', 'capture') THEN coalesce((c.moment AT TIME ZONE m.time_zone)::date, j.effective_on)
            ELSE greatest((c.moment AT TIME ZONE m.time_zone)::date, j.effective_on) END
    FROM (
        SELECT e.journal_id, a.owner_id AS partner_id,
            coalesce(-sum(e.amount) FILTER (WHERE a.role = 'partner'), 0) AS own_amount,
            coalesce(-sum(e.amount) FILTER (WHERE a.role = 'partner_network'), 0) AS network_amount
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
        WHERE a.role IN ('partner', 'partner_network') GROUP BY e.journal_id, a.owner_id
    ) e JOIN ledger_journal j ON j.id = e.journal_id JOIN marketplace m ON m.id = j.marketplace_id
    LEFT JOIN counted c ON c.kind = j.source_kind
        AND c.id = CASE j.source_kind WHEN 'dispute' THEN split_part(j.source_id, ':', 1) ELSE j.source_id END
    WHERE e.own_amount <> 0 OR e.network_amount <> 0
    ORDER BY j.id
"""


def upgrade() -> None:
    op.create_table(
        'payable_item',
        sa.Column('id', sa.BigInteger(), nullable=False),
        sa.Column('journal_id', sa.BigInteger(), nullable=False),
        sa.Column('book_id', sa.Integer(), nullable=False),
        sa.Column('marketplace_id', sa.Integer(), nullable=False),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('own_amount', sa.BigInteger(), nullable=False),
        sa.Column('network_amount', sa.BigInteger(), nullable=False),
        sa.Column('payable_on', sa.Date(), nullable=False),
        sa.CheckConstraint(
            'own_amount <> 0 OR network_amount <> 0', name=op.f('payable_item_changes_something')
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('payable_item_pkey')),
        sa.UniqueConstraint('journal_id', 'partner_id', name='payable_item_key'),
    )
    op.execute(FILL)
    op.create_index('payable_item_due_idx', 'payable_item', ['partner_id', 'payable_on'])


def downgrade() -> None:
    op.drop_table('payable_item')
