# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of gift cards: their rows repeat what the ledger counts."""

from store.ledger.verification.rule import ACCOUNTS, MINOR, Rule, differences, is_checked

HOLDS = differences(
    """format('hold %s of gift card %s: %s of %s %s', hold_id, gift_card_id, kind, amount,
        CASE WHEN difference > 0 THEN 'not posted' ELSE 'posted' END)""",
    "hold_id, gift_card_id, kind, amount",
    f"""
        SELECT h.id::text AS hold_id, h.gift_card_id, k.kind, {MINOR.format(amount="h.captured_amount")} AS amount,
            {is_checked("w.book_id", "h.closed_on")} AS is_checked
        FROM gift_card_hold h JOIN gift_card c ON c.id = h.gift_card_id
        JOIN wallet w ON w.id = c.wallet_id JOIN ledger_book b ON b.id = w.book_id
        JOIN (VALUES ('captured', 'capture'), ('reversed', 'capture'), ('reversed', 'reversal')) AS k (state, kind) ON k.state = h.state
        WHERE h.captured_amount > 0
    """,
    f"""
        SELECT j.source_id, a.owner_id, j.kind, abs(e.amount), {is_checked("j.book_id", "j.effective_on")}
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
        WHERE j.source_kind = 'gift_card_hold' AND j.kind IN ('capture', 'reversal') AND a.role = 'card'
    """,
)
RULES = (
    Rule(
        "cards_show_their_balance",
        "The remaining amount of every gift card, as far as it is owed, is the balance of its account.",
        f"""
        SELECT format('gift card %s: %s, in the ledger %s', c.id, c.remaining_amount - c.unowed_amount,
            round(coalesce(-a.balance, 0) / 10::numeric ^ b.minor_digits, b.minor_digits)) AS offender
        FROM gift_card c JOIN ledger_book b ON b.id = c.book_id
        LEFT JOIN {ACCOUNTS} a ON (a.book_id, a.role, a.owner_id) = (c.book_id, 'card', c.id)
        WHERE (CAST(:books AS int[]) IS NULL OR c.book_id = ANY(CAST(:books AS int[])))
            AND (CAST(:since AS date) IS NULL OR a.id IS NOT NULL)
            AND (c.remaining_amount - c.unowed_amount) * 10::numeric ^ b.minor_digits <> coalesce(-a.balance, 0)
        """,
    ),
    Rule(
        "cards_show_their_holds",
        "What is on hold of every gift card are its running holds and those of unfinished checkouts and payments.",
        f"""
        SELECT format('gift card %s: on hold %s, in the ledger %s', c.id, coalesce(h.amount, 0),
            round(coalesce(-a.balance, 0) / 10::numeric ^ b.minor_digits, b.minor_digits)) AS offender
        FROM gift_card c JOIN ledger_book b ON b.id = c.book_id
        LEFT JOIN {ACCOUNTS} a ON (a.book_id, a.role, a.owner_id) = (c.book_id, 'card_held', c.id)
        LEFT JOIN (
            SELECT gift_card_id, sum(amount) AS amount FROM (
                SELECT gift_card_id, held_amount AS amount FROM gift_card_hold WHERE state = 'running'
                UNION ALL
                SELECT (card ->> 'id')::int, (card ->> 'amount')::numeric
                FROM checkout_attempt t, jsonb_array_elements(t.cards) card WHERE t.held AND t.state <> 'completed'
                UNION ALL
                SELECT s.gift_card_id, s.source_amount FROM payment_source s JOIN payment p ON p.id = s.payment_id
                WHERE s.kind = 'gift_card' AND p.status IN ('ip', 'err')
            ) holds GROUP BY gift_card_id
        ) h ON h.gift_card_id = c.id
        WHERE (CAST(:books AS int[]) IS NULL OR c.book_id = ANY(CAST(:books AS int[])))
            AND (CAST(:since AS date) IS NULL OR a.id IS NOT NULL)
            AND coalesce(h.amount, 0) * 10::numeric ^ b.minor_digits <> coalesce(-a.balance, 0)
        """,
    ),
    Rule(
        "holds_are_captured",
        "What was captured of each hold, and what was reversed of it, is posted with its amount; nothing else is.",
        HOLDS,
    ),
    Rule(
        "cards_have_their_wallet",
        "Every gift card has a wallet of its own, in its book and of its partner, and accounts in that book only.",
        f"""
        SELECT format('gift card %s: book %s, wallet %s of book %s', c.id, c.book_id, w.id, w.book_id) AS offender
        FROM gift_card c LEFT JOIN wallet w ON w.id = c.wallet_id
        WHERE (CAST(:books AS int[]) IS NULL OR c.book_id = ANY(CAST(:books AS int[])))
            AND (w.kind, w.book_id, w.partner_id) IS DISTINCT FROM ('gift_card', c.book_id, c.partner_id)
        UNION ALL
        SELECT format('account %s (%s %s) of book %s', a.id, a.role, a.owner_id, a.book_id)
        FROM {ACCOUNTS} a LEFT JOIN gift_card c ON c.id = a.owner_id
        WHERE a.role IN ('card', 'card_held') AND c.book_id IS DISTINCT FROM a.book_id
        """,
    ),
)
