"""Reads what an invoice shows from the database."""

import csv
import datetime as dt
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.invoice.invoice import InvoiceKind, InvoiceLineKind, VatCategory
from schema.ledger import LedgerJournalKind
from store.core.localization.formats import Formats
from store.document.invoice import words
from store.document.invoice.sheet import InvoiceLabels, InvoiceSheet, PrintedFee, PrintedInvoiceLine
from store.document.invoice.words import InvoiceWords
from store.document.invoice.xml import FEES_FILE
from store.document.sheet import SheetBrand
from store.invoice.invoices import InvoiceLineRow, InvoiceRow, lines_by_rate, lines_of
from store.ledger.fees import ORIGIN
from store.partner.brand import brand_of_marketplace
from store.partner.partners import MarketplaceRow
from store.providers.money import MinorAmount

FEES = text("""
    SELECT f.amount, f.vat, l.kind, j.kind AS event, j.effective_on, coalesce(t.payment_id::text, j.source_id) AS reference
    FROM invoice_line l JOIN invoiced_fee f ON f.invoice_line_id = l.id JOIN ledger_journal j ON j.id = f.journal_id
    LEFT JOIN payment_transaction t ON t.id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END
    WHERE l.invoice_id = :id ORDER BY j.effective_on, j.id
""")
PRECEDING = text(f"""
    SELECT DISTINCT v.number, v.invoicing_date FROM invoice_line l
    JOIN invoiced_fee f ON f.invoice_line_id = l.id JOIN ledger_journal j ON j.id = f.journal_id {ORIGIN}
    JOIN invoice_line m ON m.id = x.invoice_line_id JOIN invoice v ON v.id = m.invoice_id
    WHERE l.invoice_id = :id ORDER BY 2, 1
""")  # noqa: S608 - of SQL in this program
"""The invoices with the payments and usages whose fees went back."""
MOST_PRINTED = 500
"""Fees in the printed list: each takes 2 KB in a tagged PDF. The attached list has all of them."""
CSV_HEADER = ("date", "kind", "reference", "amount", "vat", "currency")
SHORT = 8
"""Characters of a payment's id that are printed."""


@dataclass(frozen=True, slots=True)
class ContainedFee:
    """A fee on an invoice, in minor units, and what it is of."""

    kind: InvoiceLineKind
    event: LedgerJournalKind
    effective_on: dt.date
    reference: str
    amount: int
    vat: int


@dataclass(frozen=True)
class InvoiceDocument:
    """An invoice with all that its document shows, in its language."""

    invoice: InvoiceRow
    marketplace: MarketplaceRow
    lines: Sequence[InvoiceLineRow]
    fees: Sequence[ContainedFee]
    preceding: Sequence[tuple[str, dt.date]]
    """The numbers and dates of the invoices that a credit note is about."""

    @property
    def words(self) -> InvoiceWords:
        return InvoiceWords(self.invoice.language)

    @property
    def formats(self) -> Formats:
        return Formats(self.invoice.language)

    def money(self, amount: Decimal) -> str:
        """An amount as it is printed: positive, also on credit notes."""
        return self.formats.money(abs(amount), self.invoice.currency)

    @property
    def kind(self) -> str:
        return self.words.say(words.KINDS[self.invoice.kind])

    def name(self, line: InvoiceLineRow) -> str:
        return self.words.say(words.LINES[line.kind])

    def notes(self) -> Iterator[str]:
        """What the law wants said, and how it is paid."""
        say, invoice = self.words.say, self.invoice
        if any(line.vat_category is VatCategory.REVERSE_CHARGE for line in self.lines):
            yield say(words.REVERSE_CHARGE)
        if invoice.issuer_exemption_reason:
            yield invoice.issuer_exemption_reason
        if not self._is_listed:
            yield say(words.ATTACHED, name=FEES_FILE)
        if invoice.kind is InvoiceKind.INVOICE:
            yield say(words.PAID)
        else:
            yield say(words.GIVEN_BACK if invoice.corrects_id is None else words.PAID_OUT)

    @property
    def _is_listed(self) -> bool:
        return len(self.fees) <= MOST_PRINTED

    def fees_csv(self) -> bytes:
        """All fees as CSV, with the dates and numbers of programs; amounts are negative for what went back."""
        written = io.StringIO()
        rows = csv.writer(written)
        rows.writerow(CSV_HEADER)
        currency = self.invoice.currency
        for fee in self.fees:
            amounts = (MinorAmount(currency, each).decimal for each in (fee.amount, fee.vat))
            rows.writerow((fee.effective_on, fee.kind.value, fee.reference, *amounts, currency))
        return written.getvalue().encode()

    def sheet(self) -> InvoiceSheet:
        """The document as it is printed."""
        invoice = self.invoice
        look = SheetBrand.from_brand(brand_of_marketplace(self.marketplace))
        return InvoiceSheet(
            language=invoice.language,
            title=f"{self.kind} {invoice.number} – {invoice.issuer_company_name}",
            look=look,
            words=self._labels(),
            overline=self.kind,
            number=invoice.number,
            issuer=list(self._party("issuer")),
            customer=list(self._party("customer")),
            facts=list(self._facts()),
            reason=invoice.reason,
            lines=[self._line(line) for line in self.lines],
            sums=list(self._sums()),
            total=self.money(invoice.total_amount),
            notes=list(self.notes()),
            fees=[self._fee(fee) for fee in self.fees] if self._is_listed else [],
            imprint=[" · ".join(filter(None, (invoice.issuer_company_name, self.marketplace.email)))],
        )

    def _labels(self) -> InvoiceLabels:
        say = self.words.say
        return InvoiceLabels(
            issuer=say(words.ISSUER),
            customer=say(words.CUSTOMER),
            description=say(words.DESCRIPTION),
            rate=say(words.RATE),
            net=say(words.NET),
            vat=say(words.VAT),
            total=say(words.TOTAL),
            date=say(words.DATE),
            reference=say(words.REFERENCE),
            fee=say(words.FEE),
            fees=say(words.FEES),
        )

    def _party(self, role: str) -> Iterator[str]:
        def of(name: str) -> str:
            return str(getattr(self.invoice, f"{role}_{name}", ""))

        yield of("company_name")
        yield of("address_line_1")
        yield of("address_line_2")
        yield f"{of('postal_code')} {of('city')}".strip()
        yield self.formats.country(of("country_code"))
        if of("registration_number"):
            yield self.words.say(words.COMPANY_NUMBER, number=of("registration_number"))
        if of("vat_id"):
            yield self.words.say(words.VAT_NUMBER, number=of("vat_id"))

    def _facts(self) -> Iterator[tuple[str, str]]:
        say, invoice = self.words.say, self.invoice
        yield say(words.NUMBER), invoice.number
        yield say(words.INVOICING_DATE), self.formats.days(invoice.invoicing_date)
        yield say(words.PERIOD), self.formats.days(invoice.first_day, invoice.last_day)
        if self.preceding:
            label = words.ABOUT if invoice.corrects_id is None else words.CORRECTS
            yield say(label), ", ".join(number for number, _ in self.preceding)

    def _line(self, line: InvoiceLineRow) -> PrintedInvoiceLine:
        is_back = self.invoice.kind is InvoiceKind.CREDIT_NOTE
        return PrintedInvoiceLine(
            self.name(line),
            "" if self.invoice.corrects_id else self.words.count(line.kind, line.count, is_back=is_back),
            self.formats.percent(line.vat_rate),
            self.money(line.net_amount),
            self.money(line.vat_amount),
            self.money(line.total_amount),
        )

    def _sums(self) -> Iterator[tuple[str, str]]:
        yield self.words.say(words.NET_SUM), self.money(self.invoice.net_amount)
        for lines in lines_by_rate(self.lines):
            rate = self.formats.percent(lines[0].vat_rate)
            yield self.words.say(words.VAT_AT, rate=rate), self.money(sum((o.vat_amount for o in lines), Decimal(0)))

    def _event(self, fee: ContainedFee) -> str:
        if fee.event is LedgerJournalKind.REFUND_FAILED:
            return words.FEE_AGAIN
        return words.FEE_BACK if fee.amount < 0 else words.FEES_OF[fee.kind]

    def _fee(self, fee: ContainedFee) -> PrintedFee:
        def money(minor: int) -> str:
            return self.money(MinorAmount(self.invoice.currency, minor).decimal)

        return PrintedFee(
            self.formats.days(fee.effective_on),
            fee.reference[:SHORT],
            self.words.say(self._event(fee)),
            money(fee.vat),
            money(fee.amount),
        )


async def read_invoice_document(db: AsyncSession, invoice: InvoiceRow) -> InvoiceDocument:
    """What the document of an invoice shows."""
    rows = (await (await db.connection()).execute(FEES, {"id": invoice.id})).all()
    fees = [
        ContainedFee(
            InvoiceLineKind(row.kind),
            LedgerJournalKind(row.event),
            row.effective_on,
            row.reference,
            row.amount,
            row.vat,
        )
        for row in rows
    ]
    return InvoiceDocument(
        invoice,
        await db.get_one(MarketplaceRow, invoice.marketplace_id),
        await lines_of(db, [invoice.id]),
        fees,
        await _preceding(db, invoice),
    )


async def _preceding(db: AsyncSession, invoice: InvoiceRow) -> list[tuple[str, dt.date]]:
    if invoice.corrects_id is not None:
        corrected = await db.get_one(InvoiceRow, invoice.corrects_id)
        return [(corrected.number, corrected.invoicing_date)]
    if invoice.kind is InvoiceKind.INVOICE:
        return []
    return [tuple(row) for row in (await (await db.connection()).execute(PRECEDING, {"id": invoice.id})).all()]
