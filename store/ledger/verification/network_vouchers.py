# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of network vouchers: their rows, and those of their usages, repeat what the ledger counts."""

from store.ledger.verification.network_usages import usages_rule
from store.ledger.verification.rule import ACCOUNTS, Rule

RULES = (
    Rule(
        "network_vouchers_show_what_is_owed",
        "What is not used of the price of every network voucher, and is owed, is the balance of its account.",
        f"""
        SELECT format('network voucher %s: %s, in the ledger %s', v.id, v.price_amount - v.used_amount - v.unowed_amount,
            round(coalesce(-a.balance, 0) / 10::numeric ^ b.minor_digits, b.minor_digits)) AS offender
        FROM network_voucher v JOIN ledger_book b ON b.id = v.book_id
        LEFT JOIN {ACCOUNTS} a ON (a.book_id, a.role, a.owner_id) = (v.book_id, 'network_voucher', v.id)
        WHERE (CAST(:books AS int[]) IS NULL OR v.book_id = ANY(CAST(:books AS int[])))
            AND (CAST(:since AS date) IS NULL OR a.id IS NOT NULL)
            AND (v.price_amount - v.used_amount - v.unowed_amount) * 10::numeric ^ b.minor_digits <> coalesce(-a.balance, 0)
        UNION ALL
        SELECT format('account %s (network voucher %s) of book %s', a.id, a.owner_id, a.book_id)
        FROM {ACCOUNTS} a LEFT JOIN network_voucher v ON v.id = a.owner_id
        WHERE a.role = 'network_voucher' AND v.book_id IS DISTINCT FROM a.book_id
        """,
    ),
    Rule(
        "network_vouchers_show_their_usages",
        "The usages of every network voucher, and those in the system that it comes from, are as many as it counts and "
        "took what it says; the first is the earliest.",
        """
        SELECT format('network voucher %s: %s usages of %s since %s, but its rows say %s of %s since %s', v.id,
            v.usage_count, v.used_amount, v.first_used_on, u.usages, u.amount, u.first) AS offender
        FROM network_voucher v LEFT JOIN LATERAL (
            SELECT v.usages_elsewhere + count(*) AS usages, v.used_elsewhere_amount + coalesce(sum(value_amount), 0) AS amount,
                least(v.first_used_elsewhere_on, min(used_on)) AS first
            FROM network_voucher_usage WHERE network_voucher_id = v.id AND is_active
        ) u ON true
        WHERE (CAST(:books AS int[]) IS NULL OR v.book_id = ANY(CAST(:books AS int[])))
            AND (v.usage_count, v.used_amount, v.first_used_on) IS DISTINCT FROM (u.usages, u.amount, u.first)
        """,
    ),
    usages_rule(
        "network_voucher_usages",
        "Each usage of a network voucher is posted with its value, its fees and what the partner earns; so is each that was "
        "cancelled. Nothing else is.",
        table="network_voucher_usage",
        owner="network_voucher",
        role="network_voucher",
    ),
)
