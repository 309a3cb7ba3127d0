"""Readings of all entries that several rules share."""

from store.ledger.verification.rule import Reading

JOURNAL_SUMS = Reading(
    "journal_sums",
    """
    SELECT e.journal_id, count(*) AS lines, min(e.line) AS first, max(e.line) AS last, sum(e.amount) AS total,
        count(a.id) AS accounts, min(a.book_id) AS least_book_id, max(a.book_id) AS most_book_id,
        sha256(convert_to(string_agg(a.said || e.amount, ';' ORDER BY e.line), 'UTF8')) AS fingerprint,
        sum(e.amount) FILTER (WHERE e.amount > 0) AS debits, sum(e.amount) FILTER (WHERE a.is_commission) AS commission,
        sum(e.amount) FILTER (WHERE a.is_vat) AS vat, sum(e.amount) FILTER (WHERE a.is_own) AS own,
        sum(e.amount) FILTER (WHERE a.is_network) AS network, min(a.earner_id) AS least_earner_id,
        max(a.earner_id) AS most_earner_id
    FROM ledger_entry e LEFT JOIN (
        SELECT id, book_id, role = 'fees_wallet' AS is_commission, role = 'vat_on_commission' AS is_vat, role = 'partner' AS is_own,
            role = 'partner_network' AS is_network,
            CASE WHEN role IN ('partner', 'partner_network') THEN coalesce(owner_id, 0) END AS earner_id,
            concat(role, ',', coalesce(owner_id::text, 'None'), ',', coalesce(owner_uuid::text, 'None'), ',') AS said
        FROM ledger_account OFFSET 0
    ) a ON a.id = e.account_id GROUP BY e.journal_id
    """,
)
"""What the entries of each journal are and sum to. What their accounts say is written once for each account: `OFFSET 0` keeps
it so.
"""
ACCOUNT_SUMS = Reading(
    "account_sums", "SELECT account_id, sum(amount) AS total, count(*) AS entries FROM ledger_entry GROUP BY account_id"
)
"""What the entries of each account sum to."""
