"""Rules of payments: their rows agree with the ledger, and whose money it is has it in its wallet."""

from store.ledger.balances import BALANCE
from store.ledger.verification.rule import ACCOUNTS, Rule

MINOR = "(({amount}) * 10::numeric ^ b.minor_digits)::bigint"
BACKING = f"""
    SELECT format('%s in book %s: its wallets hold %s, %s belongs to it or is promised',
        coalesce('partner:' || partner_id, 'the marketplace'), book_id, wallet, owed) AS offender
    FROM (
        SELECT a.partner_id, a.book_id,
            coalesce(sum({BALANCE.format(a="a")}) FILTER (WHERE a.role IN ('wallet', 'partner_shortfall', 'funds_shortfall')), 0)
                AS wallet,
            -coalesce(sum({BALANCE.format(a="a")}) FILTER (WHERE a.role IN
                ('partner', 'partner_held', 'marketplace_funds', 'funds_held', 'refund_due')), 0) AS owed
        FROM ledger_account a
        WHERE (a.book_id, coalesce(a.partner_id, 0)) IN (SELECT m.book_id, coalesce(m.partner_id, 0) FROM {ACCOUNTS} m)
        GROUP BY a.partner_id, a.book_id
    ) owners WHERE wallet <> owed
"""  # noqa: S608 - of SQL in this package
PAYMENTS = f"""
    SELECT format('payment:%s: %s by bank card of which %s commission, posted %s of which %s', p.id,
        {MINOR.format(amount="p.card_amount")}, {MINOR.format(amount="p.commission_amount")}, coalesce(j.amount, 0),
        coalesce(j.fees, 0)) AS offender
    FROM payment p JOIN ledger_book b ON b.id = p.book_id
    LEFT JOIN (
        SELECT j.source_id, coalesce(sum(e.amount) FILTER (WHERE e.amount > 0), 0)::bigint AS amount,
            coalesce(sum(e.amount) FILTER (WHERE a.role = 'fees_wallet'), 0)::bigint AS fees
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        WHERE j.source_kind = 'payment' AND j.kind IN ('payment', 'refill') GROUP BY j.source_id
    ) j ON j.source_id = p.id::text
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.created_on >= CAST(:since AS date))
        AND (coalesce(j.amount, 0) <> CASE WHEN p.status = 'ok' THEN {MINOR.format(amount="p.card_amount")} ELSE 0 END
            OR p.status = 'ok' AND p.card_amount > 0 AND j.fees <> {MINOR.format(amount="p.commission_amount")})
"""  # noqa: S608 - of SQL in this package
BOOKS = """
    SELECT format('payment:%s of book %s: wallet %s (%s) of book %s', p.id, p.book_id, w.id, w.kind, w.book_id) AS offender
    FROM payment p JOIN wallet w ON w.id = p.wallet_id
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.created_on >= CAST(:since AS date))
        AND (w.book_id <> p.book_id OR w.kind <> CASE WHEN p.is_refill THEN 'marketplace' ELSE 'partner' END)
    UNION ALL
    SELECT format('payment:%s of book %s: gift card %s of book %s', p.id, p.book_id, c.id, c.book_id)
    FROM payment p JOIN payment_source s ON s.payment_id = p.id JOIN gift_card c ON c.id = s.gift_card_id
    JOIN ledger_book b ON b.id = p.book_id AND p.created_on >= b.cards_checked_since
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.created_on >= CAST(:since AS date))
        AND c.book_id <> p.book_id
"""
SOURCES = """
    SELECT format('source:%s of payment:%s: %s refunded, its transactions say %s', s.id, s.payment_id, s.refunded_amount,
        coalesce(t.amount, 0)) AS offender
    FROM payment_source s JOIN payment p ON p.id = s.payment_id
    LEFT JOIN (
        SELECT source_id, sum(transaction_amount) AS amount, sum(commission_amount) AS commission,
            sum(commission_vat_amount) AS vat
        FROM payment_transaction WHERE type = 'refund' AND status IN ('ip', 'ok') GROUP BY source_id
    ) t ON t.source_id = s.id
    WHERE (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR p.modified_on >= CAST(:since AS date))
        AND (coalesce(t.amount, 0) <> s.refunded_amount OR coalesce(t.commission, 0) <> s.commission_back_amount
            OR coalesce(t.vat, 0) <> s.commission_vat_back_amount OR t.commission > p.commission_amount)
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
        "backing",
        "The wallets of each partner, and of the marketplace, hold what is theirs and what is promised to buyers.",
        BACKING,
    ),
    Rule(
        "payments_stay_in_their_book",
        "Each payment, its wallet and its gift cards are of one book; a refill goes to the marketplace's own wallet.",
        BOOKS,
    ),
    Rule("payments", "Each paid payment is posted once, with its amount and commission; no other is.", PAYMENTS),
    Rule("payment_sources", "What was refunded of each source is the sum of its refunds.", SOURCES),
    Rule("payment_totals", "Payments are the sum of their sources.", TOTALS),
    Rule("refunds", "Each refund is posted as far as it is.", REFUNDS),
    Rule("order_lines", "No more was refunded of the lines of an order than of its payment.", ORDER_LINES),
)
