# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of network gift cards: what is left of them follows from what has moved, and their usages are posted, those of
payments too.
"""

from store.ledger.verification.network_usages import usages_rule
from store.ledger.verification.rule import ACCOUNTS, MINOR, Rule, differences, is_checked

LIFE = "('issue', 'void', 'breakage', 'breakage_reversal')"
"""SQL: the kinds of journals that say whether a card is owed, and leave what is left of it."""
FEES = "('partner_network', 'owed_by_partner', 'commission', 'management_fees', 'vat_on_commission', 'promotion')"
"""SQL: the accounts of what partners and the network have of usages."""
PARTS = "payment_id, gift_card_id, partner_id, value, net, commission, fee, vat, promotion"


def _returned_part(amount: str) -> str:
    """SQL: the part of an amount of a usage that belongs to all that went back of it, in minor units."""
    return f"round(({amount}) * 10::numeric ^ b.minor_digits * u.returned_amount / u.value_amount)::bigint"


def _moved(role: str) -> str:
    return f"coalesce(sum(e.amount) FILTER (WHERE a.role = '{role}'), 0)::bigint"


RETURNS = differences(
    """format('payment:%s, gift card %s: %s returned by %s, net %s, commission %s, fee %s, VAT %s, promotion %s, %s',
        payment_id, gift_card_id, value, partner_id, net, commission, fee, vat, promotion,
        CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
    PARTS,
    f"""
        SELECT payment_id, gift_card_id, partner_id, value, net, commission - commission_vat AS commission,
            fees - commission - fee_vat AS fee, commission_vat + fee_vat AS vat,
            CASE fees_paid_by WHEN 'marketplace' THEN fees ELSE 0 END AS promotion, is_checked
        FROM (
            SELECT u.payment_id::text AS payment_id, u.gift_card_id::bigint AS gift_card_id, u.partner_id, u.fees_paid_by,
                {_returned_part("u.value_amount")} AS value,
                (u.returned_net_amount * 10::numeric ^ b.minor_digits)::bigint AS net,
                {_returned_part("u.commission_amount + u.management_fee_amount")} AS fees,
                {_returned_part("u.commission_amount")} AS commission, {_returned_part("u.commission_vat_amount")} AS commission_vat,
                {_returned_part("u.management_fee_vat_amount")} AS fee_vat,
                {is_checked("c.book_id", "p.modified_on")} AS is_checked
            FROM network_gift_card_usage u JOIN gift_card c ON c.id = u.gift_card_id JOIN ledger_book b ON b.id = c.book_id
            JOIN payment p ON p.id = u.payment_id WHERE u.returned_amount > 0
        ) r
    """,
    f"""
        SELECT j.payment_id, j.gift_card_id, j.partner_id, sum(j.value)::bigint, sum(j.net)::bigint, sum(j.commission)::bigint,
            sum(j.fee)::bigint, sum(j.vat)::bigint, sum(j.promotion)::bigint, bool_or(j.is_checked)
        FROM (
            SELECT coalesce(max(r.payment_id::text), j.source_id) AS payment_id,
                max(a.owner_id) FILTER (WHERE a.role = 'card') AS gift_card_id, j.partner_id, -{_moved("card")} AS value,
                {_moved("partner_network")} + {_moved("owed_by_partner")} AS net, {_moved("commission")} AS commission,
                {_moved("management_fees")} AS fee, {_moved("vat_on_commission")} AS vat, -{_moved("promotion")} AS promotion,
                {is_checked("j.book_id", "j.effective_on")} AS is_checked
            FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
            LEFT JOIN refund r ON r.id::text = split_part(j.source_id, ':', 1)
            LEFT JOIN gift_card c ON a.role = 'card' AND c.id = a.owner_id
            WHERE j.source_kind = 'refund' AND j.kind = 'reversal'
            GROUP BY j.id HAVING bool_or(a.role IN {FEES}) OR bool_or(c.partner_id IS NULL AND c.id IS NOT NULL)
        ) j GROUP BY j.payment_id, j.gift_card_id, j.partner_id
    """,
)
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
        cancelled="NOT u.is_active AND u.payment_id IS NULL",
    ),
    Rule(
        "gift_card_usages_of_payments",
        "Each usage by a payment is of the payment's partner and one of its sources, and as much of it was returned as was "
        "refunded of that.",
        f"""
        SELECT format('network_gift_card_usage %s: %s of which %s returned by %s; its payment:%s of %s is %s and has %s of '
            'which %s refunded', u.id, u.value_amount, u.returned_amount, u.partner_id, p.id, p.partner_id, p.status,
            s.source_amount, s.refunded_amount) AS offender
        FROM network_gift_card_usage u JOIN payment p ON p.id = u.payment_id
        LEFT JOIN payment_source s ON (s.payment_id, s.gift_card_id) = (u.payment_id, u.gift_card_id)
        WHERE {is_checked("p.book_id", "greatest(p.modified_on, u.recorded_on)")}
            AND (p.partner_id, p.status, p.currency, s.source_amount, s.refunded_amount)
                IS DISTINCT FROM (u.partner_id, 'ok', u.currency, u.value_amount, u.returned_amount)
        """,
    ),
    Rule(
        "gift_card_returns",
        "What refunds of payments gave back of each usage is posted with its part of the fees and of what the partner has "
        "earned; nothing else is.",
        RETURNS,
    ),
)
