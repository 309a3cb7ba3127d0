# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of network vouchers: their rows, and those of their usages, repeat what the ledger counts."""

from store.ledger.verification.rule import ACCOUNTS, MINOR, Rule, differences, is_checked

USAGES = differences(
    """format('usage %s of network voucher %s: %s of %s, %s for partner %s %s', usage_id, voucher_id, kind, amount, net,
        partner_id, CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
    "usage_id, voucher_id, partner_id, kind, amount, net",
    f"""
        SELECT u.id::text AS usage_id, u.network_voucher_id::bigint AS voucher_id, u.partner_id, k.kind,
            {MINOR.format(amount="u.value_amount")} AS amount, {MINOR.format(amount="u.net_amount")} AS net,
            {is_checked("v.book_id", "CASE k.kind WHEN 'capture' THEN u.recorded_on ELSE u.cancelled_on END")} AS is_checked
        FROM network_voucher_usage u JOIN network_voucher v ON v.id = u.network_voucher_id
        JOIN ledger_book b ON b.id = v.book_id
        JOIN (VALUES (true, 'capture'), (false, 'capture'), (false, 'reversal')) AS k (is_active, kind)
            ON k.is_active = u.is_active
        WHERE u.value_amount > 0
    """,
    f"""
        SELECT j.source_id, max(a.owner_id) FILTER (WHERE a.role = 'network_voucher'), j.partner_id, j.kind,
            abs(sum(e.amount) FILTER (WHERE a.role = 'network_voucher'))::bigint,
            coalesce(abs(sum(e.amount) FILTER (WHERE a.role IN ('partner_network', 'owed_by_partner'))), 0)::bigint,
            {is_checked("j.book_id", "j.effective_on")}
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        WHERE j.source_kind = 'network_voucher_usage' AND j.kind IN ('capture', 'reversal')
        GROUP BY j.id
    """,
)
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
    Rule(
        "usages_of_network_vouchers_are_posted",
        "Every usage of a network voucher, and its cancellation, is posted with its value and what its partner earns; "
        "nothing else is.",
        USAGES,
    ),
)
