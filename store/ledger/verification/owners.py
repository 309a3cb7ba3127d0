# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of owners: whose money an account counts, and a journal moves."""

from store.ledger.verification.balances import NAMED as ACCOUNT
from store.ledger.verification.journals import NAMED as JOURNAL
from store.ledger.verification.rule import ACCOUNTS, JOURNALS, Rule

OF_WALLETS = "('wallet', 'suspense')"
"""SQL: accounts of the money in wallets; what cannot be explained of fees stands in suspense without one."""
OF_PARTNERS = """('partner', 'partner_network', 'partner_held', 'partner_reserved', 'network_reserved', 'recovery_due',
    'network_held', 'owed_by_partner', 'partner_shortfall')"""
OF_MARKETPLACES = "('marketplace_funds', 'funds_held', 'dispute_debt', 'funds_shortfall', 'owed_by_marketplace')"
PAYMENT_OF = {
    "payment": "JOIN payment p ON p.id::text = j.source_id",
    "refund": """JOIN payment_transaction t ON concat(t.refund_id, ':', t.id) = j.source_id AND t.type = 'refund'
        JOIN payment p ON p.id = t.payment_id""",
    "dispute": """JOIN dispute d ON d.id::text = split_part(j.source_id, ':', 1)
        JOIN payment p ON p.id = d.payment_id""",
}
"""SQL: the payment of a journal, by the kind of its source. Further settlements of a dispute add their id to its own.

Each kind has a statement of its own: over all of them at once, a million entries take three times as long.
"""
MONEY = """(
    'payment', 'refill', 'refund', 'refund_paid', 'refund_failed', 'dispute', 'dispute_won', 'dispute_lost', 'settlement'
)"""
"""SQL: the kinds of these journals. Gift cards have others, about the partner of the card."""
OF_ANOTHER = """
    SELECT format('%s: of %s', {journal}, coalesce('partner:' || j.partner_id, 'the marketplace')) AS offender
    FROM {journals} j {payment} WHERE j.source_kind = '{source_kind}' AND j.kind IN {money}
        AND (j.partner_id IS DISTINCT FROM CASE WHEN NOT p.is_for_marketplace OR p.partner_share_amount > 0 THEN p.partner_id END
            OR j.kind IN ('payment', 'refill') AND (j.kind = 'refill') <> (p.is_for_marketplace AND p.attempt_id IS NULL))
"""
"""SQL: the journals of a kind of source that are not of their payment's owner."""
RULES = (
    Rule(
        "accounts_are_of_their_owner",
        "Every account of a wallet, a partner or the marketplace counts the money of that owner.",
        f"""
        SELECT CASE WHEN a.role IN {OF_WALLETS} AND w.id IS NULL THEN format('%s: there is no such wallet', {ACCOUNT})
            ELSE format('%s: counted for %s', {ACCOUNT}, coalesce('partner:' || a.partner_id, 'the marketplace')) END AS offender
        FROM {ACCOUNTS} a LEFT JOIN wallet w ON w.id = CASE WHEN a.role IN {OF_WALLETS} THEN a.owner_id END
        WHERE CASE
            WHEN a.role IN {OF_WALLETS} AND a.owner_id IS NOT NULL THEN (a.book_id, a.partner_id) IS DISTINCT FROM (w.book_id, w.partner_id)
            WHEN a.role IN {OF_PARTNERS} THEN a.partner_id IS DISTINCT FROM a.owner_id
            WHEN a.role IN {OF_MARKETPLACES} THEN a.partner_id IS NOT NULL ELSE false END
        """,
    ),
    Rule(
        "journals_are_of_their_owner",
        "Every journal of a payment, its refunds and its disputes is the partner's, who has it or a share of it; of a refill, "
        "and of what only a network sells, the marketplace's.",
        "UNION ALL".join(
            OF_ANOTHER.format(journal=JOURNAL, journals=JOURNALS, money=MONEY, source_kind=kind, payment=payment)
            for kind, payment in PAYMENT_OF.items()
        ),
    ),
)
