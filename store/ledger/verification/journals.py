# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of journals: what is true of each by itself."""

from store.ledger.seals import BROKEN
from store.ledger.verification.readings import ACCOUNT_SUMS, JOURNAL_SUMS
from store.ledger.verification.rule import ACCOUNTS, JOURNALS, Rule

NAMED = "format('journal %s (%s of %s %s)', j.id, j.kind, j.source_kind, j.source_id)"
RULES = (
    Rule(
        "journals_sum_to_zero",
        "Every journal sums to zero and has all of its entries.",
        f"""
        SELECT format('%s: %s of %s entries, sum %s', {NAMED}, coalesce(e.lines, 0), j.lines, coalesce(e.total, 0)) AS offender
        FROM {JOURNALS} j LEFT JOIN journal_sums e ON e.journal_id = j.id
        WHERE e.journal_id IS NULL OR e.total <> 0 OR e.lines <> j.lines OR e.first <> 1 OR e.last <> j.lines
        """,
        JOURNAL_SUMS,
    ),
    Rule(
        "journals_stay_in_their_book",
        "Every entry is of a journal and an account of the same book; every journal is of its book's marketplace.",
        f"""
        SELECT format('entry %s of journal %s: account %s of book %s', e.line, e.journal_id, e.account_id, a.book_id) AS offender
        FROM journal_sums s LEFT JOIN ledger_journal j ON j.id = s.journal_id
        CROSS JOIN LATERAL (SELECT * FROM ledger_entry WHERE journal_id = s.journal_id OFFSET 0) e
        LEFT JOIN ledger_account a ON a.id = e.account_id
        WHERE (j.id IS NULL OR s.accounts <> s.lines OR s.least_book_id <> j.book_id OR s.most_book_id <> j.book_id)
            AND (j.id IS NULL OR a.id IS NULL OR a.book_id <> j.book_id)
        UNION ALL
        SELECT format('%s: marketplace %s, book of %s', {NAMED}, j.marketplace_id, b.marketplace_id)
        FROM {JOURNALS} j JOIN ledger_book b ON b.id = j.book_id WHERE j.marketplace_id <> b.marketplace_id
        """,
        JOURNAL_SUMS,
    ),
    Rule(
        "books_sum_to_zero",
        "Every book sums to zero.",
        """
        SELECT format('book %s: sum %s', b.id, t.total) AS offender
        FROM ledger_book b JOIN (
            SELECT a.book_id, sum(e.total) AS total
            FROM account_sums e JOIN ledger_account a ON a.id = e.account_id GROUP BY a.book_id
        ) t ON t.book_id = b.id
        WHERE t.total <> 0 AND (CAST(:books AS int[]) IS NULL OR b.id = ANY(CAST(:books AS int[])))
        """,
        ACCOUNT_SUMS,
    ),
    Rule(
        "journals_say_what_was_posted",
        "Every journal has the entries of its fingerprint.",
        f"""
        SELECT format('%s: its entries are not those that were posted', {NAMED}) AS offender
        FROM {JOURNALS} j JOIN journal_sums e ON e.journal_id = j.id WHERE e.fingerprint <> j.fingerprint
        """,
        JOURNAL_SUMS,
    ),
    Rule(
        "reversals_are_exact",
        "Every reversal has the entries of the reversed journal with opposite amounts, and is the only one.",
        f"""
        SELECT format('%s: not the opposite of journal %s', {NAMED}, j.reverses_id) AS offender
        FROM {JOURNALS} j WHERE j.reverses_id IS NOT NULL AND (
            (SELECT array_agg((account_id, amount) ORDER BY account_id, amount) FROM ledger_entry WHERE journal_id = j.id)
            IS DISTINCT FROM
            (SELECT array_agg((account_id, -amount) ORDER BY account_id, -amount) FROM ledger_entry WHERE journal_id = j.reverses_id)
            OR (SELECT count(*) FROM ledger_journal o WHERE o.reverses_id = j.reverses_id) > 1
        )
        """,
    ),
    Rule(
        "accounts_stay_in_the_plan",
        "Every account is opened with the side of its role, and keeps a balance only if it has a floor.",
        f"""
        SELECT format('account %s (%s)', a.id, a.role) AS offender FROM {ACCOUNTS} a
        LEFT JOIN unnest(CAST(:roles AS text[]), CAST(:sides AS int[]), CAST(:floors AS bool[])) AS p (role, side, has_floor)
            ON p.role = a.role
        WHERE p.role IS NULL OR a.side <> p.side OR a.has_floor <> p.has_floor
            OR (NOT a.has_floor AND (a.balance <> 0 OR a.version <> 0))
        """,
    ),
    Rule(
        "seals_are_whole",
        "Every seal matches its entries and the seal before it.",
        f"SELECT format('seal %s: %s entries, %s now', n, entries, entries_now) AS offender FROM ({BROKEN}) s",
    ),
)
