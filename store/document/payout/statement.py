"""The content of a payout statement, ready for typesetting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from store.document.printable import printable, printable_exact
from store.document.sheet import SheetBrand

LINES_FILE = "lines.csv"


@dataclass(frozen=True, slots=True)
class StatementLabels:
    summary: str
    payer: str
    payee: str
    amount: str
    date: str
    reference: str
    details: str
    gross: str
    fees: str
    net: str
    total: str
    note: str


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line: its amounts as they are printed."""

    date: str
    reference: str
    details: str
    gross: str
    fees: str
    net: str

    def data(self) -> tuple[str, ...]:
        return self.date, printable_exact(self.reference), printable(self.details), self.gross, self.fees, self.net


@dataclass(frozen=True, slots=True)
class PrintedSection:
    """The lines of a section, with their sums."""

    title: str
    lines: Sequence[PrintedLine]
    gross: str
    fees: str
    net: str
    note: str
    """How many lines are printed, if that is not all; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutStatement:
    """A payout statement as its template reads it."""

    template: ClassVar[str] = "payout/statement.typ"
    pdf_standards: ClassVar[tuple[str, ...]] = ("a-3a", "ua-1")
    language: str
    title: str
    look: SheetBrand
    words: StatementLabels
    overline: str
    amount: str
    state: str
    facts: Sequence[tuple[str, str]]
    payer: str
    payee: Sequence[str]
    sections: Sequence[PrintedSection]
    contact: Sequence[str]
    attached: str
    """All lines as CSV, if not all are printed; else empty."""

    @property
    def scanned(self) -> str:
        """A statement has no QR code."""
        return ""

    def data(self) -> dict[str, object]:
        """The data of the template."""
        return {
            "language": self.language,
            "title": printable_exact(self.title) or self.overline,
            "look": self.look,
            "words": self.words,
            "overline": self.overline,
            "amount": self.amount,
            "state": self.state,
            "facts": [(name, printable_exact(value)) for name, value in self.facts],
            "payer": printable(self.payer),
            "payee": [printable(line) for line in self.payee if line],
            "sections": [
                {
                    "title": each.title,
                    "lines": [line.data() for line in each.lines],
                    "sums": (each.gross, each.fees, each.net),
                    "note": each.note,
                }
                for each in self.sections
            ],
            "contact": [printable_exact(entry) for entry in self.contact],
            "attached": self.attached,
            "attached_name": LINES_FILE,
        }
