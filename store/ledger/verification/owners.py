# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of owners: whose money an account counts, and a journal moves."""

from store.ledger.verification.balances import NAMED as ACCOUNT
from store.ledger.verification.journals import NAMED as JOURNAL
from store.ledger.verification.rule import ACCOUNTS, JOURNALS, Rule

OF_PARTNERS = "('partner', 'partner_held', 'owed_by_partner', 'partner_shortfall')"
OF_MARKETPLACES = "('marketplace_funds', 'funds_held', 'dispute_debt', 'funds_shortfall')"
MOVES = """(
    SELECT 'payment' AS source_kind, p.id::text AS source_id, p.partner_id, p.is_refill FROM payment p
    UNION ALL
    SELECT 'refund', concat(t.refund_id, ':', t.id), p.partner_id, p.is_refill
    FROM payment_transaction t JOIN payment p ON p.id = t.payment_id WHERE t.type = 'refund'
    UNION ALL
    SELECT 'dispute', d.id::text, p.partner_id, p.is_refill FROM dispute d JOIN payment p ON p.id = d.payment_id
)"""
"""SQL: what moves the money of payments by bank card. Further settlements of a dispute add their id to its own."""
MONEY = """(
    'payment', 'refill', 'refund', 'refund_paid', 'refund_failed', 'dispute', 'dispute_won', 'dispute_lost', 'settlement'
)"""
"""SQL: the kinds of these journals. Gift cards have others, about the partner of the card."""
RULES = (
    Rule(
        "accounts_are_of_their_owner",
        "Every account of a wallet, a partner or the marketplace counts the money of that owner.",
        f"""
        SELECT format('%s: counted for %s', {ACCOUNT}, coalesce('partner:' || a.partner_id, 'the marketplace')) AS offender
        FROM {ACCOUNTS} a LEFT JOIN wallet w ON w.id = CASE a.role WHEN 'wallet' THEN a.owner_id END
        WHERE CASE
            WHEN a.role = 'wallet' THEN w.id IS NOT NULL AND (a.book_id, a.partner_id) IS DISTINCT FROM (w.book_id, w.partner_id)
            WHEN a.role IN {OF_PARTNERS} THEN a.partner_id IS DISTINCT FROM a.owner_id
            WHEN a.role IN {OF_MARKETPLACES} THEN a.partner_id IS NOT NULL ELSE false END
        """,
    ),
    Rule(
        "journals_are_of_their_owner",
        "Every journal of a payment, its refunds and its disputes is the partner's; of a refill, the marketplace's.",
        f"""
        SELECT format('%s: of %s', {JOURNAL}, coalesce('partner:' || j.partner_id, 'the marketplace')) AS offender
        FROM {JOURNALS} j JOIN {MOVES} m ON m.source_kind = j.source_kind
            AND m.source_id = CASE j.source_kind WHEN 'dispute' THEN split_part(j.source_id, ':', 1) ELSE j.source_id END
        WHERE j.kind IN {MONEY} AND (j.partner_id IS DISTINCT FROM CASE WHEN NOT m.is_refill THEN m.partner_id END
            OR j.kind IN ('payment', 'refill') AND (j.kind = 'refill') <> m.is_refill)
        """,
    ),
)
