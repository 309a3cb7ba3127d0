"""What went back of the fees on invoices: with refunds and cancelled usages, and never what a credit note gave back already."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.invoice.amounts import share_of
from store.invoice.fees import FEE, PostedFee
from store.invoice.postings import RetakenFee, retaken_journal
from store.ledger.fees import RETAKEN
from store.ledger.posting import post

CHARGES = """(
    SELECT f.invoice_line_id AS line_id, f.amount AS charged, o.* FROM invoiced_fee f JOIN ledger_journal o ON o.id = f.journal_id
    WHERE {which} AND o.kind IN ('payment', 'capture')
)"""
BACK = f"""
    SELECT c.line_id, j.id AS journal_id, j.kind, j.source_id, j.effective_on, i.journal_id IS NOT NULL AS is_invoiced,
        p.amount, p.vat, p.management, coalesce(k.amount, 0) AS retaken
    FROM {CHARGES} c CROSS JOIN LATERAL (
        SELECT 'refund' AS source_kind, concat(t.refund_id, ':', t.id) AS source_id, ARRAY['refund', 'refund_failed'] AS kinds
        FROM payment_transaction t
        WHERE t.payment_id = CASE c.kind WHEN 'payment' THEN c.source_id::uuid END AND t.type = 'refund'
        UNION ALL
        SELECT c.source_kind, c.source_id, ARRAY['reversal'] WHERE c.kind = 'capture'
        UNION ALL
        SELECT 'refund', concat(t.refund_id, ':', t.id), ARRAY['reversal'] FROM network_gift_card_usage u
        JOIN payment_source s ON (s.payment_id, s.gift_card_id) = (u.payment_id, u.gift_card_id)
        JOIN payment_transaction t ON t.source_id = s.id AND t.payment_id = u.payment_id AND t.type = 'refund'
        WHERE u.id = CASE c.source_kind WHEN 'network_gift_card_usage' THEN c.source_id::int END
    ) r JOIN ledger_journal j ON (j.book_id, j.source_kind, j.source_id) = (c.book_id, r.source_kind, r.source_id)
        AND j.kind = ANY(r.kinds)
    CROSS JOIN LATERAL {FEE.format(journal="j.id")} p LEFT JOIN invoiced_fee i ON i.journal_id = j.id
    LEFT JOIN ledger_journal o ON {RETAKEN.format(retaken="o", journal="j")}
    LEFT JOIN LATERAL {FEE.format(journal="o.id")} k ON true
    WHERE p.amount <> 0
"""  # noqa: S608 - of SQL in this package
"""SQL: the journals that gave back fees on lines of invoices, and those of refunds that failed, which take them again."""
OF_LINES = "f.invoice_line_id = ANY(CAST(:ids AS int[]))"
RETURNS = text(f"SELECT * FROM ({BACK.format(which=OF_LINES)}) b ORDER BY effective_on, journal_id")  # noqa: S608
CHARGED = text(f"""
    SELECT c.line_id, sum(c.charged)::bigint AS charged, sum(p.management)::bigint AS management
    FROM {CHARGES.format(which=OF_LINES)} c CROSS JOIN LATERAL {FEE.format(journal="c.id")} p GROUP BY 1
""")  # noqa: S608


@dataclass(frozen=True, slots=True)
class ReturnedFee:
    """A journal about a fee that went back, or that is taken again because its refund failed. In minor units, negative for
    what went back.
    """

    journal_id: int
    kind: str
    source_id: str
    is_invoiced: bool
    amount: int
    vat: int
    management: int
    """Of it, management fees without VAT."""
    retaken: int
    """What was taken again of it, because a credit note had given it back already."""


@dataclass(frozen=True, slots=True)
class LineFees:
    """The fees on a line of an invoice, in minor units, and what went back of them."""

    charged: int = 0
    """By payments and usages. What a failed refund charges again belongs to the line of its payment."""
    management: int = 0
    """Of it, management fees without VAT."""
    returns: list[ReturnedFee] = field(default_factory=list)

    def sum_back(self, *, is_invoiced: bool = False) -> int:
        """What refunds and cancelled usages gave back; with `is_invoiced`, what of it is on credit notes."""
        return -sum(each.amount + each.retaken for each in self.returns if each.is_invoiced or not is_invoiced)


async def fees_of_lines(db: AsyncSession, ids: Sequence[int]) -> Mapping[int, LineFees]:
    """The fees on lines of invoices, by the line's id."""
    connection, values = await db.connection(), {"ids": list(ids)}
    found: defaultdict[int, LineFees] = defaultdict(LineFees)
    for row in (await connection.execute(CHARGED, values)).all():
        found[row.line_id] = LineFees(row.charged, row.management)
    for row in (await connection.execute(RETURNS, values)).all():
        names = ("journal_id", "kind", "source_id", "is_invoiced", "amount", "vat", "management", "retaken")
        found[row.line_id].returns.append(ReturnedFee(*(getattr(row, name) for name in names)))
    return found


async def retake(
    db: AsyncSession, book_id: int, partner_id: int, open_fees: Sequence[PostedFee], credited: Mapping[int, int]
) -> bool:
    """Take again what refunds gave back of fees that credit notes had given back before, and give it back if such a refund
    failed. `credited` is what credit notes gave back by the line's id, of the locked lines; returns whether there is any.
    """
    open_ids, taken = {fee.journal_id for fee in open_fees}, list[RetakenFee]()
    for line_id, fees in (await fees_of_lines(db, list(credited))).items():
        returned = fees.sum_back(is_invoiced=True)
        retaken = {each.source_id: each.retaken for each in fees.returns if each.kind != "refund_failed"}
        for each in fees.returns:
            if each.journal_id not in open_ids or each.retaken:
                continue
            if each.kind == "refund_failed":
                amount = -retaken[each.source_id]
            else:
                left = max(fees.charged - credited[line_id] - returned, 0)
                amount = retaken[each.source_id] = max(-each.amount - left, 0)
            returned -= each.amount + amount
            if amount:
                vat, management = (share_of(part, amount, -each.amount) for part in (-each.vat, -each.management))
                taken.append(RetakenFee(each.journal_id, amount, vat, management))
    for fee in taken:
        await post(db, [await retaken_journal(db, book_id, partner_id, fee)])
    return bool(taken)
