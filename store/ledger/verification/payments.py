"""Rules of payments: their rows agree with the ledger, and each partner's money is backed by its wallet."""

from store.ledger.balances import BALANCE
from store.ledger.verification.rule import ACCOUNTS, Rule

MINOR = "(({amount}) * 10::numeric ^ b.minor_digits)::bigint"
BACKING = f"""
    SELECT format('partner:%s in book %s: its wallets hold %s, %s belongs to it or is promised', partner_id, book_id, wallet, owed)
        AS offender
    FROM (
        SELECT a.partner_id, a.book_id,
            coalesce(sum({BALANCE.format(a="a")}) FILTER (WHERE a.role IN ('wallet', 'partner_shortfall')), 0) AS wallet,
            -coalesce(sum({BALANCE.format(a="a")}) FILTER (WHERE a.role IN ('partner', 'partner_held', 'refund_due')), 0) AS owed
        FROM {ACCOUNTS} a
        WHERE a.partner_id IS NOT NULL GROUP BY a.partner_id, a.book_id
    ) partners WHERE wallet <> owed
"""  # noqa: S608 - of SQL in this package
PAYMENTS = f"""
    SELECT format('payment:%s: %s by bank card of which %s commission, posted %s of which %s', p.id,
        {MINOR.format(amount="p.card_amount")}, {MINOR.format(amount="p.commission_amount")}, j.amount, j.fees) AS offender
    FROM payment p JOIN ledger_book b ON b.id = p.book_id
    LEFT JOIN LATERAL (
        SELECT coalesce(sum(e.amount) FILTER (WHERE e.amount > 0), 0)::bigint AS amount,
            coalesce(sum(e.amount) FILTER (WHERE a.role = 'fees_wallet'), 0)::bigint AS fees
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        WHERE j.source_kind = 'payment' AND j.source_id = p.id::text AND j.kind IN ('payment', 'refill')
    ) j ON true
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.created_on >= CAST(:since AS date))
        AND (j.amount <> CASE WHEN p.status = 'ok' THEN {MINOR.format(amount="p.card_amount")} ELSE 0 END
            OR p.status = 'ok' AND p.card_amount > 0 AND j.fees <> {MINOR.format(amount="p.commission_amount")})
"""  # noqa: S608 - of SQL in this package
SOURCES = """
    SELECT format('source:%s of payment:%s: %s refunded, its transactions say %s', s.id, s.payment_id, s.refunded_amount, t.amount)
        AS offender
    FROM payment_source s JOIN payment p ON p.id = s.payment_id
    LEFT JOIN LATERAL (
        SELECT coalesce(sum(t.transaction_amount), 0) AS amount, coalesce(sum(t.commission_amount), 0) AS commission,
            coalesce(sum(t.commission_vat_amount), 0) AS vat
        FROM payment_transaction t WHERE t.source_id = s.id AND t.type = 'refund' AND t.status IN ('ip', 'ok')
    ) t ON true
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.modified_on >= CAST(:since AS date))
        AND (t.amount <> s.refunded_amount OR t.commission <> s.commission_back_amount
            OR t.vat <> s.commission_vat_back_amount OR t.commission > p.commission_amount)
"""
TOTALS = """
    SELECT format('payment:%s: %s refunded, its sources say %s', p.id, p.refunded_amount, s.refunded) AS offender
    FROM payment p JOIN LATERAL (
        SELECT coalesce(sum(s.source_amount), 0) AS amount, coalesce(sum(s.refunded_amount), 0) AS refunded
        FROM payment_source s WHERE s.payment_id = p.id
    ) s ON true
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.modified_on >= CAST(:since AS date))
        AND (s.refunded <> p.refunded_amount OR s.amount <> p.payment_amount)
"""
REFUNDS = """
    SELECT format('transaction:%s of refund:%s is %s, posted %s', t.id, t.refund_id, t.status, j.kinds) AS offender
    FROM payment_transaction t JOIN payment p ON p.id = t.payment_id
    LEFT JOIN LATERAL (
        SELECT coalesce(string_agg(j.kind, ',' ORDER BY j.kind), '') AS kinds FROM ledger_journal j
        WHERE j.source_kind = 'refund' AND j.source_id = concat(t.refund_id, ':', t.id)
    ) j ON true
    WHERE t.type = 'refund' AND (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.modified_on >= CAST(:since AS date))
        AND j.kinds <> CASE
            WHEN t.payment_method = 'gift_card' THEN 'reversal'
            WHEN t.status = 'ok' THEN 'refund,refund_paid'
            WHEN t.status = 'err' THEN 'refund,refund_failed' ELSE 'refund' END
"""
ORDER_LINES = """
    SELECT format('order:%s: %s refunded of its lines and delivery, %s of its payment:%s', o.id,
        l.refunded + o.delivery_refunded_amount, p.refunded_amount, p.id) AS offender
    FROM payment p JOIN shop_order o ON o.id = p.order_id
    JOIN LATERAL (SELECT coalesce(sum(refunded_amount), 0) AS refunded FROM order_product WHERE order_id = o.id) l ON true
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.modified_on >= CAST(:since AS date))
        AND l.refunded + o.delivery_refunded_amount > p.refunded_amount
"""
RULES = (
    Rule(
        "backing", "Each partner's wallet holds what the partner has earned, and what is promised to buyers.", BACKING
    ),
    Rule("payments", "Each paid payment is posted once, with its amount and commission; no other is.", PAYMENTS),
    Rule("payment_sources", "What was refunded of each source is the sum of its refunds.", SOURCES),
    Rule("payment_totals", "Payments are the sum of their sources.", TOTALS),
    Rule("refunds", "Each refund is posted as far as it is.", REFUNDS),
    Rule("order_lines", "No more was refunded of the lines of an order than of its payment.", ORDER_LINES),
)
