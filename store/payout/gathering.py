"""Gathers payable items into payout requests: one for each partner and period, if there is anything to pay out.

What takes earnings back counts at once; everything else on its day. Items are gathered for many partners at a time.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import CursorResult, TextClause, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.partner.parts import PayoutFrequency
from store.core.clock import now
from store.ledger.posting import post
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.events import emit_payout_events
from store.payout.periods import DAY, first_day_of
from store.payout.postings import lock_balances, recovery_journal
from store.payout.requests import CANCELLED, PAYOUT_STATES, PayoutRequestRow, lock_items, lock_payouts
from store.providers.money import MinorAmount

NOTHING = Decimal("0.00")
DUE = "i.payout_request_id IS NULL AND (i.payable_on <= {last_day} OR i.own_amount + i.network_amount < 0)"
"""SQL: the items `i` that are due."""
CLAIM = text("""
    INSERT INTO payout_schedule AS s (partner_id, book_id, first_day, gathered_until)
    SELECT p.id, b.id, CASE WHEN o.gathered_until IS NULL THEN least(d.first_day, (
            SELECT min(i.payable_on) FROM payable_item i
            WHERE i.partner_id = p.id AND i.book_id = b.id AND i.payout_request_id IS NULL
        )) ELSE d.first_day END, d.last_day
    FROM unnest(CAST(:marketplaces AS int[]), CAST(:frequencies AS text[]), CAST(:firsts AS date[]), CAST(:lasts AS date[]))
        AS d (marketplace_id, frequency, first_day, last_day)
    JOIN partner p ON p.marketplace_id = d.marketplace_id AND coalesce(p.payout_frequency, 'month') = d.frequency
    JOIN marketplace m ON m.id = p.marketplace_id
    JOIN ledger_book b ON (b.marketplace_id, b.currency, b.is_live) = (m.id, m.currency, p.status <> 't')
    LEFT JOIN payout_schedule o ON (o.partner_id, o.book_id) = (p.id, b.id)
    WHERE o.gathered_until IS NULL OR o.gathered_until < d.last_day
    ORDER BY p.id, b.id LIMIT :most
    ON CONFLICT (partner_id, book_id) DO UPDATE
        SET first_day = s.gathered_until + 1, gathered_until = excluded.gathered_until
        WHERE s.gathered_until < excluded.gathered_until
    RETURNING partner_id, book_id, first_day, gathered_until AS last_day
""")
"""Locks the next partners whose period is over, and counts it as gathered."""
SUMS = text(f"""
    SELECT d.partner_id, d.book_id, d.first_day, d.last_day, sum(i.own_amount + i.network_amount)::bigint AS amount
    FROM unnest(CAST(:partners AS int[]), CAST(:books AS int[]), CAST(:firsts AS date[]), CAST(:lasts AS date[]))
        AS d (partner_id, book_id, first_day, last_day)
    JOIN payable_item i ON (i.partner_id, i.book_id) = (d.partner_id, d.book_id) AND {DUE.format(last_day="d.last_day")}
    GROUP BY 1, 2, 3, 4 HAVING sum(i.own_amount + i.network_amount) > 0 ORDER BY 1, 2
""")  # noqa: S608 - of SQL in this file
TAKE = text(f"""
    WITH taken AS (
        UPDATE payable_item i SET payout_request_id = r.id
        FROM unnest(CAST(:ids AS int[]), CAST(:partners AS int[]), CAST(:books AS int[]), CAST(:lasts AS date[]))
            AS r (id, partner_id, book_id, last_day)
        WHERE (i.partner_id, i.book_id) = (r.partner_id, r.book_id) AND {DUE.format(last_day="r.last_day")}
        RETURNING r.id, i.own_amount + i.network_amount AS amount
    )
    SELECT id, sum(amount)::bigint AS amount FROM taken GROUP BY id
""")  # noqa: S608 - of SQL in this file
DEBTORS = text("""
    SELECT DISTINCT a.owner_id AS partner_id, a.book_id FROM ledger_account a
    JOIN unnest(CAST(:partners AS int[]), CAST(:books AS int[])) AS d (partner_id, book_id)
        ON (a.owner_id, a.book_id) = (d.partner_id, d.book_id)
    WHERE a.role IN ('owed_by_partner', 'partner_shortfall') AND a.balance <> 0 ORDER BY 1, 2
""")
SUM = text(
    "SELECT coalesce(sum(own_amount + network_amount), 0)::bigint FROM payable_item WHERE payout_request_id = :id"
)
LEAVE = text("""
    UPDATE payable_item i SET payout_request_id = NULL FROM payout_request r
    WHERE r.id = i.payout_request_id AND i.journal_id = ANY(CAST(:journals AS bigint[]))
        AND i.payable_on > r.last_day AND i.own_amount + i.network_amount > 0 AND r.id = ANY(CAST(:ids AS int[]))
""")
RELEASE = text("UPDATE payable_item SET payout_request_id = NULL WHERE payout_request_id = :id")
FREE = text("""
    WITH freed AS (
        UPDATE payable_item SET payout_request_id = NULL WHERE payout_request_id = :id RETURNING id
    )
    INSERT INTO former_payout_item (payout_request_id, payable_item_id) SELECT :id, id FROM freed
""")
LOWERED = text("""
    SELECT DISTINCT r.id FROM payout_request r JOIN payable_item i ON (i.partner_id, i.book_id) = (r.partner_id, r.book_id)
        AND i.payout_request_id IS NULL AND i.own_amount + i.network_amount < 0
    WHERE r.status = 'to be validated' ORDER BY r.id
""")
OF_JOURNALS = text("""
    SELECT DISTINCT payout_request_id AS id FROM payable_item
    WHERE journal_id = ANY(CAST(:journals AS bigint[])) AND payout_request_id IS NOT NULL ORDER BY 1
""")


@dataclass(frozen=True, slots=True)
class ClosedPeriod:
    """The last period that is over, for the partners of a marketplace with a frequency."""

    marketplace_id: int
    frequency: PayoutFrequency
    last_day: dt.date


@dataclass(frozen=True, slots=True)
class DuePartner:
    """A partner whose items are gathered, in one book."""

    partner_id: int
    book_id: int
    first_day: dt.date
    last_day: dt.date


async def claim_partners(db: AsyncSession, periods: Sequence[ClosedPeriod], most: int) -> Sequence[DuePartner]:
    """At most `most` partners whose period is over; it counts as gathered in this transaction, and other workers wait."""
    values = {
        "marketplaces": [period.marketplace_id for period in periods],
        "frequencies": [period.frequency.value for period in periods],
        "firsts": [first_day_of(period.frequency, period.last_day) for period in periods],
        "lasts": [period.last_day for period in periods],
        "most": most,
    }
    return [DuePartner(*row) for row in (await (await db.connection()).execute(CLAIM, values)).all()]


async def partner_due_until(db: AsyncSession, partner_id: int, book_id: int, last_day: dt.date) -> DuePartner:
    """A partner, with all that is due until a day: from the day after its last period."""
    query = text("SELECT gathered_until FROM payout_schedule WHERE (partner_id, book_id) = (:partner_id, :book_id)")
    values = {"partner_id": partner_id, "book_id": book_id}
    gathered_until = (await (await db.connection()).execute(query, values)).scalar_one_or_none()
    first_day = last_day.replace(day=1) if gathered_until is None else gathered_until + DAY
    return DuePartner(partner_id, book_id, min(first_day, last_day), last_day)


async def gather(db: AsyncSession, due: Sequence[DuePartner]) -> Sequence[PayoutRequestRow]:
    """Take what partners owe of what is due to them, and gather the rest into new payout requests. A sum that is not more
    than nothing is carried over.
    """
    if not due:
        return []
    await lock_items(db, [each.partner_id for each in due])
    await _recover(db, due)
    rows = await _new_requests(db, await _sums(db, due))
    db.add_all(rows)
    await db.flush()
    taken = await _take(db, rows)
    gathered = []
    for row in rows:
        amount = taken.get(row.id, NOTHING)
        if amount > 0:
            row.payout_amount = row.gathered_amount = amount
            gathered.append(row)
        else:  # others were faster, or have changed its items since
            await _execute(db, RELEASE, {"id": row.id})
            await db.delete(row)
    await db.flush()
    return gathered


async def _sums(db: AsyncSession, due: Sequence[DuePartner]) -> Sequence[Any]:
    """What is due in sum, in minor units, where that is more than nothing."""
    columns = (
        [each.partner_id for each in due],
        [each.book_id for each in due],
        [each.first_day for each in due],
        [each.last_day for each in due],
    )
    names = ("partners", "books", "firsts", "lasts")
    return (await _execute(db, SUMS, dict(zip(names, columns, strict=True)))).all()


async def _recover(db: AsyncSession, due: Sequence[DuePartner]) -> None:
    ids = {"partners": [each.partner_id for each in due], "books": [each.book_id for each in due]}
    debtors = {tuple(row) for row in (await _execute(db, DEBTORS, ids)).all()}
    if not debtors:
        return
    for row in await _sums(db, [each for each in due if (each.partner_id, each.book_id) in debtors]):
        balances = await lock_balances(db, row.book_id, row.partner_id)
        source_id = f"{row.partner_id}:{now().isoformat()}"
        await post(db, [recovery_journal(row.book_id, row.partner_id, balances, row.amount, source_id)])


async def _new_requests(db: AsyncSession, sums: Sequence[Any]) -> Sequence[PayoutRequestRow]:
    query = (
        select(PartnerRow, MarketplaceRow.currency)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(col(PartnerRow.id).in_({row.partner_id for row in sums}))
    )
    partners = {partner.id: (partner, currency) for partner, currency in (await db.exec(query)).all()}
    rows, created_on = [], now()
    for each in sums:
        partner, currency = partners[each.partner_id]
        row = PayoutRequestRow(
            partner_id=partner.id,
            book_id=each.book_id,
            currency=currency,
            payout_amount=MinorAmount(currency, each.amount).decimal,
            first_day=each.first_day,
            last_day=each.last_day,
            created_on=created_on,
            bank_account_iban=partner.iban,
            bank_account_bic=partner.bic,
        )
        rows.append(row)
    return rows


async def _take(
    db: AsyncSession, rows: Sequence[PayoutRequestRow], last_day: dt.date | None = None
) -> dict[int, Decimal]:
    """Move what is due on the last day of each request, or on another, into it; the sums by the request's id."""
    values = {
        "ids": [row.id for row in rows],
        "partners": [row.partner_id for row in rows],
        "books": [row.book_id for row in rows],
        "lasts": [last_day or row.last_day for row in rows],
    }
    taken = {row.id: row.amount for row in (await _execute(db, TAKE, values)).all()}
    return {row.id: MinorAmount(row.currency, taken[row.id]).decimal for row in rows if row.id in taken}


async def _execute(db: AsyncSession, statement: TextClause, values: Mapping[str, Any]) -> CursorResult[Any]:
    await db.flush()
    return await (await db.connection()).execute(statement, values)


# ---- requests that are not validated yet


async def refresh(db: AsyncSession, payout: PayoutRequestRow) -> None:
    """Have a locked open request contain what was taken back meanwhile. It is cancelled if nothing is left to pay out."""
    await lock_items(db, [payout.partner_id])
    await _take(db, [payout], dt.date.min)
    amount = (await _execute(db, SUM, {"id": payout.id})).scalar_one()
    payout.payout_amount = MinorAmount(payout.currency, amount).decimal
    if amount <= 0:
        await cancel(db, payout)


async def lowered_payouts(db: AsyncSession) -> Sequence[int]:
    """The ids of open requests of partners of which something was taken back meanwhile."""
    return (await _execute(db, LOWERED, {})).scalars().all()


async def cancel(db: AsyncSession, payout: PayoutRequestRow) -> None:
    """Cancel a locked request: its items go into the next one. Raises InvalidTransition."""
    payout.status = PAYOUT_STATES.require(payout.status, CANCELLED)
    await free_items(db, payout)
    await emit_payout_events(db, EventType.PAYOUT_REQUEST_CANCELLED, [payout])


async def free_items(db: AsyncSession, payout: PayoutRequestRow) -> None:
    """The items of a locked request go into the next one."""
    await lock_items(db, [payout.partner_id])
    await _execute(db, FREE, {"id": payout.id})


async def lock_payouts_with(db: AsyncSession, journal_ids: Sequence[int]) -> Sequence[PayoutRequestRow]:
    """Lock the requests that contain items of these journals. Not of those that were cancelled or have failed."""
    ids = (await _execute(db, OF_JOURNALS, {"journals": list(journal_ids)})).scalars().all()
    return await lock_payouts(db, ids)


async def drop_moved_items(db: AsyncSession, payouts: Sequence[PayoutRequestRow], journal_ids: Sequence[int]) -> None:
    """Items of these journals leave locked open requests if they are payable after the period."""
    await _execute(db, LEAVE, {"journals": list(journal_ids), "ids": [payout.id for payout in payouts]})
    for payout in payouts:
        await refresh(db, payout)
