# ruff: noqa: S608 - statements are made of SQL in this module
"""Compares what the provider reports with what is recorded here, both ways by the provider's id, and records findings."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.reconciliation import ReconciliationFindingKind
from store.reconciliation.suspense import EXPLANATION, MOVEMENT

SETTLED_WITHIN = dt.timedelta(hours=1)
"""How young a movement may be: its own process may still be recording it."""
REPORTED_WITHIN = dt.timedelta(hours=24)
"""How late the provider may report a movement."""
POSTED = """(
    SELECT round(abs(coalesce(sum(e.amount), 0)) / 10::numeric ^ max(b.minor_digits), 2)
    FROM ledger_journal x JOIN ledger_book b ON b.id = x.book_id
    LEFT JOIN (ledger_entry e JOIN ledger_account a ON a.id = e.account_id AND a.role IN ({roles})) ON e.journal_id = x.id
    WHERE {which}
)"""
"""SQL: what journals have moved on accounts, in units of the currency; null if there is no such journal."""
LOST = "x.source_kind = 'dispute' AND x.source_id = d.id::text AND x.kind = 'dispute_lost'"
OWN = f"""(
    SELECT provider_id, transaction_amount AS amount, commission_amount AS fee, status = 'ok' AS is_done, sent_at AS sent_on,
        executed_on, currency, partner_id, NULL::int AS marketplace_id
    FROM payment_transaction WHERE provider_id <> ''
    UNION ALL
    SELECT t.provider_id, t.transfer_amount, 0, t.status = 'ok', coalesce(p.settlement_sent_at, t.created_on),
        coalesce(p.settled_on, t.created_on), t.currency, t.partner_id, t.marketplace_id
    FROM transfer t LEFT JOIN payout_request p ON p.id = t.payout_request_id WHERE t.provider_id <> ''
    UNION ALL
    SELECT provider_id, payout_amount + recovered_amount, recovered_amount, status = 'paid' OR returned_on IS NOT NULL, sent_at,
        paid_on, currency, partner_id, NULL
    FROM payout_request WHERE provider_id <> ''
    UNION ALL
    SELECT d.settlement_id, {POSTED.format(roles="'wallet'", which=LOST)}, NULL, d.settled_on IS NOT NULL, NULL, NULL, d.currency,
        d.partner_id, NULL
    FROM dispute d WHERE d.settlement_id <> ''
    UNION ALL
    SELECT split_part(j.source_id, ':', 2), {POSTED.format(roles="'wallet'", which="x.id = j.id")},
        {POSTED.format(roles="'fees_wallet'", which="x.id = j.id")}, true, NULL, NULL,
        (SELECT b.currency FROM ledger_book b WHERE b.id = j.book_id), j.partner_id, j.marketplace_id
    FROM ledger_journal j WHERE j.kind IN ('payout_returned', 'settlement')
    UNION ALL
    SELECT a.payin_id, NULL, NULL, false, NULL, NULL, a.currency, a.partner_id, NULL FROM checkout_attempt a
    WHERE a.payin_id <> '' AND NOT EXISTS (SELECT 1 FROM payment_transaction t WHERE t.type = 'payin' AND t.provider_id = a.payin_id)
)"""
"""SQL: what is recorded here of movements at the provider. What is null is not compared; nothing is awaited without a time."""
IS_OURS = "(SELECT w.provider_wallet_id FROM wallet w WHERE w.provider_wallet_id IS NOT NULL)"
WATCHED = """(
    SELECT f.subject FROM reconciliation_finding f
    WHERE f.state = 'open' OR f.state = 'explained' AND f.suspended_on IS NOT NULL
)"""
"""SQL: what is compared again however old it is."""
SUSPENDED = """(
    SELECT f.subject FROM reconciliation_finding f WHERE f.suspended_on IS NOT NULL AND f.state <> 'resolved'
)"""
"""SQL: what stands in suspense, or did before a person explained it, until it is recorded as done."""
MOVED = f"""(
    SELECT *, CASE kind WHEN 'refund' THEN credited_amount ELSE debited_amount END AS amount, abs(fees_amount) AS fee
    FROM provider_movement
    WHERE (created_on >= :since OR provider_id IN {WATCHED}) AND executed_on <= :settled
)"""
OF_WALLETS = """(
    SELECT w.marketplace_id FROM wallet w WHERE w.provider_wallet_id IN (m.debited_wallet_id, m.credited_wallet_id)
    ORDER BY w.id LIMIT 1
)"""
MISSING = f"""
    SELECT m.* FROM {MOVED} m
    WHERE (m.debited_wallet_id IN {IS_OURS} OR m.credited_wallet_id IN {IS_OURS})
        AND NOT EXISTS (SELECT 1 FROM {OWN} o
            WHERE o.provider_id = m.provider_id AND (o.is_done OR m.provider_id NOT IN {SUSPENDED}))
"""
"""SQL: the movements that are missing here."""
FOUND = f"""
    SELECT 'missing_here' AS kind, m.provider_id AS subject, m.currency, m.amount AS provider_amount, NULL::numeric AS own_amount,
        {OF_WALLETS} AS marketplace_id,
        concat('A ', coalesce(nullif(m.kind, ''), 'movement'), ' that nothing here tells of.') AS detail
    FROM missing m
    UNION ALL
    SELECT 'differs', m.provider_id, m.currency, m.amount, o.amount, {OF_WALLETS},
        CASE WHEN NOT o.is_done THEN 'It has succeeded there, and is not recorded as done.'
            WHEN o.currency <> m.currency THEN concat('It is in ', m.currency, ' there and in ', o.currency, ' here.')
            WHEN o.amount <> m.amount THEN concat('It is ', m.amount, ' there and ', o.amount, ' here.')
            ELSE concat('The fees are ', m.fee, ' there and ', o.fee, ' here.') END
    FROM {MOVED} m JOIN {OWN} o ON o.provider_id = m.provider_id
    WHERE NOT o.is_done OR o.amount <> m.amount OR o.fee <> m.fee OR o.currency <> m.currency
    UNION ALL
    SELECT 'missing_there', o.provider_id, o.currency, NULL, o.amount,
        coalesce(o.marketplace_id, (SELECT p.marketplace_id FROM partner p WHERE p.id = o.partner_id)),
        'The provider does not report it.'
    FROM {OWN} o
    WHERE o.is_done AND o.amount IS NOT NULL AND coalesce(o.executed_on, o.sent_on) <= :reported
        AND (least(o.sent_on, o.executed_on) >= :own_since OR o.provider_id IN {WATCHED})
        AND NOT EXISTS (SELECT 1 FROM provider_movement m WHERE m.provider_id = o.provider_id)
    UNION ALL
    SELECT 'suspense', j.id::text, b.currency, NULL, round(-sum(e.amount) / 10::numeric ^ b.minor_digits, 2), j.marketplace_id,
        concat('Of ', j.source_kind, ' ', j.source_id, '.')
    FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id
    JOIN ledger_book b ON b.id = j.book_id
    WHERE a.role = 'suspense' AND j.source_kind NOT IN ('{MOVEMENT}', '{EXPLANATION}') AND NOT EXISTS (
        SELECT 1 FROM ledger_journal x WHERE x.source_kind = '{EXPLANATION}' AND x.source_id = j.id::text)
    GROUP BY j.id, b.id HAVING sum(e.amount) <> 0
    UNION ALL
    SELECT 'balance', w.subject, w.currency, w.provider_amount, w.own_amount, w.marketplace_id, w.detail
    FROM jsonb_to_recordset(CAST(:balances AS jsonb)) AS w (subject text, currency text, provider_amount numeric, own_amount numeric,
        marketplace_id int, detail text, is_of_fees bool)
    WHERE coalesce(w.provider_amount, 0) - coalesce(w.own_amount, 0) <> (
        SELECT coalesce(sum(CASE WHEN w.is_of_fees THEN m.fees_amount WHEN w.subject = m.credited_wallet_id THEN m.credited_amount
            ELSE -m.debited_amount END), 0)
        FROM missing m WHERE (w.is_of_fees AND w.currency = m.currency OR w.subject IN (m.debited_wallet_id, m.credited_wallet_id))
            AND m.provider_id NOT IN {SUSPENDED}
            AND m.provider_id NOT IN (SELECT f.subject FROM reconciliation_finding f WHERE f.state = 'explained')
    )
"""
"""SQL: all that the provider and the ledger disagree about. A balance that differs by what is missing here is told as that."""
IS_SAME = """CASE f.kind
    WHEN 'balance' THEN coalesce(f.provider_amount, 0) - coalesce(f.own_amount, 0)
        = coalesce(excluded.provider_amount, 0) - coalesce(excluded.own_amount, 0)
    ELSE (f.provider_amount, f.own_amount, f.detail)
        IS NOT DISTINCT FROM (excluded.provider_amount, excluded.own_amount, excluded.detail) END"""
"""SQL: whether a finding is as it was. Both amounts of a wallet change with every payment."""
RECORD = text(f"""
    WITH missing AS MATERIALIZED ({MISSING}), found AS MATERIALIZED ({FOUND}),
    open_before AS MATERIALIZED (SELECT id FROM reconciliation_finding WHERE state = 'open'),
    recorded AS (
        INSERT INTO reconciliation_finding AS f (kind, state, subject, currency, provider_amount, own_amount, detail, reason,
            first_seen_on, last_seen_on, marketplace_id)
        SELECT DISTINCT ON (kind, subject) kind, 'open', subject, currency, provider_amount, own_amount, detail, '', :now, :now,
            marketplace_id
        FROM found ORDER BY kind, subject
        ON CONFLICT ON CONSTRAINT reconciliation_finding_key DO UPDATE SET
            last_seen_on = excluded.last_seen_on, provider_amount = excluded.provider_amount, own_amount = excluded.own_amount,
            detail = excluded.detail,
            state = CASE WHEN f.state = 'explained' AND {IS_SAME} THEN 'explained' ELSE 'open' END,
            closed_on = CASE WHEN f.state = 'explained' AND {IS_SAME} THEN f.closed_on END,
            reason = CASE WHEN f.state = 'resolved' THEN '' ELSE f.reason END,
            first_seen_on = CASE WHEN f.state = 'resolved' THEN excluded.first_seen_on ELSE f.first_seen_on END,
            suspended_on = CASE WHEN f.state = 'resolved' THEN NULL ELSE f.suspended_on END
        RETURNING id, kind, state
    )
    SELECT id FROM recorded WHERE state = 'open' AND id NOT IN (SELECT id FROM open_before) ORDER BY id
""")
RESOLVE = text("""
    UPDATE reconciliation_finding SET state = 'resolved', closed_on = :now
    WHERE (state = 'open' OR state = 'explained' AND suspended_on IS NOT NULL) AND last_seen_on < :now
        AND NOT (kind = 'balance' AND subject = ANY(CAST(:unsure AS text[])))
    RETURNING id
""")
PRUNE = text(f"DELETE FROM provider_movement WHERE created_on < :since AND provider_id NOT IN {WATCHED}")


@dataclass(frozen=True, slots=True)
class Changes:
    """The ids of findings that are open now and were not before, and of those that both sides agree about now."""

    opened: Sequence[int]
    resolved: Sequence[int]


async def record_differences(
    db: AsyncSession,
    since: dt.datetime,
    until: dt.datetime,
    balances: Sequence[Mapping[str, Any]],
    unsure: Sequence[str],
    now: dt.datetime,
) -> Changes:
    """Compare a period and what was found before it; record what is found, and resolve what is not found again.

    `balances` are the wallets that hold another amount than the ledger counts, `unsure` those of which it is not known. What
    a person has explained stays so while it is the same; what was resolved and is found again begins anew. Movements that are
    not compared any more are deleted.
    """
    connection = await db.connection()
    values = {
        "since": since,
        "own_since": since + REPORTED_WITHIN,  # ours can be written after its movement was created
        "settled": until - SETTLED_WITHIN,
        "reported": until - REPORTED_WITHIN,
        "balances": orjson.dumps(list(balances), default=str).decode(),
        "now": now,
    }
    opened = (await connection.execute(RECORD, values)).scalars().all()
    resolved = (await connection.execute(RESOLVE, {"now": now, "unsure": list(unsure)})).scalars().all()
    await connection.execute(PRUNE, {"since": since})
    return Changes(opened, resolved)


KINDS = tuple(ReconciliationFindingKind)
OPEN_FINDINGS = text("SELECT kind, count(*) AS findings FROM reconciliation_finding WHERE state = 'open' GROUP BY kind")


async def count_open_findings(db: AsyncSession) -> Mapping[ReconciliationFindingKind, int]:
    """How many findings of each kind are open."""
    rows = (await (await db.connection()).execute(OPEN_FINDINGS)).all()
    return dict.fromkeys(KINDS, 0) | {ReconciliationFindingKind(row.kind): row.findings for row in rows}
