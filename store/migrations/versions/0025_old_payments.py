"""What was paid in the checkout so far becomes payments, with their journals in the ledger."""

import sqlalchemy as sa
from alembic import op

from store.migrations.progress import by_step

revision = '0025'
down_revision = '0024'
branch_labels = None
depends_on = None

BOOKS = """
    INSERT INTO ledger_book (marketplace_id, currency, is_live, minor_digits)
    SELECT DISTINCT m.id, m.currency, p.status <> 't', CASE
        WHEN m.currency IN ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV',
            'XAF', 'XOF', 'XPF') THEN 0
        WHEN m.currency IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3
        WHEN m.currency IN ('CLF', 'UYW') THEN 4 ELSE 2 END
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    WHERE EXISTS (SELECT 1 FROM checkout_attempt a WHERE a.partner_id = p.id)
    ON CONFLICT DO NOTHING
"""
WALLETS = """
    INSERT INTO wallet (uuid, kind, is_live, book_id, marketplace_id, partner_id, provider_wallet_id)
    SELECT gen_random_uuid(), 'partner', b.is_live, b.id, m.id, p.id,
        coalesce(nullif(p.provider_wallet_id, ''), 'partner:' || p.id)
    FROM partner p JOIN marketplace m ON m.id = p.marketplace_id
    JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, p.status <> 't')
    WHERE EXISTS (SELECT 1 FROM checkout_attempt a WHERE a.partner_id = p.id AND a.card_amount > 0)
    ON CONFLICT DO NOTHING
"""
OTHER_WALLETS = WALLETS.replace("coalesce(nullif(p.provider_wallet_id, ''), 'partner:' || p.id)", "'partner:' || p.id").replace(
    'WHERE EXISTS', "WHERE NOT EXISTS (SELECT 1 FROM wallet w WHERE w.partner_id = p.id AND w.kind = 'partner') AND EXISTS"
)
"""Of partners whose wallet at the provider is another's too."""
PAYMENTS = """
    INSERT INTO payment (id, attempt_id, order_id, partner_id, book_id, wallet_id, currency, status, type, payment_amount,
        discount_amount, card_amount, extra_amount, commission_amount, commission_vat_amount, net_amount, refunded_amount,
        product, origin, description, language, created_on, modified_on, payin_result_code, payin_result_message,
        customer_first_name, customer_last_name, customer_email, document_token, round)
    SELECT a.id, a.id, o.id, a.partner_id, b.id, CASE WHEN a.card_amount > 0 THEN w.id END, a.currency, 'ok', 'credit_card',
        CASE WHEN o.id IS NULL THEN a.card_amount ELSE a.total_amount END, a.discount_amount, a.card_amount,
        CASE WHEN o.id IS NULL THEN 0 ELSE a.gift_card_amount END, 0, 0,
        CASE WHEN o.id IS NULL THEN a.card_amount ELSE a.total_amount END,
        CASE WHEN o.id IS NULL THEN a.card_amount ELSE 0 END,
        a.kind, 'shop', '', a.language, coalesce(o.created_on, a.created_on), coalesce(o.created_on, a.created_on), '', '',
        a.buyer ->> 'first_name', a.buyer ->> 'last_name', a.buyer ->> 'email',
        replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 0
    FROM checkout_attempt a JOIN partner p ON p.id = a.partner_id JOIN marketplace m ON m.id = p.marketplace_id
    JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, p.status <> 't')
    LEFT JOIN shop_order o ON o.attempt_id = a.id
    LEFT JOIN LATERAL (
        SELECT id FROM wallet w WHERE w.partner_id = p.id AND w.kind = 'partner' ORDER BY id LIMIT 1
    ) w ON true
    WHERE (o.id IS NOT NULL AND a.total_amount > 0)
        OR (a.state IN ('refunding', 'refunded') AND a.card_amount > 0 AND a.payin_id <> '')
"""
SOURCES = """
    INSERT INTO payment_source (payment_id, partner_id, currency, kind, source_amount, refunded_amount, gift_card_id,
        wallet_id, commission_back_amount, commission_vat_back_amount)
    SELECT p.id, p.partner_id, p.currency, 'gift_card', sum(x.paid_amount), 0, c.id, c.wallet_id, 0, 0
    FROM payment p JOIN order_payment x ON x.order_id = p.order_id JOIN gift_card c ON c.id = x.gift_card_id
    WHERE x.paid_amount > 0 GROUP BY p.id, c.id
    UNION ALL
    SELECT p.id, p.partner_id, p.currency, 'credit_card', p.card_amount, p.refunded_amount, NULL, NULL, 0, 0
    FROM payment p WHERE p.card_amount > 0
"""
PAYINS = """
    INSERT INTO payment_transaction (payment_id, partner_id, currency, type, status, payment_method, transaction_amount,
        commission_amount, commission_vat_amount, net_amount, created_on, executed_on, result_code, result_message,
        source_id, key, sent_at, tries, provider_id, payer_id, redirect_url)
    SELECT p.id, p.partner_id, p.currency, 'payin', 'ok', s.kind, s.source_amount, 0, 0, s.source_amount, p.created_on,
        p.created_on, '', '', s.id, CASE s.kind WHEN 'gift_card' THEN gen_random_uuid() ELSE a.payin_key END, a.created_on, 0,
        CASE s.kind WHEN 'gift_card' THEN '' ELSE a.payin_id END, CASE s.kind WHEN 'gift_card' THEN '' ELSE a.payer_id END, ''
    FROM payment p JOIN payment_source s ON s.payment_id = p.id JOIN checkout_attempt a ON a.id = p.attempt_id
    ORDER BY p.created_on, s.id
"""
REFUNDS = """
    INSERT INTO refund (id, payment_id, partner_id, currency, state, origin, refund_amount, reason, detail, created_on)
    SELECT p.id, p.id, p.partner_id, p.currency, CASE a.state WHEN 'refunded' THEN 'done' ELSE 'pending' END, 'shop',
        p.refunded_amount, '', '', p.created_on
    FROM payment p JOIN checkout_attempt a ON a.id = p.attempt_id WHERE p.refunded_amount > 0
"""
PARTS = """
    INSERT INTO payment_transaction (payment_id, refund_id, partner_id, currency, type, status, payment_method,
        transaction_amount, commission_amount, commission_vat_amount, net_amount, created_on, executed_on, result_code,
        result_message, source_id, key, sent_at, tries, provider_id, payer_id, redirect_url, check_on)
    SELECT p.id, r.id, p.partner_id, p.currency, 'refund', CASE r.state WHEN 'done' THEN 'ok' ELSE 'ip' END, 'credit_card',
        r.refund_amount, 0, 0, r.refund_amount, p.created_on, CASE r.state WHEN 'done' THEN p.created_on END, '', '', s.id,
        coalesce(a.refund_key, gen_random_uuid()), now(), 0, a.refund_id, '', '', CASE r.state WHEN 'pending' THEN now() END
    FROM refund r JOIN payment p ON p.id = r.payment_id JOIN checkout_attempt a ON a.id = p.attempt_id
    JOIN payment_source s ON s.payment_id = p.id AND s.kind = 'credit_card'
"""
TRANSFERS = """
    INSERT INTO transfer (marketplace_id, partner_id, currency, type, status, transfer_amount, created_on, payment_id,
        debited_wallet_id, credited_wallet_id)
    SELECT w.marketplace_id, p.partner_id, p.currency, 'payment', 'ok', s.source_amount, p.created_on, p.id, s.wallet_id,
        p.wallet_id
    FROM payment_source s JOIN payment p ON p.id = s.payment_id JOIN wallet w ON w.id = s.wallet_id
"""
POSTED = """
    CREATE TEMPORARY TABLE posted ON COMMIT DROP AS
    SELECT nextval('ledger_journal_id_seq') AS id, j.*, (j.amount * 10::numeric ^ b.minor_digits)::bigint AS minor,
        (j.recorded_on AT TIME ZONE m.time_zone)::date AS effective_on
    FROM (
        SELECT p.book_id, p.partner_id, 'payment' AS kind, 'payment' AS source_kind, p.id::text AS source_id,
            'wallet' AS debit_role, p.wallet_id::bigint AS debit_owner, 'partner' AS credit_role,
            p.partner_id::bigint AS credit_owner, p.card_amount AS amount, p.created_on AS recorded_on, 1 AS step
        FROM payment p WHERE p.card_amount > 0
        UNION ALL
        SELECT p.book_id, p.partner_id, 'refund', 'refund', concat(t.refund_id, ':', t.id), 'partner', p.partner_id,
            'refund_due', t.id, t.transaction_amount, p.created_on, 2
        FROM payment_transaction t JOIN payment p ON p.id = t.payment_id WHERE t.type = 'refund'
        UNION ALL
        SELECT p.book_id, p.partner_id, 'refund_paid', 'refund', concat(t.refund_id, ':', t.id), 'refund_due', t.id,
            'wallet', p.wallet_id, t.transaction_amount, p.created_on, 3
        FROM payment_transaction t JOIN payment p ON p.id = t.payment_id WHERE t.type = 'refund' AND t.status = 'ok'
    ) j JOIN ledger_book b ON b.id = j.book_id JOIN marketplace m ON m.id = b.marketplace_id
    ORDER BY j.recorded_on, j.source_id, j.step
"""
MOVED = """
    CREATE TEMPORARY TABLE moved ON COMMIT DROP AS
    SELECT id, 1 AS line, book_id, partner_id, debit_role AS role, debit_owner AS owner_id, minor AS amount FROM posted
    UNION ALL
    SELECT id, 2, book_id, partner_id, credit_role, credit_owner, -minor FROM posted
"""
ACCOUNTS = """
    INSERT INTO ledger_account (book_id, role, owner_id, partner_id, side, has_floor, balance, version)
    SELECT book_id, role, owner_id, partner_id, CASE role WHEN 'wallet' THEN 1 ELSE -1 END, role <> 'wallet',
        CASE role WHEN 'wallet' THEN 0 ELSE sum(amount) END, CASE role WHEN 'wallet' THEN 0 ELSE count(*) END
    FROM moved GROUP BY book_id, role, owner_id, partner_id
"""
JOURNALS = """
    INSERT INTO ledger_journal
        (id, book_id, partner_id, kind, source_kind, source_id, lines, effective_on, recorded_on, request_id, fingerprint)
    SELECT id, book_id, partner_id, kind, source_kind, source_id, 2, effective_on, recorded_on, '',
        sha256(concat(debit_role, ',', debit_owner, ',None,', minor, ';', credit_role, ',', credit_owner, ',None,', -minor)::bytea)
    FROM posted
"""
ENTRIES = """
    INSERT INTO ledger_entry (journal_id, line, account_id, amount, balance_after, version)
    SELECT e.id, e.line, a.id, e.amount, CASE WHEN a.has_floor THEN sum(e.amount) OVER running END,
        CASE WHEN a.has_floor THEN count(*) OVER running END
    FROM moved e JOIN ledger_account a ON (a.book_id, a.role, a.owner_id) = (e.book_id, e.role, e.owner_id)
        AND a.owner_uuid IS NULL
    WINDOW running AS (PARTITION BY a.id ORDER BY e.id)
"""
UPGRADE = {
    'open books': BOOKS,
    'open wallets': WALLETS,
    'open other wallets': OTHER_WALLETS,
    'payments': PAYMENTS,
    'sources of payments': SOURCES,
    'pay-ins': PAYINS,
    'refunds': REFUNDS,
    'parts of refunds': PARTS,
    'transfers': TRANSFERS,
    'journals to post': POSTED,
    'entries to post': MOVED,
    'accounts': ACCOUNTS,
    'journals': JOURNALS,
    'entries': ENTRIES,
    'journals posted': 'DROP TABLE posted',
    'entries posted': 'DROP TABLE moved',
}
DUE = 'checkout_attempt_due_idx'


def upgrade() -> None:
    by_step(UPGRADE)
    op.drop_table('order_payment')
    op.drop_index(op.f('checkout_attempt_refund_id_idx'), table_name='checkout_attempt')
    op.drop_column('checkout_attempt', 'refund_id')
    op.drop_column('checkout_attempt', 'refund_key')
    op.drop_index(DUE, table_name='checkout_attempt')
    unsettled = sa.text("state IN ('starting', 'open', 'abandoned')")
    op.create_index(DUE, 'checkout_attempt', ['check_on'], unique=False, postgresql_where=unsettled)


ORDER_PAYMENTS = """
    INSERT INTO order_payment (id, method, status, gift_card_id, partner_id, order_id, currency, paid_amount, created_on, provider_id)
    SELECT gen_random_uuid(), s.kind, p.status, s.gift_card_id, p.partner_id, p.order_id, p.currency, s.source_amount,
        p.created_on, coalesce(t.provider_id, '')
    FROM payment p JOIN payment_source s ON s.payment_id = p.id
    LEFT JOIN payment_transaction t ON t.source_id = s.id AND t.type = 'payin' AND t.status = 'ok'
    WHERE p.order_id IS NOT NULL AND p.status = 'ok'
"""
ATTEMPTS = """
    UPDATE checkout_attempt a SET refund_key = t.key, refund_id = t.provider_id
    FROM payment p JOIN payment_transaction t ON t.payment_id = p.id AND t.type = 'refund' WHERE p.attempt_id = a.id
"""
FORGET = (
    "CREATE TEMPORARY TABLE moved ON COMMIT DROP AS SELECT DISTINCT e.journal_id FROM ledger_entry e "
    "JOIN ledger_account a ON a.id = e.account_id WHERE a.role NOT IN ('card', 'card_held', 'issued')",
    "ALTER TABLE ledger_entry DISABLE TRIGGER USER",
    "ALTER TABLE ledger_journal DISABLE TRIGGER USER",
    "DELETE FROM ledger_entry e USING moved m WHERE m.journal_id = e.journal_id",
    "DELETE FROM ledger_journal j USING moved m WHERE m.journal_id = j.id",
    "ALTER TABLE ledger_entry ENABLE TRIGGER USER",
    "ALTER TABLE ledger_journal ENABLE TRIGGER USER",
    "DELETE FROM ledger_snapshot s USING ledger_account a WHERE a.id = s.account_id AND a.role NOT IN ('card', 'card_held', 'issued')",
    "DELETE FROM ledger_account WHERE role NOT IN ('card', 'card_held', 'issued')",
    "DELETE FROM transfer",
    "DELETE FROM payment_transaction",
    "DELETE FROM refund",
    "DELETE FROM payment_source",
    "DELETE FROM payment",
    "DELETE FROM wallet WHERE kind <> 'gift_card'",
    "DROP TABLE moved",
)


def downgrade() -> None:
    op.create_table(
        'order_payment',
        sa.Column('method', sa.String(20), nullable=False),
        sa.Column('status', sa.String(20), nullable=False),
        sa.Column('gift_card_id', sa.Integer(), nullable=True),
        sa.Column('id', sa.Uuid(), nullable=False),
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('order_id', sa.Integer(), nullable=False),
        sa.Column('currency', sa.String(3), nullable=False),
        sa.Column('paid_amount', sa.Numeric(precision=12, scale=2), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('provider_id', sa.String(128), nullable=False),
        sa.ForeignKeyConstraint(['order_id'], ['shop_order.id'], name=op.f('order_payment_order_id_fkey')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('order_payment_partner_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('order_payment_pkey')),
    )
    for column in ('order_id', 'partner_id'):
        op.create_index(op.f(f'order_payment_{column}_idx'), 'order_payment', [column], unique=False)
    op.add_column('checkout_attempt', sa.Column('refund_key', sa.Uuid(), nullable=True))
    op.add_column('checkout_attempt', sa.Column('refund_id', sa.String(128), nullable=False, server_default=''))
    op.alter_column('checkout_attempt', 'refund_id', server_default=None)
    op.create_index(op.f('checkout_attempt_refund_id_idx'), 'checkout_attempt', ['refund_id'], unique=False)
    op.drop_index(DUE, table_name='checkout_attempt')
    unsettled = sa.text("state IN ('starting', 'open', 'abandoned', 'refunding')")
    op.create_index(DUE, 'checkout_attempt', ['check_on'], unique=False, postgresql_where=unsettled)
    by_step({'payments of orders': ORDER_PAYMENTS, 'refunds of attempts': ATTEMPTS})
    for statement in FORGET:
        op.execute(statement)
