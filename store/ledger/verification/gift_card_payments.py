# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of gift cards that pay: sources and transfers of payments agree with what was captured and returned."""

from store.ledger.verification.rule import MINOR, Rule, differences, is_checked

CAPTURED = """(
    SELECT coalesce(u.payment_id::text, split_part(j.source_id, ':', 1)) AS payment_id, a.owner_id AS gift_card_id, e.amount,
        j.book_id, j.effective_on
    FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
    LEFT JOIN network_gift_card_usage u
        ON u.id = CASE j.source_kind WHEN 'network_gift_card_usage' THEN j.source_id::int END AND u.payment_id IS NOT NULL
    WHERE j.kind = 'capture' AND (j.source_kind IN ('payment', 'checkout_attempt') OR u.id IS NOT NULL) AND a.role = 'card'
)"""
"""SQL: what gift cards have paid. A payment of the checkout has the id of its attempt; what a network's card has paid is a
usage."""
RETURNED = """(
    SELECT r.payment_id::text AS payment_id, a.owner_id AS gift_card_id, -e.amount AS amount, j.book_id, j.effective_on
    FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
    LEFT JOIN refund r ON r.id::text = split_part(j.source_id, ':', 1)
    WHERE j.kind = 'reversal' AND j.source_kind = 'refund' AND a.role = 'card'
)"""
"""SQL: what refunds gave back to gift cards."""
CAPTURES = differences(
    """format('payment:%s, gift card %s: %s %s', payment_id, gift_card_id, amount,
        CASE WHEN difference > 0 THEN 'not captured' ELSE 'captured, of no source' END)""",
    "payment_id, gift_card_id, amount",
    f"""
        SELECT p.id::text AS payment_id, s.gift_card_id, {MINOR.format(amount="s.source_amount")} AS amount,
            {is_checked("p.book_id", "p.modified_on")} AS is_checked
        FROM payment_source s JOIN payment p ON p.id = s.payment_id JOIN ledger_book b ON b.id = p.book_id
        WHERE s.kind = 'gift_card' AND p.status = 'ok'
    """,
    f"SELECT payment_id, gift_card_id, amount, {is_checked('book_id', 'effective_on')} AS is_checked FROM {CAPTURED} c",
)
TRANSFERS = f"""
    {
    differences(
        '''format('payment:%s, %s, wallet %s: a transfer of %s %s', payment_id, type, wallet_id, amount,
            CASE WHEN difference > 0 THEN 'was not posted' ELSE 'is missing' END)''',
        "payment_id, type, wallet_id, amount",
        f'''
            SELECT t.payment_id::text AS payment_id, t.type, w.id AS wallet_id, {MINOR.format(amount="t.transfer_amount")} AS amount,
                {is_checked("w.book_id", "t.created_on")} AS is_checked
            FROM transfer t
            LEFT JOIN wallet w ON w.id = CASE t.type WHEN 'payment' THEN t.debited_wallet_id ELSE t.credited_wallet_id END
            LEFT JOIN ledger_book b ON b.id = w.book_id
            WHERE t.type IN ('payment', 'reversal') AND t.status = 'ok'
        ''',
        f'''
            SELECT j.payment_id, j.type, c.wallet_id, j.amount, {is_checked("j.book_id", "j.effective_on")} AS is_checked FROM (
                SELECT 'payment' AS type, * FROM {CAPTURED} c UNION ALL SELECT 'reversal', * FROM {RETURNED} r
            ) j LEFT JOIN gift_card c ON c.id = j.gift_card_id
        ''',
    )
}
    UNION ALL
    SELECT format('transfer:%s: wallet %s, its payment:%s is of wallet %s', t.id, t.wallet_id, p.id, p.wallet_id)
    FROM (
        SELECT *, CASE type WHEN 'payment' THEN credited_wallet_id ELSE debited_wallet_id END AS wallet_id,
            CASE type WHEN 'payment' THEN debited_wallet_id ELSE credited_wallet_id END AS card_wallet_id FROM transfer
        WHERE type IN ('payment', 'reversal')
    ) t JOIN payment p ON p.id = t.payment_id LEFT JOIN wallet c ON c.id = t.card_wallet_id
    WHERE CASE WHEN c.id IS NOT NULL AND c.partner_id IS NULL THEN t.wallet_id IS NOT NULL
        WHEN p.is_for_marketplace THEN t.wallet_id IN (SELECT id FROM wallet WHERE partner_id IS DISTINCT FROM p.partner_id)
        ELSE p.wallet_id IS NOT NULL AND t.wallet_id IS DISTINCT FROM p.wallet_id END AND {
    is_checked("p.book_id", "t.created_on")
}
"""
RULES = (
    Rule("captures", "What the gift cards of each paid payment pay was captured of them; nothing else was.", CAPTURES),
    Rule(
        "transfers",
        "Each amount that a payment captured of a gift card, and each that a refund returned to it, is one transfer; what a "
        "network's card has paid goes into no partner's wallet.",
        TRANSFERS,
    ),
)
