"""The fees of partners, as the ledger has them: what its journals moved of commission, management fees and their VAT."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import TextClause, text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.invoice.invoice import InvoiceLineKind
from store.database.keyset import KeysetOrder, Position
from store.ledger.fees import ORIGIN, RETAKEN
from store.ledger.rows import LedgerJournalRow

FEE = """(
    SELECT -coalesce(sum(e.amount), 0)::bigint AS amount,
        -coalesce(sum(e.amount) FILTER (WHERE a.role = 'vat_on_commission'), 0)::bigint AS vat,
        -coalesce(sum(e.amount) FILTER (WHERE a.role = 'management_fees'), 0)::bigint AS management
    FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
    WHERE e.journal_id = {journal} AND a.role IN ('commission', 'management_fees', 'vat_on_commission', 'promotion')
)"""
"""SQL: the fee of one journal. It is summed by journal: joined to many at once, its rows are multiplied before PostgreSQL has
statistics, such as after an import.
"""
POSTED = f"""
    SELECT j.id, p.amount + coalesce(k.amount, 0) AS amount, p.vat + coalesce(k.vat, 0) AS vat
    FROM ledger_journal j CROSS JOIN LATERAL {FEE.format(journal="j.id")} p
    LEFT JOIN LATERAL (
        SELECT sum(f.amount)::bigint AS amount, sum(f.vat)::bigint AS vat FROM ledger_journal o CROSS JOIN LATERAL {FEE.format(journal="o.id")} f
        WHERE {RETAKEN.format(retaken="o", journal="j")}
    ) k ON true
    WHERE j.kind IN ('payment', 'refund', 'refund_failed', 'capture', 'reversal') AND {{which}}
        AND p.amount + coalesce(k.amount, 0) <> 0
"""  # noqa: S608 - of SQL in this file
"""SQL: the fees of journals. Those that the marketplace pays itself are its promotion, and sum to nothing."""
_FEES = f"""
    SELECT f.id AS journal_id, f.amount, f.vat, j.source_kind, j.source_id, j.effective_on, v.number AS invoice_number,
        x.invoice_line_id AS charged_on_id, CASE WHEN j.kind IN ('capture', 'reversal') THEN 'usages' ELSE 'payments' END AS kind,
        coalesce(p.commission_vat_rate, g.fees_vat_rate, u.fees_vat_rate, r.fees_vat_rate, q.commission_vat_rate, 0) AS vat_rate,
        coalesce(p.is_reverse_charge, g.is_reverse_charge, u.is_reverse_charge, r.is_reverse_charge, q.is_reverse_charge, false)
            AS is_reverse_charge
    FROM ({
    POSTED.format(
        which='''j.partner_id = :partner_id AND j.book_id = :book_id AND j.effective_on <= CAST(:last_day AS date)
            AND (CAST(:first_day AS date) IS NULL OR j.effective_on >= CAST(:first_day AS date))
            AND (CAST(:is_open AS bool) IS NOT TRUE OR NOT EXISTS (SELECT 1 FROM invoiced_fee i WHERE i.journal_id = j.id))
            AND (CAST(:after_id AS bigint) IS NULL
                OR (j.effective_on, j.id) > (CAST(:after_day AS date), CAST(:after_id AS bigint)))'''
    )
} ORDER BY j.effective_on, j.id LIMIT CAST(:most AS bigint)) f JOIN ledger_journal j ON j.id = f.id
    LEFT JOIN invoiced_fee i ON i.journal_id = j.id
    LEFT JOIN invoice_line l ON l.id = i.invoice_line_id LEFT JOIN invoice v ON v.id = l.invoice_id
    LEFT JOIN payment p ON p.id = CASE WHEN j.source_kind = 'payment' AND j.kind = 'payment' THEN j.source_id::uuid END
    LEFT JOIN network_gift_card_usage g ON g.id = CASE j.source_kind WHEN 'network_gift_card_usage' THEN j.source_id::int END
    LEFT JOIN network_voucher_usage u ON u.id = CASE j.source_kind WHEN 'network_voucher_usage' THEN j.source_id::int END
    {ORIGIN}
    LEFT JOIN payment q ON q.id = t.payment_id
"""  # noqa: S608 - of SQL in this file
FEES = text(f"{_FEES} ORDER BY j.effective_on, j.id")
SUMS = text(f"""
    SELECT vat_rate, is_reverse_charge, count(*) AS fees, sum(amount)::bigint AS amount, sum(vat)::bigint AS vat
    FROM ({_FEES}) f GROUP BY 1, 2 ORDER BY 1, 2
""")  # noqa: S608 - of SQL in this file
ORDER = KeysetOrder(LedgerJournalRow, "effective_on")
"""The order of fees."""
DEBTORS = text(f"""
    SELECT DISTINCT j.partner_id, j.book_id FROM ({
    POSTED.format(
        which='''j.partner_id IS NOT NULL AND j.marketplace_id = :marketplace_id AND j.effective_on <= CAST(:last_day AS date)
            AND (CAST(:first_day AS date) IS NULL OR j.effective_on >= CAST(:first_day AS date))
            AND NOT EXISTS (SELECT 1 FROM invoiced_fee i WHERE i.journal_id = j.id)'''
    )
}) f JOIN ledger_journal j ON j.id = f.id JOIN ledger_book b ON b.id = j.book_id AND b.is_live
    ORDER BY 1, 2
""")  # noqa: S608 - of SQL in this file


@dataclass(frozen=True, slots=True)
class PostedFee:
    """A fee, in minor units. `amount` has its VAT in it; both are negative for what went back."""

    journal_id: int
    kind: InvoiceLineKind
    source_kind: str
    source_id: str
    effective_on: dt.date
    amount: int
    vat: int
    vat_rate: Decimal
    is_reverse_charge: bool
    """Whether it has no VAT because the partner owes it, as was decided when it was taken."""
    invoice_number: str | None
    charged_on_id: int | None
    """Of what went back, the id of the line that had charged it; None if no invoice has."""


@dataclass(frozen=True, slots=True)
class FeeSums:
    """The sums of the fees to which VAT applies in one way, in minor units."""

    vat_rate: Decimal
    is_reverse_charge: bool
    fees: int
    amount: int
    vat: int


@dataclass(frozen=True, slots=True)
class FeesOfPartner:
    """The fees of a partner in a book until a day; with `is_open`, those that are on no invoice."""

    partner_id: int
    book_id: int
    last_day: dt.date
    first_day: dt.date | None = None
    is_open: bool = False

    async def read(
        self, db: AsyncSession, *, after: Position | None = None, most: int | None = None
    ) -> list[PostedFee]:
        """At most so many of them after a position, oldest first."""
        return [_fee(row) for row in await self._rows(db, FEES, after, most)]

    async def sums(self, db: AsyncSession) -> list[FeeSums]:
        """Their sums by the way in which VAT applies."""
        return [FeeSums(*row) for row in await self._rows(db, SUMS, None, None)]

    async def _rows(
        self, db: AsyncSession, statement: TextClause, after: Position | None, most: int | None
    ) -> Sequence[Any]:
        day, id = (after.value, after.id) if after else (None, None)
        values = {**asdict(self), "after_day": day, "after_id": id, "most": most}
        return (await (await db.connection()).execute(statement, values)).all()


def _fee(row: Any) -> PostedFee:
    return PostedFee(
        row.journal_id,
        InvoiceLineKind(row.kind),
        row.source_kind,
        row.source_id,
        row.effective_on,
        row.amount,
        row.vat,
        row.vat_rate,
        row.is_reverse_charge,
        row.invoice_number,
        row.charged_on_id,
    )


async def partners_to_invoice(
    db: AsyncSession, marketplace_id: int, first_day: dt.date | None, last_day: dt.date
) -> Sequence[tuple[int, int]]:
    """The partners with fees from and until a day that are on no invoice, each with the book. Not those of test partners."""
    values = {"marketplace_id": marketplace_id, "first_day": first_day, "last_day": last_day}
    return [(row.partner_id, row.book_id) for row in (await (await db.connection()).execute(DEBTORS, values)).all()]
