"""Issues invoices and credit notes: what a partner was charged until the end of a month, and what goes back of an invoice."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.invoice.invoice import InvoiceKind, InvoiceLineKind, VatCategory
from store.core.clock import now
from store.invoice.amounts import FeeSum, InvoicedLine, price_lines, share_of, unit_of
from store.invoice.fees import FeesOfPartner, FeeSums, PostedFee
from store.invoice.invoices import InvoicedFeeRow, InvoiceLineRow, InvoiceRow, InvoiceSeriesRow, lock_lines, take_number
from store.invoice.parties import category_of, customer_columns, issuer_columns, missing_for
from store.invoice.postings import credit_note_journal, rounding_journal
from store.invoice.returns import fees_of_lines, retake
from store.ledger.posting import post
from store.ledger.rows import LedgerBookRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.money import MinorAmount

UNTAXED_REASONS = (VatCategory.EXEMPT, VatCategory.OUTSIDE)


@dataclass(frozen=True, slots=True)
class InvoicedPeriod:
    """A partner whose fees are invoiced, in one book, until the last day of a month. The series is locked."""

    series: InvoiceSeriesRow
    marketplace: MarketplaceRow
    partner: PartnerRow
    book: LedgerBookRow
    last_day: dt.date
    invoicing_date: dt.date

    def __post_init__(self) -> None:
        if not self.book.is_live:
            raise ValueError("What was paid to test partners is never invoiced.")


class IncompleteInvoice(Exception):
    """What is printed on an invoice is incomplete. `missing` are the names of fields."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(", ".join(missing))
        self.missing = missing


def missing_of(marketplace: MarketplaceRow, partner: PartnerRow, fees: Sequence[PostedFee | FeeSums]) -> list[str]:
    """What is missing before these fees can be invoiced, as the names of fields."""
    return list(missing_for(marketplace, partner, {category_of(marketplace, fee) for fee in fees}))


async def issue(db: AsyncSession, period: InvoicedPeriod) -> list[InvoiceRow]:
    """Issue an invoice about what a partner was charged and is on no invoice yet, and a credit note about what went back.

    Raises IncompleteInvoice.
    """
    since = period.marketplace.invoicer_starts_on
    of = FeesOfPartner(period.partner.id, period.book.id, period.last_day, first_day=since, is_open=True)
    fees = await of.read(db)
    if await _retake(db, period, fees):
        fees = await of.read(db)
    if fees and (missing := missing_of(period.marketplace, period.partner, fees)):
        raise IncompleteInvoice(missing)
    charged, returned = [fee for fee in fees if fee.amount > 0], [fee for fee in fees if fee.amount < 0]
    return [
        await _issue(db, period, kind, own)
        for kind, own in ((InvoiceKind.INVOICE, charged), (InvoiceKind.CREDIT_NOTE, returned))
        if own
    ]


async def _retake(db: AsyncSession, period: InvoicedPeriod, fees: Sequence[PostedFee]) -> bool:
    """Take again what refunds gave back though a credit note had done so before; returns whether there is any."""
    lines = await lock_lines(db, {fee.charged_on_id for fee in fees if fee.charged_on_id is not None})
    credited = {line.id: _minor(line, line.credited_amount) for line in lines}
    return await retake(db, period.book.id, period.partner.id, fees, credited)


async def _issue(db: AsyncSession, period: InvoicedPeriod, kind: InvoiceKind, fees: Sequence[PostedFee]) -> InvoiceRow:
    groups: defaultdict[tuple[InvoiceLineKind, VatCategory, Decimal], list[PostedFee]] = defaultdict(list)
    for fee in fees:
        groups[fee.kind, category_of(period.marketplace, fee), fee.vat_rate].append(fee)
    sums = [FeeSum(*key, len(own), sum(fee.amount for fee in own)) for key, own in groups.items()]
    lines = price_lines(sums, unit_of(period.book.currency))
    _check_rates(lines, fees, unit_of(period.book.currency))
    first_day = min(period.last_day.replace(day=1), fees[0].effective_on)
    number, printed = take_number(period.series, period.marketplace.invoicer_number_prefix)
    is_exempt = any(line.category in UNTAXED_REASONS for line in lines)
    invoice = InvoiceRow(
        kind=kind,
        sequence_number=number,
        number=printed,
        marketplace_id=period.marketplace.id,
        partner_id=period.partner.id,
        book_id=period.book.id,
        currency=period.book.currency,
        invoicing_date=period.invoicing_date,
        first_day=first_day,
        last_day=period.last_day,
        created_on=now(),
        language=period.partner.language,
        **issuer_columns(period.marketplace),
        **customer_columns(period.partner),
        issuer_exemption_reason=period.marketplace.invoicer_exemption_reason if is_exempt else "",
        **_sums(lines, period.book.currency),
    )
    rows = await _write(db, invoice, lines)
    for row in rows:
        db.add_all(
            InvoicedFeeRow(journal_id=fee.journal_id, invoice_line_id=row.id, amount=fee.amount, vat=fee.vat)
            for fee in groups[row.kind, row.vat_category, row.vat_rate]
        )
    await post(db, [rounding_journal(invoice, sum(fee.vat for fee in fees))])
    return invoice


def _check_rates(lines: Sequence[InvoicedLine], fees: Sequence[PostedFee], unit: int) -> None:
    """Raise IncompleteInvoice if the VAT differs by more from what was posted than fees are rounded: a rate is not theirs."""
    if abs(sum(line.vat for line in lines) - sum(fee.vat for fee in fees)) > (len(fees) + len(lines)) * unit:
        raise IncompleteInvoice(["fees whose VAT is that of their rate"])


def _sums(lines: Sequence[InvoicedLine], currency: str) -> Mapping[str, Any]:
    net, vat = sum(line.net for line in lines), sum(line.vat for line in lines)
    amounts = {"net_amount": net, "vat_amount": vat, "total_amount": net + vat}
    return {name: MinorAmount(currency, amount).decimal for name, amount in amounts.items()}


async def _write(db: AsyncSession, invoice: InvoiceRow, lines: Sequence[InvoicedLine]) -> list[InvoiceLineRow]:
    db.add(invoice)
    await db.flush()
    rows = [
        InvoiceLineRow(
            invoice_id=invoice.id,
            position=position,
            kind=line.kind,
            count=line.count,
            vat_category=line.category,
            vat_rate=line.vat_rate,
            currency=invoice.currency,
            **_sums([line], invoice.currency),
        )
        for position, line in enumerate(lines, start=1)
    ]
    db.add_all(rows)
    await db.flush()
    return rows


# ---- corrections


@dataclass(frozen=True, slots=True)
class Correction:
    """What a credit note gives back of lines of a locked invoice, by their position, VAT included."""

    invoice: InvoiceRow
    lines: Sequence[tuple[InvoiceLineRow, Decimal]]
    reason: str
    invoicing_date: dt.date


async def left_of(db: AsyncSession, lines: Sequence[InvoiceLineRow]) -> Mapping[int, Decimal]:
    """What of the lines of an invoice neither credit notes nor refunds gave back, by position."""
    fees = await fees_of_lines(db, [line.id for line in lines])
    return {
        line.position: MinorAmount(line.currency, fees[line.id].charged - fees[line.id].sum_back()).decimal
        - line.credited_amount
        for line in lines
    }


async def correct(
    db: AsyncSession, series: InvoiceSeriesRow, marketplace: MarketplaceRow, correction: Correction
) -> InvoiceRow:
    """Issue a credit note that corrects an invoice, and give back what is on it. The series and the lines are locked."""
    invoice = correction.invoice
    lines = [_credited(line, amount) for line, amount in correction.lines]
    number, printed = take_number(series, marketplace.invoicer_number_prefix)
    copied = (name for name in InvoiceRow.model_fields if name.startswith(("issuer_", "customer_")))
    note = InvoiceRow(
        kind=InvoiceKind.CREDIT_NOTE,
        sequence_number=number,
        number=printed,
        corrects_id=invoice.id,
        reason=correction.reason,
        invoicing_date=correction.invoicing_date,
        created_on=now(),
        **{name: getattr(invoice, name) for name in (*copied, *COPIED)},
        **_sums(lines, invoice.currency),
    )
    await _write(db, note, lines)
    management = await _management_fees(db, correction)
    for line, amount in correction.lines:
        line.credited_amount += amount
    await post(db, [await credit_note_journal(db, note, management)])
    return note


async def _management_fees(db: AsyncSession, correction: Correction) -> int:
    """What a correction gives back of management fees, without VAT, in minor units: their part in the lines."""
    fees, sum_of_all = await fees_of_lines(db, [line.id for line, _ in correction.lines]), 0
    for line, amount in correction.lines:
        before, after = (_minor(line, each) for each in (line.credited_amount, line.credited_amount + amount))
        whole, total = fees[line.id].management, _minor(line, line.total_amount)
        sum_of_all += share_of(whole, after, total) - share_of(whole, before, total)
    return sum_of_all


def _minor(line: InvoiceLineRow, value: Decimal) -> int:
    return MinorAmount.of(value, line.currency).minor


COPIED = ("marketplace_id", "partner_id", "book_id", "currency", "first_day", "last_day", "language")
"""What a credit note has of the invoice that it corrects, besides the parties."""


def _credited(line: InvoiceLineRow, amount: Decimal) -> InvoicedLine:
    """A line that gives back a part of another. Its net amount is what of the line's belongs to all that was given back,
    less what was: nothing is left of net or VAT once all is given back.
    """

    def net_until(credited: Decimal) -> int:
        whole, total = (_minor(line, each) for each in (line.net_amount, line.total_amount))
        return share_of(whole, _minor(line, credited), total, unit_of(line.currency))

    net = net_until(line.credited_amount + amount) - net_until(line.credited_amount)
    return InvoicedLine(line.kind, line.vat_category, line.vat_rate, line.count, -net, net - _minor(line, amount))
