# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of payments: their rows agree with the ledger, and whose money it is has it in its wallet."""

from store.ledger.balances import BALANCE
from store.ledger.verification.gift_card_payments import CAPTURED
from store.ledger.verification.readings import JOURNAL_SUMS
from store.ledger.verification.rule import ACCOUNTS, MINOR, Rule, differences, is_checked

OWNER = "CASE WHEN {a}.role NOT IN ('partner_network', 'network_reserved', 'network_held') THEN {a}.partner_id END"
"""SQL: in whose wallet the money of an account lies. What partners earn in their network lies in the marketplace's."""
WALLETS = "('wallet', 'partner_shortfall', 'funds_shortfall', 'owed_by_marketplace')"
THEIRS = """(
    'partner', 'partner_held', 'partner_reserved', 'recovery_due', 'marketplace_funds', 'funds_held', 'refund_due',
    'partner_network', 'network_reserved', 'network_held', 'network_voucher'
)"""
"""SQL: what belongs to owners; beside it, of a marketplace, what the gift cards of its network hold."""
NETWORK_INCOME = """(
    SELECT j.book_id, sum(e.amount)::bigint AS amount
    FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
    WHERE j.kind IN ('capture', 'reversal', 'breakage', 'breakage_reversal', 'recovery', 'adjustment') AND a.role IN
        ('commission', 'vat_on_commission', 'management_fees', 'promotion', 'breakage', 'partner_charges', 'owed_by_partner')
        OR j.kind = 'refund' AND a.role = 'owed_by_partner'
    GROUP BY j.book_id
)"""
"""SQL: what a marketplace has earned by usages, breakage and adjustments, debits positive: it stays in its wallet, and what partners owe
for usages, and for refunds at the provider of their share of what lay there, comes back to it.
"""
BACKING = f"""
    SELECT format('%s in book %s: its wallets hold %s, %s belongs to it or is promised',
        coalesce('partner:' || partner_id, 'the marketplace'), book_id, wallet, owed) AS offender
    FROM (
        SELECT {OWNER.format(a="a")} AS partner_id, a.book_id,
            coalesce(sum({BALANCE.format(a="a")}) FILTER (WHERE a.role IN {WALLETS}), 0) AS wallet,
            -coalesce(sum({BALANCE.format(a="a")}) FILTER (WHERE a.role IN {THEIRS} OR a.role = 'suspense' AND a.owner_id IS NOT NULL
                OR a.role IN ('card', 'card_held') AND a.partner_id IS NULL), 0)
                - coalesce(max(i.amount) FILTER (WHERE {OWNER.format(a="a")} IS NULL), 0) AS owed
        FROM ledger_account a LEFT JOIN {NETWORK_INCOME} i ON i.book_id = a.book_id
        WHERE (a.book_id, coalesce({OWNER.format(a="a")}, 0)) IN (
            SELECT m.book_id, coalesce({OWNER.format(a="m")}, 0) FROM {ACCOUNTS} m)
        GROUP BY 1, a.book_id
    ) owners WHERE wallet <> owed
"""
POSTED = """(
    SELECT j.source_id AS payment_id, e.debits::bigint AS amount, coalesce(e.commission, 0)::bigint AS commission,
        -coalesce(e.vat, 0)::bigint AS vat, j.book_id, j.effective_on
    FROM ledger_journal j JOIN journal_sums e ON e.journal_id = j.id
    WHERE j.source_kind = 'payment' AND j.kind IN ('payment', 'refill')
)"""
"""SQL: what was paid by bank card. It reads `JOURNAL_SUMS`."""
PAYMENTS = differences(
    """format('payment:%s: %s by bank card of which %s commission with %s VAT, %s', payment_id, amount, commission, vat,
        CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
    "payment_id, amount, commission, vat",
    f"""
        SELECT p.id::text AS payment_id, {MINOR.format(amount="p.card_amount")} AS amount,
            {MINOR.format(amount="p.commission_amount")} AS commission, {MINOR.format(amount="p.commission_vat_amount")} AS vat,
            {is_checked("p.book_id", "p.modified_on")} AS is_checked
        FROM payment p JOIN ledger_book b ON b.id = p.book_id
        WHERE p.status = 'ok' AND (p.card_amount > 0 OR p.commission_amount > 0 OR p.commission_vat_amount > 0)
    """,
    f"SELECT payment_id, amount, commission, vat, {is_checked('book_id', 'effective_on')} AS is_checked FROM {POSTED} j",
)
PAYINS = f"""
    {
    differences(
        '''format('payment:%s: a pay-in of %s (%s) of which %s commission with %s VAT, %s', payment_id, amount,
            coalesce('gift card ' || gift_card_id, 'bank card'), commission, vat,
            CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted, and not ok' END)''',
        "payment_id, gift_card_id, amount, commission, vat",
        f'''
            SELECT p.id::text AS payment_id, CASE t.payment_method WHEN 'gift_card' THEN coalesce(s.gift_card_id, 0) END AS gift_card_id,
                {MINOR.format(amount="t.transaction_amount")} AS amount, {MINOR.format(amount="t.commission_amount")} AS commission,
                {MINOR.format(amount="t.commission_vat_amount")} AS vat,
                {is_checked("p.book_id", "greatest(p.modified_on, t.created_on, t.executed_on)")} AS is_checked
            FROM payment_transaction t JOIN payment p ON p.id = t.payment_id JOIN ledger_book b ON b.id = p.book_id
            LEFT JOIN payment_source s ON s.id = t.source_id WHERE t.type = 'payin' AND t.status = 'ok'
        ''',
        f'''
            SELECT payment_id, NULL::bigint AS gift_card_id, amount, commission, vat,
                {is_checked("book_id", "effective_on")} AS is_checked FROM {POSTED} j
            UNION ALL
            SELECT payment_id, gift_card_id, amount, 0, 0, {is_checked("book_id", "effective_on")} FROM {CAPTURED} c
        ''',
    )
}
    UNION ALL
    SELECT format('transaction:%s is %s, %s of which %s commission with %s VAT; its payment:%s is %s', t.id, t.status,
        t.transaction_amount, t.commission_amount, t.commission_vat_amount, p.id, p.status)
    FROM payment_transaction t JOIN payment p ON p.id = t.payment_id JOIN payment_source s ON s.id = t.source_id
    WHERE t.type = 'payin' AND t.status <> 'ok' AND p.status <> 'ok'
        AND {is_checked("p.book_id", "greatest(p.modified_on, t.created_on)")}
        AND ((t.status = 'ip' AND p.status <> 'ip') OR (t.transaction_amount, t.commission_amount, t.commission_vat_amount)
            <> (s.source_amount, p.commission_amount, p.commission_vat_amount))
"""
BOOKS = f"""
    SELECT format('payment:%s of book %s: wallet %s (%s) of book %s', p.id, p.book_id, w.id, w.kind, w.book_id) AS offender
    FROM payment p JOIN wallet w ON w.id = p.wallet_id
    WHERE {is_checked("p.book_id", "p.modified_on")}
        AND (w.book_id <> p.book_id OR w.kind <> CASE WHEN p.is_for_marketplace THEN 'marketplace' ELSE 'partner' END)
    UNION ALL
    SELECT format('payment:%s of book %s: gift card %s of book %s', p.id, p.book_id, c.id, c.book_id)
    FROM payment p JOIN payment_source s ON s.payment_id = p.id JOIN gift_card c ON c.id = s.gift_card_id
    JOIN ledger_book b ON b.id = p.book_id AND p.created_on >= b.cards_checked_since
    WHERE {is_checked("p.book_id", "p.modified_on")} AND c.book_id <> p.book_id
"""
SOURCES = f"""
    SELECT format('source:%s of payment:%s: %s refunded, its transactions say %s', s.id, s.payment_id, s.refunded_amount,
        coalesce(t.amount, 0)) AS offender
    FROM payment_source s JOIN payment p ON p.id = s.payment_id
    LEFT JOIN (
        SELECT source_id, sum(transaction_amount) AS amount, sum(commission_amount) AS commission, sum(commission_vat_amount) AS vat,
            sum(partner_share_amount) AS share
        FROM payment_transaction WHERE type = 'refund' AND status IN ('ip', 'ok') GROUP BY source_id
    ) t ON t.source_id = s.id
    WHERE {is_checked("p.book_id", "p.modified_on")}
        AND (coalesce(t.amount, 0) <> s.refunded_amount OR coalesce(t.commission, 0) <> s.commission_back_amount
            OR coalesce(t.vat, 0) <> s.commission_vat_back_amount OR t.commission > p.commission_amount
            OR coalesce(t.share, 0) <> s.partner_share_back_amount OR t.share > p.partner_share_amount)
"""
TOTALS = f"""
    SELECT format('payment:%s: %s of which %s refunded, its sources say %s of which %s', p.id, p.payment_amount, p.refunded_amount,
        coalesce(sum(s.source_amount), 0), coalesce(sum(s.refunded_amount), 0)) AS offender
    FROM payment p LEFT JOIN payment_source s ON s.payment_id = p.id
    WHERE {is_checked("p.book_id", "p.modified_on")} GROUP BY p.id
    HAVING coalesce(sum(s.refunded_amount), 0) <> p.refunded_amount OR coalesce(sum(s.source_amount), 0) <> p.payment_amount
"""
REFUNDS = differences(
    """format('refund:%s: %s, %s%s of which %s commission with %s VAT, %s', source_id, kind,
        coalesce('gift card ' || gift_card_id || ', ', ''), amount, commission, vat,
        CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
    "source_id, kind, gift_card_id, amount, commission, vat",
    f"""
        SELECT concat(t.refund_id, ':', t.id) AS source_id, k.kind, s.gift_card_id, {MINOR.format(amount="t.transaction_amount")} AS amount,
            {MINOR.format(amount="t.commission_amount")} AS commission,
            CASE k.kind WHEN 'refund_paid' THEN 0 ELSE {MINOR.format(amount="t.commission_vat_amount")} END AS vat,
            {is_checked("p.book_id", "greatest(p.modified_on, t.created_on, t.executed_on)")} AS is_checked
        FROM payment_transaction t JOIN payment p ON p.id = t.payment_id JOIN ledger_book b ON b.id = p.book_id
        LEFT JOIN payment_source s ON s.id = t.source_id
        JOIN (VALUES ('gift_card', 'ip', 'reversal'), ('gift_card', 'ok', 'reversal'), ('gift_card', 'err', 'reversal'),
            ('credit_card', 'ip', 'refund'), ('credit_card', 'ok', 'refund'), ('credit_card', 'err', 'refund'),
            ('credit_card', 'ok', 'refund_paid'), ('credit_card', 'err', 'refund_failed')) AS k (method, status, kind)
            ON (k.method, k.status) = (t.payment_method, t.status)
        WHERE t.type = 'refund'
    """,
    f"""
        SELECT j.source_id, j.kind, max(a.owner_id) FILTER (WHERE a.role = 'card') AS gift_card_id,
            CASE j.kind WHEN 'reversal' THEN -coalesce(sum(e.amount) FILTER (WHERE a.role = 'card'), 0)
                ELSE sum(e.amount) FILTER (WHERE e.amount > 0) END::bigint AS amount,
            abs(coalesce(sum(e.amount) FILTER (WHERE a.role = 'commission_back'), 0))::bigint AS commission,
            abs(coalesce(sum(e.amount) FILTER (WHERE a.role = 'vat_on_commission' AND j.kind <> 'reversal'), 0))::bigint AS vat,
            {is_checked("j.book_id", "j.effective_on")} AS is_checked
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        WHERE j.source_kind = 'refund' AND j.kind IN ('refund', 'refund_paid', 'refund_failed', 'reversal') GROUP BY j.id
    """,
)
REFUND_PARTS = f"""
    SELECT format('refund:%s of payment:%s: %s, %s; its parts are %s and %s', r.id, r.payment_id, r.refund_amount, r.state,
        coalesce(t.amount, 0), t.statuses) AS offender
    FROM refund r JOIN payment p ON p.id = r.payment_id LEFT JOIN (
        SELECT refund_id, sum(transaction_amount) AS amount, bool_and(status = 'ok') AS is_done, bool_or(status = 'err') AS has_failed,
            string_agg(status, ',' ORDER BY status) AS statuses
        FROM payment_transaction WHERE type = 'refund' GROUP BY refund_id
    ) t ON t.refund_id = r.id
    WHERE {is_checked("p.book_id", "greatest(p.modified_on, r.created_on)")}
        AND (t.refund_id IS NULL OR t.amount <> r.refund_amount OR t.is_done <> (r.state = 'done')
            OR t.has_failed <> (r.state = 'failed'))
"""
ORDER_LINES = f"""
    SELECT format('order:%s: %s refunded of its lines and delivery, %s of its payment:%s', o.id,
        coalesce(l.refunded, 0) + o.delivery_refunded_amount, p.refunded_amount, p.id) AS offender
    FROM payment p JOIN shop_order o ON o.id = p.order_id
    LEFT JOIN (SELECT order_id, sum(refunded_amount) AS refunded FROM order_product GROUP BY order_id) l ON l.order_id = o.id
    WHERE {is_checked("p.book_id", "p.modified_on")}
        AND coalesce(l.refunded, 0) + o.delivery_refunded_amount > p.refunded_amount
"""
RULES = (
    Rule(
        "backing",
        "The wallets of each partner, and of the marketplace, hold what is theirs and what is promised to buyers.",
        BACKING,
    ),
    Rule(
        "payments_stay_in_their_book",
        "Each payment, its wallet and its gift cards are of one book; a refill, and what a network sells, goes to the marketplace's own wallet.",
        BOOKS,
    ),
    Rule(
        "payments",
        "Each paid payment is posted once, with its amount, commission and VAT; no other is.",
        PAYMENTS,
        JOURNAL_SUMS,
    ),
    Rule(
        "payins",
        "Each pay-in that is ok is posted with its amount, commission and VAT; no other is.",
        PAYINS,
        JOURNAL_SUMS,
    ),
    Rule("payment_sources", "What was refunded of each source is the sum of its refunds.", SOURCES),
    Rule("payment_totals", "Payments are the sum of their sources.", TOTALS),
    Rule("refunds", "Each part of a refund is posted as far as it is, with its amount, commission and VAT.", REFUNDS),
    Rule("refund_parts", "Each refund is the sum of its parts, and as far as they are.", REFUND_PARTS),
    Rule("order_lines", "No more was refunded of the lines of an order than of its payment.", ORDER_LINES),
)
