# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of network gift cards: what is left of them follows from what has moved, and their usages are posted."""

from store.ledger.verification.network_usages import usages_rule
from store.ledger.verification.rule import ACCOUNTS, MINOR, Rule

LIFE = "('issue', 'void', 'breakage', 'breakage_reversal')"
"""SQL: the kinds of journals that say whether a card is owed, and leave what is left of it."""
RULES: tuple[Rule, ...] = (
    Rule(
        "network_gift_cards_show_what_is_left",
        "What is left of every network gift card is its value less what was used of it, here and in the system that it "
        "comes from, and not returned.",
        f"""
        SELECT format('network gift card %s: %s of %s left, %s used elsewhere, but its journals have moved %s', c.id,
            c.remaining_amount, c.value_amount, c.used_elsewhere_amount,
            round(coalesce(m.moved, 0) / 10::numeric ^ b.minor_digits, b.minor_digits)) AS offender
        FROM gift_card c JOIN ledger_book b ON b.id = c.book_id
        LEFT JOIN {ACCOUNTS} a ON (a.book_id, a.role, a.owner_id) = (c.book_id, 'card', c.id)
        LEFT JOIN LATERAL (
            SELECT -sum(e.amount) AS moved FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
            WHERE e.account_id = a.id AND j.kind NOT IN {LIFE}
        ) m ON true
        WHERE c.network_id IS NOT NULL
            AND (CAST(:books AS int[]) IS NULL OR c.book_id = ANY(CAST(:books AS int[])))
            AND (CAST(:since AS date) IS NULL OR a.id IS NOT NULL)
            AND {MINOR.format(amount="c.remaining_amount - c.value_amount + c.used_elsewhere_amount")} <> coalesce(m.moved, 0)
        """,
    ),
    usages_rule(
        "gift_card_usages",
        "Each usage of a network gift card is posted with its value, its fees and what the partner earns; so is each that "
        "was cancelled. Nothing else is.",
        table="network_gift_card_usage",
        owner="gift_card",
        role="card",
    ),
)
