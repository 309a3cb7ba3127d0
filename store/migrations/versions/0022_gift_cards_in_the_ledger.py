"""Gift cards move into the ledger: each of their movements becomes a journal with the id of the movement."""

import sqlalchemy as sa
from alembic import op

from store.migrations.progress import by_range

revision = '0022'
down_revision = '0021'
branch_labels = None
depends_on = None

DIGITS = (
    "CASE WHEN m.currency IN ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', "
    "'XAF', 'XOF', 'XPF') THEN 0 WHEN m.currency IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3 "
    "WHEN m.currency IN ('CLF', 'UYW') THEN 4 ELSE 2 END"
)
BOOKS = f"""
    INSERT INTO ledger_book (marketplace_id, currency, is_live, minor_digits)
    SELECT DISTINCT m.id, m.currency, p.status <> 't', {DIGITS}
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    WHERE EXISTS (SELECT 1 FROM gift_card c WHERE c.partner_id = p.id)
    ON CONFLICT DO NOTHING
"""
CARDS = """
    UPDATE gift_card c SET book_id = b.id, wallet_id = nextval('wallet_id_seq')
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, p.status <> 't')
    WHERE p.id = c.partner_id AND c.id BETWEEN :first AND :last
"""
WALLETS = """
    INSERT INTO wallet (id, uuid, kind, is_live, book_id, marketplace_id, partner_id)
    SELECT c.wallet_id, gen_random_uuid(), 'gift_card', b.is_live, b.id, b.marketplace_id, c.partner_id
    FROM gift_card c JOIN ledger_book b ON b.id = c.book_id WHERE c.id BETWEEN :first AND :last
"""
ISSUED = """
    INSERT INTO ledger_account (book_id, role, owner_id, partner_id, side, has_floor, balance, version)
    SELECT DISTINCT book_id, 'issued', partner_id, partner_id, 1, false, 0, 0 FROM gift_card
"""
MOVED = """
    SELECT e.id, e.gift_card_id, e.partner_id, c.book_id, e.kind, e.created_on,
        e.attempt_id, e.hold_id, e.round,
        (e.amount * 10::numeric ^ b.minor_digits)::bigint AS amount, e.kind IN ('hold', 'release') AS is_hold, m.time_zone
    FROM gift_card_entry e JOIN gift_card c ON c.id = e.gift_card_id JOIN ledger_book b ON b.id = c.book_id
    JOIN marketplace m ON m.id = b.marketplace_id
    WHERE e.amount <> 0 AND e.gift_card_id BETWEEN :first AND :last
"""
ACCOUNTS = f"""
    INSERT INTO ledger_account (book_id, role, owner_id, partner_id, side, has_floor, balance, version)
    SELECT book_id, role, gift_card_id, partner_id, -1, true, sum(moved), count(*) FROM (
        SELECT book_id, 'card' AS role, gift_card_id, partner_id, -amount AS moved FROM ({MOVED}) e
        UNION ALL
        SELECT book_id, 'card_held', gift_card_id, partner_id, amount FROM ({MOVED}) e WHERE is_hold
    ) entries GROUP BY book_id, role, gift_card_id, partner_id
"""
JOURNALS = f"""
    INSERT INTO ledger_journal
        (id, book_id, partner_id, kind, source_kind, source_id, lines, effective_on, recorded_on, request_id, fingerprint)
    SELECT id, book_id, partner_id, kind,
        CASE WHEN attempt_id IS NOT NULL THEN 'checkout_attempt' WHEN hold_id IS NOT NULL THEN 'gift_card_hold'
            WHEN kind = 'issue' THEN 'gift_card' ELSE 'gift_card_entry' END,
        CASE WHEN attempt_id IS NOT NULL THEN concat(attempt_id, ':', round, ':', gift_card_id)
            WHEN hold_id IS NOT NULL THEN hold_id::text WHEN kind = 'issue' THEN gift_card_id::text ELSE id::text END,
        2, (created_on AT TIME ZONE time_zone)::date, created_on, '',
        sha256(concat(
            CASE WHEN is_hold THEN concat('card_held,', gift_card_id) ELSE concat('issued,', partner_id) END,
            ',None,', amount, ';card,', gift_card_id, ',None,', -amount)::bytea)
    FROM ({MOVED}) e ORDER BY e.id
"""
ENTRIES = f"""
    INSERT INTO ledger_entry (journal_id, line, account_id, amount, balance_after, version)
    SELECT e.id, e.line, a.id, e.moved,
        CASE WHEN a.has_floor THEN sum(e.moved) OVER running END, CASE WHEN a.has_floor THEN count(*) OVER running END
    FROM (
        SELECT id, 2 AS line, book_id, 'card' AS role, gift_card_id AS owner_id, -amount AS moved FROM ({MOVED}) e
        UNION ALL
        SELECT id, 1, book_id, CASE WHEN is_hold THEN 'card_held' ELSE 'issued' END,
            CASE WHEN is_hold THEN gift_card_id ELSE partner_id END, amount FROM ({MOVED}) e
    ) e JOIN ledger_account a ON (a.book_id, a.role, a.owner_id) = (e.book_id, e.role, e.owner_id) AND a.owner_uuid IS NULL
    WINDOW running AS (PARTITION BY a.id ORDER BY e.id)
"""
SEQUENCE = "SELECT setval('ledger_journal_id_seq', greatest((SELECT max(id) FROM ledger_journal), 1))"
VIEW = """
    CREATE VIEW gift_card_movement AS
    SELECT j.id, j.kind, round(-e.amount::numeric / 10::numeric ^ b.minor_digits, 2) AS amount, b.currency,
        coalesce(h.reference, '') AS reference, h.id AS hold_id, j.recorded_on AS created_on, a.partner_id,
        a.owner_id::int AS gift_card_id
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id
    JOIN ledger_book b ON b.id = a.book_id
    LEFT JOIN gift_card_hold h ON h.id = CASE j.source_kind WHEN 'gift_card_hold' THEN j.source_id::int END
    WHERE a.role = 'card'
"""
BACK = """
    INSERT INTO gift_card_entry
        (id, partner_id, gift_card_id, kind, amount, currency, reference, hold_id, attempt_id, round, created_on)
    SELECT v.id, v.partner_id, v.gift_card_id, v.kind, v.amount, v.currency, v.reference, v.hold_id,
        CASE WHEN j.source_kind = 'checkout_attempt' THEN split_part(j.source_id, ':', 1)::uuid END,
        CASE WHEN j.source_kind = 'checkout_attempt' THEN split_part(j.source_id, ':', 2)::int ELSE 0 END, v.created_on
    FROM gift_card_movement v JOIN ledger_journal j ON j.id = v.id ORDER BY v.id
"""


FORGET = (
    "CREATE TEMPORARY TABLE moved ON COMMIT DROP AS SELECT DISTINCT e.journal_id FROM ledger_entry e "
    "JOIN ledger_account a ON a.id = e.account_id WHERE a.role IN ('card', 'card_held', 'issued')",
    "ALTER TABLE ledger_entry DISABLE TRIGGER USER",
    "ALTER TABLE ledger_journal DISABLE TRIGGER USER",
    "DELETE FROM ledger_entry e USING moved m WHERE m.journal_id = e.journal_id",
    "DELETE FROM ledger_journal j USING moved m WHERE m.journal_id = j.id",
    "ALTER TABLE ledger_entry ENABLE TRIGGER USER",
    "ALTER TABLE ledger_journal ENABLE TRIGGER USER",
    "DELETE FROM ledger_snapshot s USING ledger_account a WHERE a.id = s.account_id AND a.role IN ('card', 'card_held', 'issued')",
    "DELETE FROM ledger_account WHERE role IN ('card', 'card_held', 'issued')",
    "DELETE FROM wallet WHERE kind = 'gift_card'",
    "DROP TABLE moved",
)


def upgrade() -> None:
    op.add_column('gift_card', sa.Column('book_id', sa.Integer(), nullable=True))
    op.add_column('gift_card', sa.Column('wallet_id', sa.Integer(), nullable=True))
    op.execute(BOOKS)
    by_range('gift_card', CARDS, WALLETS)
    op.alter_column('gift_card', 'book_id', nullable=False)
    op.alter_column('gift_card', 'wallet_id', nullable=False)
    op.create_unique_constraint(op.f('gift_card_wallet_id_key'), 'gift_card', ['wallet_id'])
    op.create_foreign_key(op.f('gift_card_wallet_id_fkey'), 'gift_card', 'wallet', ['wallet_id'], ['id'])
    op.create_foreign_key(op.f('gift_card_book_id_fkey'), 'gift_card', 'ledger_book', ['book_id'], ['id'])
    op.execute(ISSUED)
    op.execute("SET LOCAL work_mem = '128MB'")  # for the running sums of a range
    by_range('gift_card', ACCOUNTS, JOURNALS, ENTRIES)
    op.execute(SEQUENCE)
    op.drop_table('gift_card_entry')
    op.execute(VIEW)


def downgrade() -> None:
    op.create_table(
        'gift_card_entry',
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('gift_card_id', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(20), nullable=False),
        sa.Column('amount', sa.Numeric(precision=12, scale=2), nullable=False),
        sa.Column('attempt_id', sa.Uuid(), nullable=True),
        sa.Column('round', sa.Integer(), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('reference', sa.String(80), nullable=False),
        sa.Column('currency', sa.String(3), nullable=False),
        sa.Column('hold_id', sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(['attempt_id'], ['checkout_attempt.id'], name=op.f('gift_card_entry_attempt_id_fkey')),
        sa.ForeignKeyConstraint(['gift_card_id'], ['gift_card.id'], name=op.f('gift_card_entry_gift_card_id_fkey')),
        sa.ForeignKeyConstraint(['hold_id'], ['gift_card_hold.id'], name=op.f('gift_card_entry_hold_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('gift_card_entry_partner_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('gift_card_entry_pkey')),
        sa.UniqueConstraint('gift_card_id', 'attempt_id', 'round', 'kind', name='gift_card_entry_once_key'),
        sa.UniqueConstraint('hold_id', 'kind', name='gift_card_entry_once_a_hold_key'),
    )
    for column in ('attempt_id', 'gift_card_id', 'partner_id'):
        op.create_index(op.f(f'gift_card_entry_{column}_idx'), 'gift_card_entry', [column], unique=False)
    op.execute(BACK)
    op.execute("SELECT setval('gift_card_entry_id_seq', greatest((SELECT max(id) FROM gift_card_entry), 1))")
    op.execute('DROP VIEW gift_card_movement')
    for name in ('book_id', 'wallet_id'):
        op.drop_constraint(op.f(f'gift_card_{name}_fkey'), 'gift_card', type_='foreignkey')
    op.drop_constraint(op.f('gift_card_wallet_id_key'), 'gift_card', type_='unique')
    op.drop_column('gift_card', 'wallet_id')
    op.drop_column('gift_card', 'book_id')
    for statement in FORGET:
        op.execute(statement)
