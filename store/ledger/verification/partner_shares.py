# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of partners' shares of payments that went to the marketplace's wallet."""

from store.ledger.verification.journals import NAMED as JOURNAL
from store.ledger.verification.owners import PAYMENT_OF
from store.ledger.verification.rule import ACCOUNTS, JOURNALS, MINOR, Rule, is_checked

OF_SHARE = "('partner_network', 'owed_by_partner', 'commission', 'vat_on_commission')"
"""SQL: the accounts of a partner's share and of the commission in it."""
ORDERS = f"""
    SELECT format('payment:%s: the partner has %s of it, its order says %s', p.id, p.partner_share_amount, o.own) AS offender
    FROM payment p JOIN (
        SELECT p.id, CASE WHEN p.is_for_marketplace AND p.product <> 'network' THEN p.card_amount
            - coalesce(sum(l.total_amount - l.discount_amount) FILTER (WHERE l.network_id IS NOT NULL), 0) ELSE 0 END AS own
        FROM payment p JOIN order_product l ON l.order_id = p.order_id GROUP BY p.id
    ) o ON o.id = p.id
    WHERE {is_checked("p.book_id", "p.modified_on")} AND p.status = 'ok' AND p.partner_share_amount <> o.own
"""
POSTED = f"""
    SELECT format('transaction:%s of payment:%s: the partner has %s of it, its journal has moved %s', t.id, p.id,
        t.partner_share_amount, round(coalesce(j.moved, 0) / 10::numeric ^ b.minor_digits, b.minor_digits)) AS offender
    FROM payment_transaction t JOIN payment p ON p.id = t.payment_id JOIN ledger_book b ON b.id = p.book_id
    LEFT JOIN LATERAL (
        SELECT abs(sum(e.amount) FILTER (WHERE a.role IN {OF_SHARE})) AS moved
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        WHERE j.book_id = p.book_id AND (j.source_kind, j.source_id, j.kind) = (
            CASE t.type WHEN 'payin' THEN 'payment' ELSE 'refund' END,
            CASE t.type WHEN 'payin' THEN p.id::text ELSE concat(t.refund_id, ':', t.id) END,
            CASE t.type WHEN 'payin' THEN 'payment' ELSE 'refund' END)
    ) j ON true
    WHERE {is_checked("p.book_id", "greatest(p.modified_on, t.created_on, t.executed_on)")}
        AND p.partner_share_amount > 0 AND t.payment_method = 'credit_card' AND (t.type = 'refund' OR t.status = 'ok')
        AND {MINOR.format(amount="t.partner_share_amount")} <> coalesce(j.moved, 0)
"""
OF_NO_SHARE = "UNION ALL".join(
    f"""
    SELECT format('%s: moves what a partner has earned in the network', {JOURNAL}) FROM {JOURNALS} j {payment}
    WHERE j.source_kind = '{source_kind}' AND j.kind <> 'reversal' AND p.partner_share_amount = 0 AND EXISTS (
        SELECT 1 FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
        WHERE e.journal_id = j.id AND a.role IN ('partner_network', 'network_held'))
    """
    for source_kind, payment in PAYMENT_OF.items()
)
"""SQL: journals of other payments. What gift cards of the network have paid comes back by a `reversal`."""
HELD = f"""
    SELECT format('partner:%s: %s kept back in the network, its disputes say %s', coalesce(a.owner_id, d.partner_id),
        -coalesce(a.balance, 0), coalesce(d.held, 0))
    FROM (SELECT * FROM {ACCOUNTS} a WHERE a.role = 'network_held') a FULL JOIN (
        SELECT p.book_id, d.partner_id, sum({MINOR.format(amount="d.partner_share_held_amount")})::bigint AS held
        FROM dispute d JOIN payment p ON p.id = d.payment_id JOIN ledger_book b ON b.id = p.book_id
        WHERE d.partner_share_held_amount > 0 AND CAST(:since AS date) IS NULL
            AND (CAST(:books AS int[]) IS NULL OR p.book_id = ANY(CAST(:books AS int[])))
        GROUP BY 1, 2
    ) d ON (d.book_id, d.partner_id) = (a.book_id, a.owner_id)
    WHERE CAST(:since AS date) IS NULL AND -coalesce(a.balance, 0) <> coalesce(d.held, 0)
"""
RULES = (
    Rule(
        "partner_shares",
        "Of a payment for what is a partner's own and what its network sells, the partner has what the order says; its refunds "
        "and disputes take what they say of it. No other payment moves what partners have earned in their network.",
        f"{ORDERS} UNION ALL {POSTED} UNION ALL {OF_NO_SHARE} UNION ALL {HELD}",
    ),
)
