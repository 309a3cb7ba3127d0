"""The content of an invoice, ready for typesetting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from store.document.printable import printable, printable_exact
from store.document.sheet import SheetBrand


@dataclass(frozen=True, slots=True)
class InvoiceLabels:
    issuer: str
    customer: str
    description: str
    rate: str
    net: str
    vat: str
    total: str
    date: str
    reference: str
    fee: str
    fees: str


@dataclass(frozen=True, slots=True)
class PrintedInvoiceLine:
    """A line: its amounts as they are printed."""

    name: str
    count: str
    rate: str
    net: str
    vat: str
    total: str


@dataclass(frozen=True, slots=True)
class PrintedFee:
    """A fee in the list of fees."""

    day: str
    reference: str
    what: str
    vat: str
    amount: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceSheet:
    """An invoice as its template reads it."""

    template: ClassVar[str] = "invoice/invoice.typ"
    pdf_standards: ClassVar[tuple[str, ...]] = ("a-3a", "ua-1")
    language: str
    title: str
    look: SheetBrand
    words: InvoiceLabels
    overline: str
    number: str
    issuer: Sequence[str]
    customer: Sequence[str]
    facts: Sequence[tuple[str, str]]
    reason: str
    lines: Sequence[PrintedInvoiceLine]
    sums: Sequence[tuple[str, str]]
    total: str
    notes: Sequence[str]
    fees: Sequence[PrintedFee]
    imprint: Sequence[str]

    @property
    def scanned(self) -> str:
        """An invoice has no QR code."""
        return ""

    def data(self) -> dict[str, object]:
        """The data of the template."""
        return {
            "language": self.language,
            "title": printable_exact(self.title) or self.overline,
            "look": self.look,
            "words": self.words,
            "overline": self.overline,
            "number": printable_exact(self.number),
            "issuer": [printable(line) for line in self.issuer if line],
            "customer": [printable(line) for line in self.customer if line],
            "facts": [(name, printable_exact(value)) for name, value in self.facts],
            "reason": printable(self.reason),
            "lines": [(line.name, line.count, line.rate, line.net, line.vat, line.total) for line in self.lines],
            "sums": self.sums,
            "total": self.total,
            "notes": [printable(note) for note in self.notes],
            "fees": [(fee.day, printable_exact(fee.reference), fee.what, fee.vat, fee.amount) for fee in self.fees],
            "imprint": [printable_exact(entry) for entry in self.imprint if entry],
        }
