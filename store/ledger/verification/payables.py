# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of payable items: what partners have earned is what can be paid out, to the cent."""

from store.ledger.verification.journals import NAMED as JOURNAL
from store.ledger.verification.rule import JOURNALS, Rule

PAID_OUT = "('payout_validated', 'payout_failed')"
RULES = (
    Rule(
        "payable_items_are_earnings",
        "Every journal that changes a partner's earnings has one payable item, of the same amounts; payouts have none.",
        f"""
        SELECT format('%s: %s own and %s in the network of partner:%s, payable %s and %s',
            {JOURNAL}, coalesce(d.own, 0), coalesce(d.network, 0), d.partner_id,
            coalesce(d.own_amount, 0), coalesce(d.network_amount, 0)) AS offender
        FROM (
            SELECT * FROM (
                SELECT e.journal_id, a.owner_id AS partner_id,
                    -sum(e.amount) FILTER (WHERE a.role = 'partner') AS own,
                    -sum(e.amount) FILTER (WHERE a.role = 'partner_network') AS network
                FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
                JOIN ledger_journal j ON j.id = e.journal_id
                WHERE a.role IN ('partner', 'partner_network') AND j.kind NOT IN {PAID_OUT} GROUP BY e.journal_id, a.owner_id
            ) earned FULL JOIN payable_item USING (journal_id, partner_id)
        ) d JOIN {JOURNALS} j ON j.id = d.journal_id
        WHERE (coalesce(d.own, 0), coalesce(d.network, 0)) <> (coalesce(d.own_amount, 0), coalesce(d.network_amount, 0))
        """,
    ),
)
