# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of balances: what is kept equals what the entries say."""

from store.ledger.accounts import CLEARED
from store.ledger.balances import BALANCE
from store.ledger.verification.readings import ACCOUNT_SUMS
from store.ledger.verification.rule import ACCOUNTS, Rule

NAMED = "format('account %s (%s %s)', a.id, a.role, coalesce(a.owner_uuid::text, a.owner_id::text))"
LIMITS = ", ".join(f"('{role.value}', interval '{limit.days} days')" for role, limit in CLEARED.items())
RULES = (
    Rule(
        "balances_are_sums",
        "Every balance that is kept is the sum of its entries.",
        f"""
        SELECT format('%s: balance %s, sum %s of %s entries', {NAMED}, a.balance, coalesce(t.total, 0), coalesce(t.entries, 0))
            AS offender
        FROM {ACCOUNTS} a LEFT JOIN account_sums t ON t.account_id = a.id
        WHERE a.has_floor AND (a.balance <> coalesce(t.total, 0) OR a.version <> coalesce(t.entries, 0))
        """,
        ACCOUNT_SUMS,
    ),
    Rule(
        "balances_run",
        "Every entry tells the balance after it, without gaps; of accounts that keep none, it tells none.",
        f"""
        SELECT format('entry %s of journal %s, %s: balance %s, sum %s', e.line, e.journal_id, {NAMED}, e.balance_after,
            e.running) AS offender
        FROM (
            SELECT *, sum(amount) OVER running AS running, row_number() OVER running AS place FROM ledger_entry
            WHERE account_id IN (SELECT id FROM {ACCOUNTS} a WHERE has_floor)
            WINDOW running AS (PARTITION BY account_id ORDER BY version)
        ) e JOIN ledger_account a ON a.id = e.account_id
        WHERE e.balance_after IS DISTINCT FROM e.running OR e.version IS DISTINCT FROM e.place
        UNION ALL
        SELECT format('entry %s of journal %s, %s: balance %s, which it keeps none of', e.line, e.journal_id, {NAMED},
            e.balance_after)
        FROM ledger_entry e JOIN {ACCOUNTS} a ON a.id = e.account_id
        WHERE NOT a.has_floor AND (e.balance_after IS NOT NULL OR e.version IS NOT NULL)
        """,
    ),
    Rule(
        "snapshots_are_sums",
        "Every snapshot is the sum of the entries before its position.",
        f"""
        SELECT format('%s: snapshot %s of %s entries, sum %s of %s', {NAMED}, s.balance, s.entries, coalesce(t.total, 0),
            coalesce(t.entries, 0)) AS offender
        FROM ledger_snapshot s JOIN {ACCOUNTS} a ON a.id = s.account_id LEFT JOIN (
            SELECT e.account_id, sum(e.amount) AS total, count(*) AS entries
            FROM ledger_entry e JOIN ledger_snapshot s ON s.account_id = e.account_id AND e.position < s.before_position
            GROUP BY e.account_id
        ) t ON t.account_id = s.account_id
        WHERE a.has_floor OR s.balance <> coalesce(t.total, 0) OR s.entries <> coalesce(t.entries, 0)
        """,
    ),
    Rule(
        "floors_hold",
        "No account that could be overspent is below zero.",
        f"""
        SELECT format('%s: %s', {NAMED}, t.total * a.side) AS offender
        FROM {ACCOUNTS} a JOIN account_sums t ON t.account_id = a.id WHERE a.has_floor AND t.total * a.side < 0
        """,
        ACCOUNT_SUMS,
    ),
    Rule(
        "suspense_is_empty",
        "Every movement at the payment provider is explained.",
        f"""
        SELECT format('%s: %s', {NAMED}, b.balance * a.side) AS offender
        FROM {ACCOUNTS} a CROSS JOIN LATERAL (SELECT {BALANCE.format(a="a")} AS balance) b
        WHERE a.role = 'suspense' AND b.balance <> 0
        """,
    ),
    Rule(
        "clearing_is_in_time",
        "What is to be cleared is zero again within its time: refunds in 7 days, payouts in 14, disputes in 120.",
        f"""
        SELECT format('%s: %s since %s', {NAMED}, a.balance * a.side, t.since::date) AS offender
        FROM {ACCOUNTS} a JOIN (VALUES {LIMITS}) AS l (role, most) ON l.role = a.role
        CROSS JOIN LATERAL (
            SELECT min(j.recorded_on) AS since FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
            WHERE e.account_id = a.id AND e.version > coalesce(
                (SELECT max(z.version) FROM ledger_entry z WHERE z.account_id = a.id AND z.balance_after = 0), 0)
        ) t
        WHERE a.balance <> 0 AND t.since < CAST(:now AS timestamptz) - l.most
        """,
    ),
)
