# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of payable items: what partners have earned is what can be paid out, to the cent."""

from store.ledger.verification.journals import NAMED as JOURNAL
from store.ledger.verification.readings import JOURNAL_SUMS
from store.ledger.verification.rule import JOURNALS, Rule

PAID_OUT = "('payout_validated', 'payout_failed')"
EARNED = """(
    SELECT journal_id, least_earner_id AS partner_id, -own AS own, -network AS network FROM journal_sums
    WHERE least_earner_id = most_earner_id
    UNION ALL
    SELECT e.journal_id, a.owner_id, -sum(e.amount) FILTER (WHERE a.role = 'partner'),
        -sum(e.amount) FILTER (WHERE a.role = 'partner_network')
    FROM journal_sums s JOIN ledger_entry e ON e.journal_id = s.journal_id JOIN ledger_account a ON a.id = e.account_id
    WHERE s.least_earner_id <> s.most_earner_id AND a.role IN ('partner', 'partner_network')
    GROUP BY e.journal_id, a.owner_id
)"""
"""SQL: what each journal changes of the earnings of each partner, of one or of several."""
RULES = (
    Rule(
        "payable_items_are_earnings",
        "Every journal that changes a partner's earnings has one payable item, of the same amounts; payouts have none.",
        f"""
        SELECT format('%s: %s own and %s in the network of partner:%s, payable %s and %s',
            {JOURNAL}, coalesce(d.own, 0), coalesce(d.network, 0), d.partner_id,
            coalesce(d.own_amount, 0), coalesce(d.network_amount, 0)) AS offender
        FROM (
            SELECT * FROM {EARNED} earned FULL JOIN payable_item USING (journal_id, partner_id)
        ) d JOIN {JOURNALS} j ON j.id = d.journal_id
        WHERE CASE WHEN j.kind IN {PAID_OUT} THEN (d.own_amount, d.network_amount) <> (0, 0)
            ELSE (coalesce(d.own, 0), coalesce(d.network, 0)) <> (coalesce(d.own_amount, 0), coalesce(d.network_amount, 0)) END
        """,
        JOURNAL_SUMS,
    ),
)
