"""The lines of a payout request as its documents list them: what was sold, what was kept of it, what is paid out."""

import datetime as dt
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournalKind as Kind
from store.payout.contents import ITEMS
from store.payout.requests import PayoutRequestRow
from store.providers.money import MinorAmount

_LINES = f"""
    SELECT j.kind, j.source_kind, j.source_id, i.payable_on, j.recorded_on, i.own_amount + i.network_amount AS net,
        coalesce(p.commission_amount, t.commission_amount, g.value_amount - g.net_amount, v.value_amount - v.net_amount, 0) AS fees,
        coalesce(p.id, t.payment_id, g.payment_id)::text AS payment_id,
        coalesce(p.customer_first_name || ' ' || p.customer_last_name, q.customer_first_name || ' ' || q.customer_last_name, '')
            AS customer,
        coalesce(nullif(p.product, ''), nullif(q.product, ''), nullif(g.reservation_id, ''), nullif(v.reservation_id, ''),
            a.reason, '')
            AS details,
        coalesce(right(c.code, 4), right(w.code, 4), '') AS code_end
    FROM {ITEMS} i JOIN ledger_journal j ON j.id = i.journal_id
    LEFT JOIN payment p ON p.id = CASE WHEN j.kind = 'payment' AND j.source_kind = 'payment' THEN j.source_id::uuid END
    LEFT JOIN payment_transaction t ON t.id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END
    LEFT JOIN payment q ON q.id = t.payment_id
    LEFT JOIN network_gift_card_usage g ON g.id = CASE j.source_kind WHEN 'network_gift_card_usage' THEN j.source_id::int END
    LEFT JOIN gift_card c ON c.id = g.gift_card_id
    LEFT JOIN network_voucher_usage v ON v.id = CASE j.source_kind WHEN 'network_voucher_usage' THEN j.source_id::int END
    LEFT JOIN network_voucher w ON w.id = v.network_voucher_id
    LEFT JOIN payout_adjustment a ON a.id = CASE j.source_kind WHEN 'payout_adjustment' THEN j.source_id::int END
    ORDER BY i.payable_on, j.recorded_on, j.id
"""  # noqa: S608 - of SQL in this file
LINES = text(_LINES)
COUNT = text(f"SELECT count(*) FROM {ITEMS} i")  # noqa: S608 - of SQL in this file
FINGERPRINT = text(f"SELECT sum(hashtextextended(line::text, 0))::text FROM ({_LINES}) line")  # noqa: S608 - of SQL in this file
MOST_LINES_AT_ONCE = 2_000
"""Documents of more lines are not made while somebody waits for an answer."""


class PayoutSection(StrEnum):
    """What a line is about."""

    PAYMENTS = "payments"
    USAGES = "usages"
    REFUNDS = "refunds"
    OTHER = "other"


SECTIONS = {
    Kind.PAYMENT: PayoutSection.PAYMENTS,
    Kind.CAPTURE: PayoutSection.USAGES,
    **dict.fromkeys((Kind.REFUND, Kind.REFUND_FAILED, Kind.REVERSAL), PayoutSection.REFUNDS),
}
"""All other kinds are OTHER."""


@dataclass(frozen=True, slots=True)
class DocumentLine:
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


async def count_lines(db: AsyncSession, payout_id: int) -> int:
    """How many lines a payout request has."""
    return int((await (await db.connection()).execute(COUNT, {"ids": [payout_id]})).scalar_one())


async def fingerprint_of_lines(db: AsyncSession, payout: PayoutRequestRow) -> str:
    """Identifies all that the lines of a payout request show: when one changes, so does this."""
    return str((await (await db.connection()).execute(FINGERPRINT, {"ids": [payout.id]})).scalar_one())


async def statement_lines(db: AsyncSession, payout: PayoutRequestRow) -> AsyncGenerator[DocumentLine, None]:
    """The lines of a payout request, oldest first."""
    rows = await (await db.connection()).stream(LINES, {"ids": [payout.id]})
    async for row in rows:
        yield _line(row, payout.currency)


def _line(row: Any, currency: str) -> DocumentLine:
    kind = Kind(row.kind)
    section = SECTIONS.get(kind, PayoutSection.OTHER)
    net = MinorAmount(currency, row.net).decimal
    fees = Decimal(0) if section is PayoutSection.OTHER else row.fees.copy_sign(net)
    return DocumentLine(
        section,
        kind,
        row.payable_on,
        row.recorded_on,
        row.payment_id or row.source_id,
        row.customer.strip(),
        row.details,
        row.code_end,
        net + fees,
        fees,
        net,
    )
