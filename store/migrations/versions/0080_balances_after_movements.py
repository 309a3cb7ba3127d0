"""Movements of gift cards tell the balance after them, as the ledger has it."""

from alembic import op

revision = '0080'
down_revision = '0079'
branch_labels = None
depends_on = None

VIEW = """
    CREATE OR REPLACE VIEW gift_card_movement AS
    SELECT j.id, j.kind, round(-e.amount::numeric / 10::numeric ^ b.minor_digits, 2) AS amount, b.currency,
        coalesce(h.reference, '') AS reference, h.id AS hold_id, j.recorded_on AS created_on,
        coalesce(a.partner_id, j.partner_id) AS partner_id, a.owner_id::int AS gift_card_id{balance}
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id
    JOIN ledger_book b ON b.id = a.book_id
    LEFT JOIN gift_card_hold h ON h.id = CASE j.source_kind WHEN 'gift_card_hold' THEN j.source_id::int END
    WHERE a.role = 'card'
"""
BALANCE = ', round(-e.balance_after::numeric / 10::numeric ^ b.minor_digits, 2) AS balance_amount'


def upgrade() -> None:
    op.execute(VIEW.format(balance=BALANCE))


def downgrade() -> None:
    op.execute('DROP VIEW gift_card_movement')
    op.execute(VIEW.format(balance=''))
