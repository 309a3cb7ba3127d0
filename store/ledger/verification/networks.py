# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of networks: their money moves with the gift card or voucher that it is of, and with nothing else."""

from store.ledger.verification.journals import NAMED as JOURNAL
from store.ledger.verification.rule import ACCOUNTS, JOURNALS, MINOR, Rule

USAGES = "('network_gift_card_usage', 'network_voucher_usage')"
LIABILITIES = "('gift_card', 'network_voucher')"
"""SQL: the kinds of sources of journals about a gift card or voucher as a whole."""
MOVED = f"""(
    SELECT j.*, e.amount, a.role, a.owner_id FROM {JOURNALS} j
    JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
)"""


def _unowed(table: str, role: str, left: str) -> str:
    """SQL that finds rows of `table` whose unowed amount does not follow from their status and what is booked."""
    return f"""
        SELECT format('{table} %s: %s of %s is not owed, but it is %s, and %s is booked as breakage', c.id, c.unowed_amount,
            {left}, c.status, round(coalesce(m.booked, 0) / 10::numeric ^ b.minor_digits, b.minor_digits)) AS offender
        FROM {table} c JOIN ledger_book b ON b.id = c.book_id
        LEFT JOIN {ACCOUNTS} a ON (a.book_id, a.role, a.owner_id) = (c.book_id, '{role}', c.id)
        LEFT JOIN LATERAL (
            SELECT sum(e.amount) AS booked FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
            WHERE e.account_id = a.id AND j.kind IN ('breakage', 'breakage_reversal') AND j.source_kind IN {LIABILITIES}
        ) m ON true
        WHERE (CAST(:books AS int[]) IS NULL OR c.book_id = ANY(CAST(:books AS int[])))
            AND (CAST(:since AS date) IS NULL OR a.id IS NOT NULL)
            AND {MINOR.format(amount="c.unowed_amount")} <> CASE
                WHEN c.status IN ('draft', 'cncld') THEN {MINOR.format(amount=left)}
                WHEN c.status = 'exprd' THEN coalesce(m.booked, 0) ELSE 0 END
    """


RULES = (
    Rule(
        "unowed_amounts_follow_the_status",
        "Of a network's gift cards and vouchers nothing is owed while they are drafts and after they were cancelled, and of "
        "expired ones what is booked as breakage is not; all else is owed.",
        f"""
        {_unowed("gift_card", "card", "c.remaining_amount")} AND c.network_id IS NOT NULL
        UNION ALL
        {_unowed("network_voucher", "network_voucher", "(c.price_amount - c.used_amount)")}
        """,
    ),
    Rule(
        "network_earnings_are_of_usages",
        "Partners earn in their network by usages, their share of payments, adjustments and credit notes only, and lose it by "
        "cancelled usages, by refunds and disputes of payments, by adjustments, by payouts and by what they owe.",
        f"""
        SELECT DISTINCT format('%s: moves what a partner has earned in the network', {JOURNAL}) AS offender
        FROM {MOVED} j WHERE j.role = 'partner_network'
            AND (j.source_kind NOT IN {USAGES} OR j.kind NOT IN ('capture', 'reversal'))
            AND (j.source_kind, j.kind) NOT IN (('refund', 'reversal'), ('payout_adjustment', 'adjustment'), ('payment', 'payment'),
                ('refund', 'refund'), ('refund', 'refund_failed'), ('dispute', 'dispute'), ('dispute', 'dispute_won'),
                ('dispute', 'dispute_lost'))
            AND j.kind NOT IN ('payout_validated', 'payout_failed', 'recovery', 'credit_note', 'fee_retaken')
        """,
    ),
    Rule(
        "network_liabilities_move_alone",
        "What is issued, ended or booked as breakage of a network's gift card or voucher moves that one, and the funds, the "
        "debt and the income of its network.",
        f"""
        SELECT format('%s: of %s accounts of gift cards and vouchers', {JOURNAL}, j.owners) AS offender FROM (
            SELECT j.id, j.book_id, j.kind, j.source_kind, j.source_id,
                count(*) FILTER (WHERE j.role IN ('card', 'network_voucher')) AS owners,
                bool_and(j.role IN ('marketplace_funds', 'owed_by_marketplace', 'funds_shortfall', 'breakage')
                    OR j.role = CASE j.source_kind WHEN 'gift_card' THEN 'card' ELSE 'network_voucher' END
                        AND j.owner_id::text = split_part(j.source_id, ':', 1)) AS is_own
            FROM {MOVED} j WHERE j.kind IN ('issue', 'void', 'breakage', 'breakage_reversal') AND j.source_kind IN {LIABILITIES}
                AND j.partner_id IS NULL
            GROUP BY j.id, j.book_id, j.kind, j.source_kind, j.source_id
        ) j WHERE j.owners <> 1 OR NOT j.is_own
        """,
    ),
)
