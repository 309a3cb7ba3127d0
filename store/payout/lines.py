"""The lines of payout requests: what was sold or given back, what was kept of it, what is paid out, and why in this request."""

import datetime as dt
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournalKind as Kind
from schema.payment.payout import PayoutLineReason, PayoutReference, PayoutSection
from store.database.keyset import KeysetOrder, Position
from store.ledger.payables import PayableItemRow
from store.payout.contents import ITEMS
from store.payout.gathering import DUE, DuePartner
from store.payout.requests import PayoutRequestRow
from store.providers.money import MinorAmount

SECTIONS = {
    Kind.PAYMENT: PayoutSection.PAYMENTS,
    Kind.CAPTURE: PayoutSection.USAGES,
    **dict.fromkeys((Kind.REFUND, Kind.REFUND_FAILED, Kind.REVERSAL), PayoutSection.REFUNDS),
}
"""All other kinds are OTHER."""
CHARGED = "('commission', 'management_fees', 'vat_on_commission', 'promotion')"
"""SQL: the accounts of fees. Those that the marketplace pays itself are its promotion, and sum to nothing."""
PART = """CASE WHEN j.kind IN ('payment', 'capture', 'refund', 'refund_failed', 'reversal') AND e.fees <> 0 AND e.whole <> 0
            THEN round({amount} * e.net / e.whole)::bigint ELSE 0 END"""
"""SQL: of an amount of a journal, the part that belongs to what it changed of the earnings; the rest of it is owed."""
LINES = f"""
    SELECT i.id AS item_id, j.kind, j.source_kind, j.source_id, i.payable_on, j.recorded_on,
        e.net, {PART.format(amount="e.fees")} AS fees, {PART.format(amount="e.vat")} AS vat,
        coalesce(p.id, t.payment_id, g.payment_id)::text AS payment_id,
        coalesce(p.customer_first_name || ' ' || p.customer_last_name, q.customer_first_name || ' ' || q.customer_last_name, '')
            AS customer,
        coalesce(nullif(p.product, ''), nullif(g.reservation_id, ''), nullif(q.product, ''), nullif(v.reservation_id, ''),
            a.reason, '')
            AS details,
        coalesce(right(c.code, 4), right(w.code, 4), '') AS code_end,
        (coalesce(p.freeze_payout_date, q.freeze_payout_date, g.freeze_payout_date, v.freeze_payout_date)
            AT TIME ZONE m.time_zone)::date AS chosen_on
    FROM {{items}} i JOIN ledger_journal j ON j.id = i.journal_id JOIN marketplace m ON m.id = j.marketplace_id
    CROSS JOIN LATERAL (
        SELECT i.own_amount + i.network_amount AS net, i.own_amount + i.network_amount - coalesce(sum(e.amount) FILTER (
                WHERE a.role IN ('owed_by_partner', 'partner_shortfall')), 0) AS whole,
            -coalesce(sum(e.amount) FILTER (WHERE a.role IN {CHARGED}), 0) AS fees,
            -coalesce(sum(e.amount) FILTER (WHERE a.role = 'vat_on_commission'), 0) AS vat
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE e.journal_id = j.id
    ) e
    LEFT JOIN payment p ON p.id = CASE WHEN j.kind = 'payment' AND j.source_kind = 'payment' THEN j.source_id::uuid END
    LEFT JOIN payment_transaction t ON t.id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END
    LEFT JOIN network_gift_card_usage g ON g.id = CASE j.source_kind WHEN 'network_gift_card_usage' THEN j.source_id::int END
    LEFT JOIN payment q ON q.id = coalesce(t.payment_id, g.payment_id)
    LEFT JOIN gift_card c ON c.id = g.gift_card_id
    LEFT JOIN network_voucher_usage v ON v.id = CASE j.source_kind WHEN 'network_voucher_usage' THEN j.source_id::int END
    LEFT JOIN network_voucher w ON w.id = v.network_voucher_id
    LEFT JOIN payout_adjustment a ON a.id = CASE j.source_kind WHEN 'payout_adjustment' THEN j.source_id::int END
"""  # noqa: S608 - of SQL in this file
"""SQL: the lines of payable items."""
OF_REQUEST = text(f"{LINES.format(items=ITEMS)} ORDER BY i.payable_on, i.id")
COUNT = text(f"SELECT count(*) FROM {ITEMS} i")  # noqa: S608 - of SQL in this package
FINGERPRINT = text(f"SELECT sum(hashtextextended(line::text, 0))::text FROM ({LINES.format(items=ITEMS)}) line")  # noqa: S608
MOST_LINES_AT_ONCE = 2_000
"""Documents of more lines are not made while somebody waits for an answer."""
ITEMS_OF_REQUEST = f"""
    SELECT i.*, r.first_day, r.last_day, r.currency FROM {ITEMS} i JOIN payout_request r ON r.id = i.request_id
"""  # noqa: S608 - of SQL in this package
ITEMS_DUE = f"""
    SELECT i.*, CAST(NULL AS int) AS request_id, CAST(:first_day AS date) AS first_day, CAST(:last_day AS date) AS last_day,
        b.currency
    FROM payable_item i JOIN ledger_book b ON b.id = i.book_id
    WHERE i.partner_id = :partner_id AND i.book_id = :book_id AND {DUE.format(last_day=":last_day")}
"""  # noqa: S608 - of SQL in this package
REFERENCE = (
    "json_build_object('id', o.id, 'status', o.status, 'created_on', o.created_on, 'validated_on', o.validated_on)"
)
PAGE = """
    WITH page AS MATERIALIZED (
        SELECT * FROM ({items}) i
        WHERE CAST(:after_id AS bigint) IS NULL OR (payable_on, id) > (CAST(:after_day AS date), CAST(:after_id AS bigint))
        ORDER BY payable_on, id LIMIT :most
    )
    SELECT l.*, i.journal_id, i.network_amount, i.first_day, i.last_day, i.currency, (
        SELECT coalesce(json_agg({reference} ORDER BY o.id), '[]')
        FROM former_payout_item f JOIN payout_request o ON o.id = f.payout_request_id
        WHERE f.payable_item_id = i.id AND (i.request_id IS NULL OR o.id < i.request_id)
    ) AS former, (
        SELECT {reference} FROM payout_request o WHERE o.id = i.payout_request_id AND o.id <> i.request_id
    ) AS moved_to
    FROM page i JOIN ({lines}) l ON l.item_id = i.id
    ORDER BY i.payable_on, i.id
"""
SUMS = """
    WITH own AS MATERIALIZED ({items})
    SELECT l.kind, i.currency, count(*) AS lines, sum(l.net)::bigint AS net, sum(l.fees)::bigint AS fees, sum(l.vat)::bigint AS vat
    FROM own i JOIN ({lines}) l ON l.item_id = i.id GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class PayoutStatementLine:
    """A line of a payout request. `gross` less `fees` is `net`; all are negative for what is taken back."""

    section: PayoutSection
    kind: Kind
    day: dt.date
    recorded_on: dt.datetime
    reference: str
    """The id of the payment, else of what caused the line."""
    customer: str
    details: str
    code_end: str
    """The last characters of the gift card or voucher; empty if none."""
    gross: Decimal
    fees: Decimal
    net: Decimal


@dataclass(frozen=True, slots=True)
class ExplainedLine(PayoutStatementLine):
    """A line with what it is made of, and why it is in its request and not in another."""

    item_id: int
    journal_id: int
    source_kind: str
    source_id: str
    payment_id: UUID | None
    currency: str
    vat: Decimal
    """The VAT in the fees."""
    network: Decimal
    """The part of `net` that was earned in the network."""
    reason: PayoutLineReason
    former: Sequence[PayoutReference]
    """The requests that it was in before, which were cancelled or have failed."""
    moved_to: PayoutReference | None
    """The request that it is in now, if this one was cancelled or has failed."""


@dataclass(frozen=True, slots=True)
class SectionSums:
    """The sums of the lines of a section."""

    section: PayoutSection
    lines: int
    gross: Decimal
    fees: Decimal
    vat: Decimal
    net: Decimal


ORDER = KeysetOrder(PayableItemRow, "payable_on")
"""The order of lines."""


@dataclass(frozen=True, slots=True)
class PayoutContents:
    """The payable items that a payout is the sum of, as SQL with its values."""

    items: str
    values: Mapping[str, Any]

    @classmethod
    def of_request(cls, id: int) -> "PayoutContents":
        """Those of a payout request; of one that was cancelled or has failed, those that it had."""
        return cls(ITEMS_OF_REQUEST, {"ids": [id]})

    @classmethod
    def due(cls, due: DuePartner) -> "PayoutContents":
        """Those that would be gathered for a partner."""
        return cls(ITEMS_DUE, asdict(due))

    async def lines(
        self, db: AsyncSession, *, after: Position | None = None, most: int | None = None
    ) -> Sequence[ExplainedLine]:
        """At most so many lines after a position, oldest first."""
        statement = PAGE.format(items=self.items, reference=REFERENCE, lines=LINES.format(items="page"))
        day, id = (after.value, after.id) if after else (None, None)
        values = {**self.values, "after_day": day, "after_id": id, "most": most}
        return [_explained(row) for row in await _rows(db, statement, values)]

    async def count(self, db: AsyncSession) -> int:
        """The number of lines."""
        (row,) = await _rows(db, f"SELECT count(*) AS lines FROM ({self.items}) i", self.values)  # noqa: S608 - SQL of ours
        return int(row.lines)

    async def sums(self, db: AsyncSession) -> Sequence[SectionSums]:
        """The sums of the sections that have lines."""
        statement = SUMS.format(items=self.items, lines=LINES.format(items="own"))
        found: dict[PayoutSection, SectionSums] = {}
        for row in await _rows(db, statement, self.values):
            section, zero = _section(Kind(row.kind)), MinorAmount(row.currency, 0).decimal
            net, fees, vat = (MinorAmount(row.currency, amount).decimal for amount in (row.net, row.fees, row.vat))
            before = found.get(section, SectionSums(section, 0, zero, zero, zero, zero))
            found[section] = SectionSums(
                section,
                before.lines + row.lines,
                before.gross + net + fees,
                before.fees + fees,
                before.vat + vat,
                before.net + net,
            )
        return [found[section] for section in PayoutSection if section in found]


async def count_lines(db: AsyncSession, payout_id: int) -> int:
    """How many lines a payout request has."""
    return int((await (await db.connection()).execute(COUNT, {"ids": [payout_id]})).scalar_one())


async def fingerprint_of_lines(db: AsyncSession, payout: PayoutRequestRow) -> str:
    """Identifies all that the lines of a payout request show: when one changes, so does this."""
    return str((await (await db.connection()).execute(FINGERPRINT, {"ids": [payout.id]})).scalar_one())


async def statement_lines(db: AsyncSession, payout: PayoutRequestRow) -> AsyncGenerator[PayoutStatementLine, None]:
    """The lines of a payout request, oldest first."""
    rows = await (await db.connection()).stream(OF_REQUEST, {"ids": [payout.id]})
    async for row in rows:
        yield PayoutStatementLine(**_columns(row, payout.currency))


async def _rows(db: AsyncSession, statement: str, values: Mapping[str, Any]) -> Sequence[Any]:
    return (await (await db.connection()).execute(text(statement), dict(values))).all()


def _section(kind: Kind) -> PayoutSection:
    return SECTIONS.get(kind, PayoutSection.OTHER)


def _columns(row: Any, currency: str) -> dict[str, Any]:
    kind = Kind(row.kind)
    net, fees = (MinorAmount(currency, amount).decimal for amount in (row.net, row.fees))
    return {
        "section": _section(kind),
        "kind": kind,
        "day": row.payable_on,
        "recorded_on": row.recorded_on,
        "reference": row.payment_id or row.source_id,
        "customer": row.customer.strip(),
        "details": row.details,
        "code_end": row.code_end,
        "gross": net + fees,
        "fees": fees,
        "net": net,
    }


def _explained(row: Any) -> ExplainedLine:
    vat, network = (MinorAmount(row.currency, amount).decimal for amount in (row.vat, row.network_amount))
    return ExplainedLine(
        **_columns(row, row.currency),
        item_id=row.item_id,
        journal_id=row.journal_id,
        source_kind=row.source_kind,
        source_id=row.source_id,
        payment_id=UUID(row.payment_id) if row.payment_id else None,
        currency=row.currency,
        vat=vat,
        network=network,
        reason=_reason(row),
        former=[PayoutReference.model_validate(each) for each in _json(row.former)],
        moved_to=PayoutReference.model_validate(_json(row.moved_to)) if row.moved_to else None,
    )


def _json(value: Any) -> Any:
    return orjson.loads(value) if isinstance(value, str | bytes) else value


def _reason(row: Any) -> PayoutLineReason:
    if row.payable_on > row.last_day:
        return PayoutLineReason.TAKEN_BACK
    if row.payable_on < row.first_day:
        return PayoutLineReason.CARRIED_OVER
    return PayoutLineReason.DATE_CHOSEN if row.chosen_on == row.payable_on else PayoutLineReason.IN_PERIOD
