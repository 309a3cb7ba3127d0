# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of payout requests: they are the sum of what they contain, and posted as far as they are."""

from store.ledger.verification.rule import MINOR, Rule, differences, is_checked

MOVED_BY_ADJUSTMENTS = "('partner', 'partner_network', 'recovery_due', 'owed_by_partner')"
"""SQL: the accounts that an adjustment moves beside what the marketplace pays or takes."""
RULES = (
    Rule(
        "payout_requests_are_sums",
        "Every payout request that was not cancelled and has not failed is the sum of its payable items, all of its partner.",
        f"""
        SELECT format('payout_request:%s: %s, its items %s', r.id, r.payout_amount, coalesce(t.amount, 0)) AS offender
        FROM payout_request r JOIN ledger_book b ON b.id = r.book_id LEFT JOIN (
            SELECT i.payout_request_id, sum(i.own_amount + i.network_amount) AS amount,
                bool_and((i.partner_id, i.book_id) = (r.partner_id, r.book_id)) AS is_own
            FROM payable_item i JOIN payout_request r ON r.id = i.payout_request_id GROUP BY i.payout_request_id
        ) t ON t.payout_request_id = r.id
        WHERE {is_checked("r.book_id", "r.created_on")} AND CASE
            WHEN r.status IN ('to be validated', 'validated', 'paid') OR r.returned_on IS NOT NULL
                THEN coalesce(t.amount, 0) <> {MINOR.format(amount="r.payout_amount")} OR NOT t.is_own
            ELSE t.amount IS NOT NULL END
        """,
    ),
    Rule(
        "payouts",
        "Every payout request is posted as far as it is: validated, transferred, paid, failed, returned; no other is.",
        differences(
            """format('payout_request:%s: %s %s, %s', source_id, kind, amount,
                CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
            "source_id, kind, amount",
            f"""
                SELECT r.id::text AS source_id, k.kind, {MINOR.format(amount="k.amount")} AS amount,
                    {is_checked("r.book_id", "r.created_on")} AS is_checked
                FROM payout_request r JOIN ledger_book b ON b.id = r.book_id CROSS JOIN LATERAL (VALUES
                    ('payout_validated', r.payout_amount, r.validated_on IS NOT NULL),
                    ('payout_settled', r.network_amount, r.settled_on IS NOT NULL AND r.network_amount > 0),
                    ('payout_paid', r.payout_amount + r.recovered_amount, r.paid_on IS NOT NULL),
                    ('payout_failed', r.payout_amount, r.status = 'failed' AND r.paid_on IS NULL)
                ) AS k (kind, amount, is_done) WHERE k.is_done
            """,
            f"""
                SELECT j.source_id, j.kind, -sum(e.amount) FILTER (WHERE e.amount < 0 AND CASE j.kind
                        WHEN 'payout_paid' THEN a.role = 'wallet' WHEN 'payout_settled' THEN a.role = 'wallet' ELSE true END
                    )::bigint AS amount, {is_checked("j.book_id", "j.effective_on")} AS is_checked
                FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
                WHERE j.source_kind = 'payout_request' AND j.kind <> 'payout_returned' GROUP BY j.id
            """,
        ),
    ),
    Rule(
        "payout_adjustments",
        "Every adjustment that is booked is posted once, with its amount; no other is.",
        differences(
            """format('payout_adjustment:%s: %s of partner:%s, %s', source_id, amount, partner_id,
                CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
            "source_id, partner_id, amount",
            f"""
                SELECT a.id::text AS source_id, a.partner_id, {MINOR.format(amount="a.adjustment_amount")} AS amount,
                    {is_checked("a.book_id", "a.booked_on")} AS is_checked
                FROM payout_adjustment a JOIN ledger_book b ON b.id = a.book_id WHERE a.status = 'booked'
            """,
            f"""
                SELECT j.source_id, j.partner_id, -coalesce(sum(e.amount) FILTER (
                        WHERE a.role IN {MOVED_BY_ADJUSTMENTS} AND a.owner_id = j.partner_id), 0)::bigint AS amount,
                    {is_checked("j.book_id", "j.effective_on")} AS is_checked
                FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
                WHERE j.kind = 'adjustment' OR j.source_kind = 'payout_adjustment' GROUP BY j.id
            """,
        ),
    ),
)
